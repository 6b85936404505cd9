"""Match a regular expression against lines, in a process that may be killed: nothing else can stop
Python's matcher.

It reads one JSON object (``pattern``, ``case``, ``lines``, ``memory``) from standard input and
writes the numbers of the lines that match, or what is wrong with the pattern.
"""

import json
import re
import sys


def main() -> None:
    """Answer one question."""
    asked = json.load(sys.stdin)
    _limit(asked["memory"])
    try:
        pattern = re.compile(asked["pattern"], 0 if asked["case"] else re.IGNORECASE)
    except (re.error, OverflowError, RecursionError, MemoryError) as error:
        json.dump({"error": str(error)}, sys.stdout)
        return
    found = [at for at, line in enumerate(asked["lines"]) if pattern.search(line)]
    json.dump({"found": found}, sys.stdout)


def _limit(memory: int) -> None:
    """Keep within so many bytes, where the system can hold a process to that."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


if __name__ == "__main__":
    main()
