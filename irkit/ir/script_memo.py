"""What has been printed with one table of names, for statements that stand in several states of a
function: most of a function is what it was before the pass."""

import msgspec

from irkit.core import Node, Printed
from irkit.ir.stmt import Stmt

MANY = 64
"""Statements of a sequence from which on each is kept, and not only the loops among them."""
LONGEST = 256
"""Lines of a statement that are kept whole; of longer ones, the parts are."""

Marks = tuple[tuple[int, int], ...]


class Kept(msgspec.Struct, frozen=True, gc=False):
    """The lines of a statement, and on which of them, from 0, nodes begin, by ``id``."""

    lines: tuple[str, ...]
    marks: Marks


class End(msgspec.Struct, frozen=True, gc=False):
    """Mark where a statement has been printed that began at a line and a mark, counted from 0."""

    stmt: Stmt
    line: int
    mark: int


class Memo(dict[tuple[int, str, bool], Kept]):
    """Map a statement (by ``id``), its indentation, and whether it ends its suite, to its lines.

    It holds while symbols print by the names they have in the table, every one of them is bound,
    and expressions have no lines of their own, which are numbered through the function. Whoever
    keeps it keeps the statements. ``lone`` are those of long sequences, which pay even if short.
    """

    def __init__(self) -> None:
        super().__init__()
        self.symbols: dict[int, tuple[Node, ...]] = {}
        self.lone: set[int] = set()

    def holds(self, printed: Printed) -> bool:
        """Say whether a function prints by the names of the table."""
        return printed.steady
