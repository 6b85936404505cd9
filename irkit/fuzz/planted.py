"""Plant each bug of the catalogue in a child process, and see whether the checks find it."""

from collections.abc import Iterable, Iterator

import msgspec

from irkit.fuzz.bugs import CATALOGUE, Planted
from irkit.fuzz.nursery import Nursery, Order, source_of
from irkit.fuzz.trial import Finding


class Result(msgspec.Struct, frozen=True):
    """What became of a planted bug."""

    bug: Planted
    finding: Finding

    @property
    def right(self) -> bool:
        """Say whether the pass that was named is one of the guilty ones."""
        return self.finding.found and self.finding.named in self.bug.guilty


def try_planted(
    nursery: Nursery, bugs: Iterable[Planted] = CATALOGUE, *, bisected: bool = False
) -> Iterator[Result]:
    """Plant bugs, one at a time, and give each result as it comes; ``bisected`` says whether to
    look for the guilty rewrites too.

    Raises: IRKitError if the anchor of a bug is not in the source exactly once.
    """
    for bug in bugs:
        yield Result(bug, nursery.try_out(order_of(bug, bisected=bisected)))


def order_of(bug: Planted, *, bisected: bool = False) -> Order:
    """Write down what to try for a bug: its own program first."""
    source = bug.planted_in(source_of(bug.module))
    return Order(bug.module, source, (bug.case,), bisected=bisected)
