"""Scores of the checks: how many planted bugs and mutants they find."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import TypeVar

from rich.table import Table

from irkit.fuzz.bugs import Planted
from irkit.fuzz.mutants import Mutant, Verdict, try_mutants
from irkit.fuzz.nursery import Nursery
from irkit.fuzz.planted import Result, try_planted

RANDOM_PROGRAMS = 40
_A = TypeVar("_A")
_B = TypeVar("_B")


def planted_results(
    bugs: Sequence[Planted],
    *,
    jobs: int = 1,
    programs: int = RANDOM_PROGRAMS,
    bisected: bool = False,
) -> Iterator[Result]:
    """Plant bugs, ``jobs`` at a time; results come in the order of the bugs. ``programs`` random
    ones are tried after the fixed ones; ``bisected`` looks for the guilty rewrites."""
    made = [Nursery(0, programs) for _ in range(jobs)]

    def try_one(nursery: Nursery, bug: Planted) -> Result:
        return next(try_planted(nursery, [bug], bisected=bisected))

    return shared(bugs, try_one, made)


def mutant_verdicts(chosen: Sequence[Mutant], *, seed: int = 0, jobs: int = 1) -> Iterator[Verdict]:
    """Try mutants, ``jobs`` at a time; verdicts come in the order of the mutants."""
    made = [Nursery(seed, RANDOM_PROGRAMS) for _ in range(jobs)]
    return shared(chosen, lambda nursery, one: next(try_mutants(nursery, [one])), made)


def shared(
    items: Sequence[_A], try_one: Callable[[Nursery, _A], _B], nurseries: list[Nursery]
) -> Iterator[_B]:
    """Share work among nurseries; a thread each waits for its process."""
    free: SimpleQueue[Nursery] = SimpleQueue()
    for nursery in nurseries:
        free.put(nursery)

    def run(item: _A) -> _B:
        nursery = free.get()
        try:
            return try_one(nursery, item)
        finally:
            free.put(nursery)

    with ThreadPoolExecutor(len(nurseries)) as pool:
        try:
            yield from pool.map(run, items)
        finally:
            pool.shutdown(cancel_futures=True)
            for nursery in nurseries:
                nursery.close()


def planted_table(results: Sequence[Result]) -> Table:
    """Show each planted bug: found by what, which pass was named, how long it took, and the
    rewrites if they were asked for."""
    table = Table("bug", "module", "found by", "named", "right", "program", "ms")
    bisected = any(result.finding.bisected is not None for result in results)
    if bisected:
        table.add_column("guilty rewrite")
    for result in results:
        found = result.finding
        more = (str(found.bisected or ""),) if bisected else ()
        table.add_row(
            result.bug.name,
            result.bug.module.removeprefix("irkit."),
            found.by or "NOTHING",
            found.named,
            "yes" if result.right else "NO",
            found.case,
            f"{found.seconds * 1e3:.0f}",
            *more,
        )
    return table


def mutant_table(verdicts: Sequence[Verdict]) -> Table:
    """Show each mutant that was not found."""
    table = Table("mutant", "change", "status", "program")
    for verdict in verdicts:
        if verdict.status in ("missed", "other"):
            found, mutant = verdict.finding, verdict.mutant
            table.add_row(
                f"{mutant.module.removeprefix('irkit.')}:{mutant.line}",
                mutant.what,
                verdict.status,
                found.missed or ", ".join(found.differs[:3]),
            )
    return table


def planted_score(results: Sequence[Result]) -> str:
    """Say how many planted bugs were found, and how many with the right pass."""
    found = sum(result.finding.found for result in results)
    right = sum(result.right for result in results)
    return f"planted: {found} of {len(results)} found, {right} with the right pass named"


def mutant_score(verdicts: Sequence[Verdict]) -> str:
    """Say how many of the mutants that change meaning were found."""
    count = Counter(verdict.status for verdict in verdicts)
    wrong = count["found"] + count["missed"]
    share = 100 * count["found"] / wrong if wrong else 0.0
    return (
        f"mutants: {count['found']} of {wrong} that change meaning found ({share:.1f} %); "
        f"{count['other']} lower programs differently but mean the same, "
        f"{count['unseen']} change nothing that was seen"
    )
