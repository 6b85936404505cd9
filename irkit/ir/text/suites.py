"""Open suites: blocks whose statements are still being read."""

from collections.abc import Callable

from irkit.core import Attrs, Span
from irkit.ir.buffer import Buffer
from irkit.ir.build import seq
from irkit.ir.expr import Expr
from irkit.ir.stmt import Axis, Block, Region, Stmt


class PendingScope:
    """A ``Let``, ``Allocate`` or ``View`` whose body is still to be read."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[[Stmt], Stmt]) -> None:
        self.make = make


class OpenSuite:
    """An open suite: its statements so far, and how to build its statement at the end."""

    def __init__(self, kind: str, outer: int, make: Callable[[Stmt], Stmt] | None) -> None:
        self.kind = kind
        self.outer = outer
        """The indentation of the line that opened it."""
        self.indent = -1
        """The indentation of its own lines; -1 before the first one."""
        self.make = make
        self.items: list[Stmt | PendingScope] = []
        self.undo: list[tuple[str, Expr | Buffer | None]] = []
        self.block: BlockHead | None = None
        self.branches: list[tuple[Expr, Stmt | None, Span]] = []

    def body(self) -> Stmt:
        """Return the statements as one; the rest after a ``PendingScope`` becomes its body."""
        rest = list[Stmt]()
        for item in reversed(self.items):
            if isinstance(item, PendingScope):
                rest = [item.make(seq(*reversed(rest)))]
            else:
                rest.append(item)
        return seq(*reversed(rest))


class BlockHead:
    """The lines of a block before its statements: axes, predicate, regions, init."""

    def __init__(self, name: str, attrs: Attrs, span: Span) -> None:
        self.name, self.attrs, self.span = name, attrs, span
        self.axes: list[Axis] = []
        self.predicate: Expr | None = None
        self.reads: list[Region] | None = None
        self.writes: list[Region] | None = None
        self.init: Stmt | None = None

    def make(self, body: Stmt) -> Stmt:
        return Block(
            self.name,
            tuple(self.axes),
            body,
            self.init,
            self.predicate,
            None if self.reads is None else tuple(self.reads),
            None if self.writes is None else tuple(self.writes),
            self.attrs,
            span=self.span,
        )
