"""Lines printed before with one table of names; most of a function is unchanged by each pass."""

from array import array
from typing import Any

import msgspec

from irkit.core import Node, PrintedNames
from irkit.ir.stmt import If, Stmt

LONG_SEQUENCE = 64
"""The length from which on each statement of a sequence is kept, and not only loops."""
MAX_LINES = 256
"""The most lines of a statement that is kept whole; of longer ones, the parts are kept."""
MIN_LINES = 8
"""The fewest lines of a kept statement outside long sequences."""
MAX_KEPT_LINES = 8_000_000
"""The most lines of kept functions, about 20 bytes each; beyond that the memo is cleared."""
MAX_KEPT_STATEMENTS = 1_000_000
"""The most kept statements, about 400 bytes each; beyond that the memo is cleared."""


class PrintedLines(msgspec.Struct, frozen=True, eq=False):
    """The printed lines of a function; the node with id ``keys[i]`` begins on line ``places[i]``,
    from 1."""

    lines: list[str]
    keys: "array[int]"
    places: "array[int]"


class Elif(msgspec.Struct, frozen=True, gc=False):
    """Marks a conditional that is the only statement of an else branch."""

    stmt: If


class End(msgspec.Struct, frozen=True, gc=False):
    """Marks the end of a statement that began at a line and a mark, counted from 0."""

    stmt: Stmt
    line: int
    mark: int


PrintedRange = tuple[int, int, int, int, int]
"""The number of the printed function, begin and end of its lines, begin and end of its marks, all
from 0. A tuple of plain numbers costs no garbage collection."""


class Memo(dict[tuple[int, str, bool], PrintedRange]):
    """Lines of statements by ``id``, indentation, and whether the statement ends its suite.

    Entries are valid while symbols keep their names in the table, all of them are bound, and no
    expression has lines of its own, which are numbered through the function. The owner must keep
    the statements alive. ``lone`` are statements of long sequences, which are kept even if short.
    """

    def __init__(self) -> None:
        super().__init__()
        self.symbols: dict[int, tuple[Node, ...]] = {}
        self.lone: set[int] = set()
        self.printed: list[PrintedLines] = []

    def begin(self, made: PrintedLines) -> None:
        """Add a function that is being printed; clear the memo first if it is too large."""
        lines = sum(len(each.lines) for each in self.printed)
        if lines > MAX_KEPT_LINES or len(self) > MAX_KEPT_STATEMENTS:
            self.clear()
            self.printed.clear()
        self.printed.append(made)

    def keep(self, end: End, indent: str, tail: bool, line: int, mark: int) -> None:
        """Keep the lines of a statement, up to a line and a mark, unless there are too many or too
        few."""
        size = line - end.line
        if MIN_LINES <= size <= MAX_LINES or (size <= MAX_LINES and id(end.stmt) in self.lone):
            number = len(self.printed) - 1
            self[id(end.stmt), indent, tail] = number, end.line, line, end.mark, mark

    def find(
        self, node: object, indent: str, tail: bool, stack: list[tuple[Any, str, bool]]
    ) -> PrintedRange | None:
        """Return the lines of a statement, or None.

        Statements on top of the stack of those to print next are popped and included if they
        followed it before.
        """
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
        """Return True if a function prints with the names of the table."""
        return printed.steady
