"""Judge the programs whose numbers come on standard input, one line of JSON for each."""

import faulthandler
import importlib
import json
import sys
import warnings

from tests.differential.__main__ import SECONDS


def main() -> None:
    """Answer until the input ends; a program that takes too long ends this process."""
    judge = importlib.import_module(f"tests.differential.{sys.argv[1]}").judge
    warnings.simplefilter("ignore")  # Of the peers; irkit raises errors.
    output = sys.stdout
    sys.stdout = sys.stderr
    for line in sys.stdin:
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        outcome = judge(int(line))
        faulthandler.cancel_dump_traceback_later()
        output.write(json.dumps(outcome._asdict()) + "\n")
        output.flush()


if __name__ == "__main__":
    main()
