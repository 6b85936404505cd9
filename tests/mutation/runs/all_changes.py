"""Fuzz all seeded bugs and mutants, and report each result as it comes."""

import random
import time
from collections.abc import Callable

from irkit.core import console
from tests.mutation.changes.catalogue import CATALOGUE, FUZZED_ONLY
from tests.mutation.changes.modules import FAMILIES
from tests.mutation.changes.mutant import mutants_by_turns
from tests.mutation.runs.fuzz_runs import Change, FuzzedChange, fuzz_changes
from tests.mutation.runs.fuzz_score import fuzz_score, fuzz_table
from tests.mutation.trials.messages import FuzzOrder

AT_RANDOM = 120
"""Mutants besides the catalogue, equally many of each family."""
MOST_SECONDS, LEAST_SECONDS = 900.0, 60.0
"""Time to draw cases for one change: less if the whole run is limited."""


def changes_of(seed: int) -> list[Change]:
    """List all changes in an order drawn by ``seed``, so that a run that is cut off has a random
    sample of them."""
    at_random = mutants_by_turns(seed, AT_RANDOM, list(FAMILIES.values()))
    changes = [*CATALOGUE, *FUZZED_ONLY, *at_random]
    random.Random(seed).shuffle(changes)
    return changes


def fuzz_all_changes(
    order: FuzzOrder,
    *,
    report: Callable[[str], object],
    progress: Callable[[str], object],
    jobs: int = 1,
    seconds: float | None = None,
) -> int:
    """Fuzz all changes, print each result, and return an exit code: 1 if a seeded bug was not found
    or the wrong pass was named, 2 if there was time for none.

    ``report`` prints a line of the result, ``progress`` one beside it.

    Units: ``seconds`` for the whole run; changes it had no time for do not count.

    Nor does a mutant that is not found: it may be equivalent, and what is known of that is printed.
    """
    started = time.monotonic()
    end = started + seconds if seconds is not None else float("inf")
    changes, results = changes_of(order.seed), list[FuzzedChange]()
    share = (end - started) * jobs / len(changes)
    each = min(MOST_SECONDS, max(LEAST_SECONDS, share))
    for result in fuzz_changes(changes, order, jobs=jobs, seconds=each, end=end):
        if result.result.cut and time.monotonic() >= end - 1:
            continue
        results.append(result)
        case = result.result
        found = f"found in case {case.number + 1}" if case.found else "not found"
        progress(f"{len(results)} of {len(changes)}: {result.name}: {found}")
    if len(results) < len(changes):
        progress("stopped: the time is over")
    if not results:
        progress("error: nothing was tested: the time was too short for one change")
        return 2
    console().print(fuzz_table(results))
    seeded = [result for result in results if result.is_seeded]
    report(f"seeded: {fuzz_score(seeded)}")
    rest = [result for result in results if not result.is_seeded]
    if rest:
        report(f"at random: {fuzz_score(rest)}")
    report(f"{time.monotonic() - started:.1f} s")
    return 0 if all(result.result.found and result.right for result in seeded) else 1
