"""Lines printed before with one table of names; most of a function is unchanged by each pass."""

from array import array

import msgspec

from irkit.core import Node, PrintedNames
from irkit.ir.stmt import Stmt

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


PrintedRange = tuple[int, int, int, int, int]
"""The number of the printed function, begin and end of its lines, begin and end of its marks, all
from 0. A tuple of plain numbers costs no garbage collection."""
_NOTHING: tuple[PrintedRange, int] = (0, 0, 0, 0, 0), 0


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

    def keep(
        self, stmt: Stmt, indent: str, tail: bool, lines: tuple[int, int], marks: tuple[int, int]
    ) -> None:
        """Keep a range of lines and of marks for a statement, unless there are too many lines or
        too few."""
        size = lines[1] - lines[0]
        if MIN_LINES <= size <= MAX_LINES or (size <= MAX_LINES and id(stmt) in self.lone):
            self[id(stmt), indent, tail] = len(self.printed) - 1, *lines, *marks

    def find(
        self, stmts: tuple[Stmt, ...], at: int, indent: str, tail: bool
    ) -> tuple[PrintedRange, int]:
        """Return the lines of a statement of a sequence, together with those that followed it
        before, and the number of statements; 0 if the lines are not known.

        ``tail`` is about the end of the sequence.
        """
        after = len(stmts) - 1
        kept = self.get((id(stmts[at]), indent, tail and at == after))
        if kept is None:
            return _NOTHING
        first = at
        number, line, end, mark, last = kept
        while at < after:
            at += 1
            following = self.get((id(stmts[at]), indent, tail and at == after))
            if following is None or following[:2] != (number, end) or following[3] != last:
                return (number, line, end, mark, last), at - first
            end, last = following[2], following[4]
        return (number, line, end, mark, last), at - first + 1

    def holds(self, printed: PrintedNames) -> bool:
        """Return True if a function prints with the names of the table."""
        return printed.steady
