"""Thread loops and barriers, and which expressions are the same for all threads.

Nested thread loops form one nest, except that loops over ``blockIdx`` start separate nests.
"""

from collections.abc import Callable

from irkit.core import Node, children, postorder, walk
from irkit.ir.arith import simplify
from irkit.ir.buffer import Buffer, Load
from irkit.ir.build import call, evaluates, is_thread_loop, maximum, trip_count
from irkit.ir.dtype import I64
from irkit.ir.expr import Const, Expr, Var, convert
from irkit.ir.stmt import Allocate, Block, For, Let, Stmt, View

BARRIER = call("barrier")


def is_barrier(stmt: Node) -> bool:
    """Return True if a statement is a barrier."""
    return evaluates(stmt, "barrier")


def holding(root: Stmt, claim: Callable[[Stmt], bool]) -> set[int]:
    """Return the ids of the statements that satisfy a claim or contain one that does."""
    found: set[int] = set()
    for node in postorder(root):  # Children before parents.
        if isinstance(node, Stmt) and (
            claim(node) or any(id(child) in found for child in children(node))
        ):
            found.add(id(node))
    return found


def extent_of(loop: For) -> Expr:
    """Return the number of iterations of a loop as i64; 0 if its end is before its begin."""
    count = trip_count(loop)
    if count is not None:
        return Const(count, I64)
    return maximum(simplify(convert(loop.end, I64) - convert(loop.begin, I64)), 0)


class UniformityInfo:
    """What differs between the threads of a nest.

    That is their variables, what is computed from those, and the contents of memory of their own.
    Binders must be entered from the outside in.
    """

    def __init__(self) -> None:
        self._varying: set[Var | Buffer] = set()

    def add(self, symbol: Var | Buffer) -> None:
        """Record that a symbol differs between threads."""
        self._varying.add(symbol)

    def differs(self, symbol: Var | Buffer) -> bool:
        """Return True if a symbol differs between threads."""
        return symbol in self._varying

    def holds(self, *exprs: Expr) -> bool:
        """Return True if expressions have one value for all threads that evaluate them together."""
        return not any(
            (isinstance(node, Var) and node in self._varying)
            or (isinstance(node, Load) and node.buffer in self._varying)
            for expr in exprs
            for node in walk(expr)
        )

    def enter(self, stmt: Stmt, *, inside: bool) -> None:
        """Record what a statement introduces; ``inside`` tells whether a thread loop is around
        it."""
        match stmt:
            case For():
                if is_thread_loop(stmt) or not self.holds(stmt.begin, stmt.end):
                    self.add(stmt.var)
            case Let() if not self.holds(stmt.value):
                self.add(stmt.var)
            case Allocate() if stmt.buffer.is_private or (inside and not stmt.buffer.is_shared):
                self.add(stmt.buffer)
            case View() if stmt.source in self._varying or not self.holds(stmt.offset):
                self.add(stmt.buffer)
            case Block():
                for axis in stmt.axes:
                    if not self.holds(axis.binding):
                        self.add(axis.var)
            case _:
                pass
