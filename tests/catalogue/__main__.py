"""Run the checks over the catalogue: ``python -m tests.catalogue --help``."""

import argparse
import sys

from tests.catalogue.run import SETS, Result, entries, run, table


def main() -> int:
    """Print a table by class; the exit code is 1 if an entry was judged wrongly."""
    parser = argparse.ArgumentParser(prog="python -m tests.catalogue", description=__doc__)
    parser.add_argument("--native", action="store_true", help="run native code as well")
    parser.add_argument("--set", choices=SETS, default="first", help="which set of entries")
    parser.add_argument("--only", default="", help="one class of entries")
    parser.add_argument("--name", default="", help="entries with this text in their name")
    parser.add_argument("--seed", type=int, default=0, help="seed of the inputs")
    parser.add_argument("--verbose", action="store_true", help="print a line for each entry")
    given = parser.parse_args()
    chosen = [
        entry for entry in entries(given.only, groups=SETS[given.set]) if given.name in entry.name
    ]
    results: list[Result] = []
    for result in run(chosen, seed=given.seed, native=given.native or None):
        results.append(result)
        if given.verbose:
            entry, said = result.entry, " ".join(result.said.split())
            side = "legal" if entry.legal else "bad"
            sys.stdout.write(
                f"{'ok ' if result.right else 'BAD'} {side:<5} {entry.group}: {entry.name} "
                f"[{result.answer}, {result.seconds:.2f} s] {said[:300]}\n"
            )
        elif sys.stderr.isatty():
            sys.stderr.write(f"\r{len(results)} of {len(chosen)} ")
        sys.stdout.flush()
    sys.stdout.write(table(results) + "\n")
    return 0 if all(result.right for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
