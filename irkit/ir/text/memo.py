"""What has been printed with one table of names, for statements that stand in several states of a
function: most of a function is what it was before the pass."""

from array import array
from typing import Any

import msgspec

from irkit.core import Node, PrintedNames
from irkit.ir.stmt import If, Stmt

MANY = 64
"""Statements of a sequence from which on each is kept, and not only the loops among them."""
LONGEST = 256
"""Lines of a statement that are kept whole; of longer ones, the parts are."""
LEAST = 8
"""Lines from which on it pays to keep a statement that stands in no long sequence."""
MOST = 8_000_000
"""Lines of functions that are kept, of some 20 bytes each; when there are more, it begins anew."""
MOST_STATEMENTS = 1_000_000
"""Statements that are kept, of some 400 bytes each; as above."""


class PrintedLines(msgspec.Struct, frozen=True, eq=False):
    """What a function printed as; on line ``places[i]``, from 1, begins the node whose ``id`` is
    ``keys[i]``."""

    lines: list[str]
    keys: "array[int]"
    places: "array[int]"


class Elif(msgspec.Struct, frozen=True, gc=False):
    """Mark a conditional that stands alone in an else branch."""

    stmt: If


class End(msgspec.Struct, frozen=True, gc=False):
    """Mark where a statement has been printed that began at a line and a mark, counted from 0."""

    stmt: Stmt
    line: int
    mark: int


PrintedRange = tuple[int, int, int, int, int]
"""Which of the printed functions, the first line there and the end, the first mark and the end, all
from 0. They are plain numbers, so that garbage collection need not look at them."""


class Memo(dict[tuple[int, str, bool], PrintedRange]):
    """Map a statement (by ``id``), its indentation, and whether it ends its suite, to its lines.

    It holds while symbols print by the names they have in the table, every one of them is bound,
    and expressions have no lines of their own, which are numbered through the function. Whoever
    keeps it keeps the statements. ``lone`` are those of long sequences, which pay even if short.
    """

    def __init__(self) -> None:
        super().__init__()
        self.symbols: dict[int, tuple[Node, ...]] = {}
        self.lone: set[int] = set()
        self.printed: list[PrintedLines] = []

    def begin(self, made: PrintedLines) -> None:
        """Keep a function that is being printed, and forget the others if they are too many."""
        lines = sum(len(each.lines) for each in self.printed)
        if lines > MOST or len(self) > MOST_STATEMENTS:
            self.clear()
            self.printed.clear()
        self.printed.append(made)

    def keep(self, end: End, indent: str, tail: bool, line: int, mark: int) -> None:
        """Keep what a statement printed as, up to a line and a mark, unless it is long, or so short
        that this would not pay."""
        size = line - end.line
        if LEAST <= size <= LONGEST or (size <= LONGEST and id(end.stmt) in self.lone):
            number = len(self.printed) - 1
            self[id(end.stmt), indent, tail] = number, end.line, line, end.mark, mark

    def find(
        self, node: object, indent: str, tail: bool, stack: list[tuple[Any, str, bool]]
    ) -> PrintedRange | None:
        """Find what a statement printed as. Those on top of a stack of what is to be printed next
        that stood right after it are taken from there and found along with it."""
        kept = self.get((id(node), indent, tail))
        if kept is None:
            return None
        number, line, end, mark, last = kept
        while stack:
            node, indent, tail = stack[-1]
            following = self.get((id(node), indent, tail))
            if following is None or following[:2] != (number, end) or following[3] != last:
                break
            end, last = following[2], following[4]
            stack.pop()
        return number, line, end, mark, last

    def holds(self, printed: PrintedNames) -> bool:
        """Say whether a function prints by the names of the table."""
        return printed.steady
