"""Hunt for the planted bugs and for changes at random, and tell as it goes."""

import random
import time
from collections.abc import Callable

from irkit.debug import console
from irkit.fuzz.mutation.mutants.families import FAMILIES
from irkit.fuzz.mutation.mutants.mutant import mutants_by_turns
from irkit.fuzz.mutation.runner.fuzz_runs import Change, FuzzedChange, fuzz_changes
from irkit.fuzz.mutation.runner.fuzz_score import fuzz_score, fuzz_table
from irkit.fuzz.mutation.seeded_bugs import CATALOGUE, FUZZED_ONLY
from irkit.fuzz.mutation.trials.messages import FuzzOrder

AT_RANDOM = 120
"""Changes made at random besides the catalogue: as many of each kind of work."""
MOST_SECONDS, LEAST_SECONDS = 900.0, 60.0
"""Time to draw cases for one change: less where there is a time for all."""


def changes_of(seed: int) -> list[Change]:
    """List all changes in an order drawn by ``seed``, so that a hunt that is cut off is a sample of
    them."""
    at_random = mutants_by_turns(seed, AT_RANDOM, list(FAMILIES.values()))
    games = [*CATALOGUE, *FUZZED_ONLY, *at_random]
    random.Random(seed).shuffle(games)
    return games


def fuzz_all_changes(
    hunt: FuzzOrder,
    *,
    report: Callable[[str], object],
    progress: Callable[[str], object],
    jobs: int = 1,
    seconds: float | None = None,
) -> int:
    """Hunt for all changes, print what came of each, and return an exit code: 1 if a planted bug
    was not found or the wrong pass was named, 2 if there was time for none.

    ``report`` prints a line of the result, ``progress`` one beside it.

    Units: ``seconds`` in which all is done; what there was no time for does not count.

    Nor does a change at random that is not found: it may be equivalent, and what is known of that
    is said.
    """
    started = time.monotonic()
    end = started + seconds if seconds is not None else float("inf")
    games, results = changes_of(hunt.seed), list[FuzzedChange]()
    share = (end - started) * jobs / len(games)
    each = min(MOST_SECONDS, max(LEAST_SECONDS, share))
    for result in fuzz_changes(games, hunt, jobs=jobs, seconds=each, end=end):
        if result.caught.cut and time.monotonic() >= end - 1:
            continue
        results.append(result)
        caught = result.caught
        found = f"found in case {caught.number + 1}" if caught.found else "not found"
        progress(f"{len(results)} of {len(games)}: {result.name}: {found}")
    if len(results) < len(games):
        progress("stopped: the time is over")
    if not results:
        progress("error: nothing was tested: the time was too short for one change")
        return 2
    console().print(fuzz_table(results))
    planted = [result for result in results if result.is_planted]
    report(f"planted: {fuzz_score(planted)}")
    rest = [result for result in results if not result.is_planted]
    if rest:
        report(f"at random: {fuzz_score(rest)}")
    report(f"{time.monotonic() - started:.1f} s")
    return 0 if all(result.caught.found and result.right for result in planted) else 1
