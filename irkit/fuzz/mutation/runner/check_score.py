"""Score of the checks: seeded bugs and mutants that they find."""

from collections import Counter
from collections.abc import Iterator, Sequence

from rich.table import Table

from irkit.fuzz.mutation.fork_server import ForkServer
from irkit.fuzz.mutation.mutants.mutant import Mutant
from irkit.fuzz.mutation.runner.mutant_runs import MutantResult, try_mutants
from irkit.fuzz.mutation.runner.seeded_bug_runs import SeededBugResult, try_seeded_bugs
from irkit.fuzz.mutation.runner.server_pool import spread
from irkit.fuzz.mutation.seeded_bugs.seeded_bug import SeededBug

RANDOM_PROGRAMS = 40


def seeded_bug_results(
    bugs: Sequence[SeededBug],
    *,
    jobs: int = 1,
    programs: int = RANDOM_PROGRAMS,
    bisected: bool = False,
) -> Iterator[SeededBugResult]:
    """Try seeded bugs, ``jobs`` at a time; results come in the order of the bugs. ``programs``
    random ones are tried after the fixed ones; ``bisected`` looks for the guilty rewrites."""
    made = [ForkServer(0, programs) for _ in range(jobs)]

    def try_one(server: ForkServer, bug: SeededBug) -> SeededBugResult:
        return next(try_seeded_bugs(server, [bug], bisected=bisected))

    return spread(bugs, try_one, made)


def mutant_results(
    chosen: Sequence[Mutant], *, seed: int = 0, jobs: int = 1
) -> Iterator[MutantResult]:
    """Try mutants, ``jobs`` at a time; results come in the order of the mutants."""
    made = [ForkServer(seed, RANDOM_PROGRAMS) for _ in range(jobs)]
    return spread(chosen, lambda server, one: next(try_mutants(server, [one])), made)


def seeded_bug_table(results: Sequence[SeededBugResult]) -> Table:
    """Return a line for each seeded bug: what found it, which pass was named, the time it took, and
    the rewrites if requested."""
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


def mutant_table(verdicts: Sequence[MutantResult]) -> Table:
    """Return a line for each mutant that was not found."""
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


def seeded_bug_score(results: Sequence[SeededBugResult]) -> str:
    """Return how many seeded bugs were found, and how many with the right pass."""
    found = sum(result.finding.found for result in results)
    right = sum(result.right for result in results)
    return f"seeded: {found} of {len(results)} found, {right} with the right pass named"


def mutant_score(verdicts: Sequence[MutantResult]) -> str:
    """Return how many of the mutants that change meaning were found."""
    count = Counter(verdict.status for verdict in verdicts)
    wrong = count["found"] + count["missed"]
    share = 100 * count["found"] / wrong if wrong else 0.0
    return (
        f"mutants: {count['found']} of {wrong} that change meaning found ({share:.1f} %); "
        f"{count['other']} lower programs differently but mean the same, "
        f"{count['unseen']} change nothing that was seen"
    )
