"""Run `check_pass` on wrong passes and their right twins: ``python -m tests.fuzz.check_pass``.

One row a pass: by how many seeds it was found, at the default settings, and after how many seconds.
The exit code is 1 if fewer than 99 % of the runs of wrong passes found them, or a twin was alarmed.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from tests.fuzz.check_pass.campaign import SETS, Row, run


def main() -> int:
    """Print a table."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.check_pass", description=__doc__)
    parser.add_argument("--set", choices=SETS, default="fresh", help="which passes")
    parser.add_argument("--side", choices=("wrong", "right", "both"), default="both")
    parser.add_argument("--seeds", type=int, default=10, help="runs of each pass")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--name", default="", help="passes with this text in their name")
    parser.add_argument("--verbose", action="store_true", help="print what was said first")
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.seeds)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for row in run(given.set, given.side, given.name, seeds, Path(folder)):
            rows.append(row)
            sys.stdout.write(row.text + "\n")
            if given.verbose or (row.is_right and row.alarms):
                sys.stdout.write(f"    {row.said}\n")
            sys.stdout.flush()
    wrong = [row for row in rows if not row.is_right]
    right = [row for row in rows if row.is_right]
    found, alarms = sum(row.alarms for row in wrong), sum(row.alarms for row in right)
    of = len(seeds)
    sys.stdout.write(f"found {found} of {of * len(wrong)}, alarms {alarms} of {of * len(right)}\n")
    return int(found < 0.99 * of * len(wrong) or alarms > 0)


if __name__ == "__main__":
    sys.exit(main())
