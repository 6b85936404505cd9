"""Seeded bugs and mutants tried by the checks on fixed programs, and the score."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec
from rich.table import Table

from tests.mutation.changes.catalogue import CATALOGUE
from tests.mutation.changes.mutant import Mutant
from tests.mutation.changes.seeded_bug import SeededBug
from tests.mutation.runs.server_pool import spread
from tests.mutation.trials.check_programs import TrialResult
from tests.mutation.trials.fork_server import ForkServer, TrialOrder

RANDOM_PROGRAMS = 40


class SeededBugResult(msgspec.Struct, frozen=True):
    """What became of a seeded bug."""

    bug: SeededBug
    finding: TrialResult

    @property
    def right(self) -> bool:
        """Return True if the pass that was named is one of the guilty ones."""
        return self.finding.found and self.finding.named in self.bug.guilty


def try_seeded_bugs(
    server: ForkServer, bugs: Iterable[SeededBug] = CATALOGUE, *, bisected: bool = False
) -> Iterator[SeededBugResult]:
    """Try seeded bugs, one at a time, and yield each result as it comes; ``bisected`` looks for the
    guilty rewrites too.

    Raises: IRKitError if the pattern of a bug does not match in exactly one place.
    """
    for bug in bugs:
        yield SeededBugResult(bug, server.try_out(order_for(bug, bisected=bisected)))


def order_for(bug: SeededBug, *, bisected: bool = False) -> TrialOrder:
    """Return the trial of a bug: its own program first."""
    return TrialOrder(bug.module, bug.source, (bug.case,), bisected=bisected)


class MutantResult(msgspec.Struct, frozen=True):
    """What became of a mutant.

    It is ``found``; or ``missed``, if it computes something else and the checks did not notice; or
    ``other``, if programs are lowered differently but mean the same; or ``unseen``, if no program
    is lowered differently, so that it may be equivalent.
    """

    mutant: Mutant
    finding: TrialResult

    @property
    def status(self) -> str:
        """Return which of the four it is."""
        if self.finding.found:
            return "found"
        if self.finding.missed:
            return "missed"
        return "other" if self.finding.differs else "unseen"


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

    def try_one(server: ForkServer, mutant: Mutant) -> MutantResult:
        return MutantResult(mutant, server.try_out(TrialOrder(mutant.module, mutant.source)))

    return spread(chosen, try_one, made)


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
