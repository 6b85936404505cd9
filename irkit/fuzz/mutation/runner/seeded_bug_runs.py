"""Seeded bugs tried by the checks, each in a child process."""

from collections.abc import Iterable, Iterator

import msgspec

from irkit.fuzz.mutation.fork_server import ForkServer, TrialOrder, source_of
from irkit.fuzz.mutation.seeded_bugs import CATALOGUE
from irkit.fuzz.mutation.seeded_bugs.seeded_bug import SeededBug
from irkit.fuzz.mutation.trials.check_programs import TrialResult


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

    Raises: IRKitError if the anchor of a bug is not in the source exactly once.
    """
    for bug in bugs:
        yield SeededBugResult(bug, server.try_out(order_for(bug, bisected=bisected)))


def order_for(bug: SeededBug, *, bisected: bool = False) -> TrialOrder:
    """Return the trial of a bug: its own program first."""
    source = bug.seeded_in(source_of(bug.module))
    return TrialOrder(bug.module, source, (bug.case,), bisected=bisected)
