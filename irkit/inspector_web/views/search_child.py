"""Match a regular expression against lines, in a process that can be killed: nothing else stops
Python's matcher.

It reads a JSON object (``pattern``, ``case``, ``lines``, ``memory``) from standard input, and
writes the indices of the lines that match, or what is wrong with the pattern.
"""

import json
import re
import sys


def main() -> None:
    """Answer one request."""
    request = json.load(sys.stdin)
    _limit(request["memory"])
    try:
        pattern = re.compile(request["pattern"], 0 if request["case"] else re.IGNORECASE)
    except (re.error, OverflowError, RecursionError, MemoryError) as error:
        json.dump({"error": str(error)}, sys.stdout)
        return
    found = [at for at, line in enumerate(request["lines"]) if pattern.search(line)]
    json.dump({"found": found}, sys.stdout)


def _limit(memory: int) -> None:
    """Limit the memory of this process, if the system can."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


if __name__ == "__main__":
    main()
