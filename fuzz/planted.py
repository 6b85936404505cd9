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


def try_planted(nursery: Nursery, bugs: Iterable[Planted] = CATALOGUE) -> Iterator[Result]:
    """Plant bugs, one at a time, and give each result as it comes.

    Raises: IRKitError if the anchor of a bug is not in the source exactly once.
    """
    for bug in bugs:
        yield Result(bug, nursery.try_out(order_of(bug)))


def order_of(bug: Planted) -> Order:
    """Write down what to try for a bug: its own program first."""
    return Order(bug.module, bug.planted_in(source_of(bug.module)), (bug.case,))
