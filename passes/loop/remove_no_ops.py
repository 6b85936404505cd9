"""Remove statements that do nothing.

Before::

    def f(A: f32[8], C: f32[8]):
        for i in serial(0, 0):
            C[i] = A[i]
        for j in serial(0, 8):
            C[j] = C[j]
        C[0] = A[0]

After::

    def f(A: f32[8], C: f32[8]):
        C[0] = A[0]
"""

from collections import Counter

from irkit.core import Node, binders, children, rewrite, uses, walk
from irkit.ir import (
    Allocate,
    Assert,
    Call,
    Const,
    Evaluate,
    For,
    If,
    Let,
    Load,
    PrimFunc,
    Stmt,
    Store,
    View,
    as_int,
    is_empty,
    logical_not,
    seq,
)
from irkit.passes.loop.numbering import Numbering
from irkit.transform import define_pass


@define_pass
def remove_no_ops(func: PrimFunc) -> PrimFunc:
    """Remove loops that never run or do nothing, empty branches, stores of what is there, asserts
    that hold, and names, buffers and views that nobody uses."""
    uses = _Uses(func.body)

    def remove(stmt: Stmt) -> Stmt | None:
        smaller = _removed(stmt, uses)
        if smaller is not None:
            # Children went first, so what encloses this may be of no use from now on.
            uses.drop(stmt, smaller)
        return smaller

    return rewrite(func, remove, on=(For, If, Let, Allocate, View, Store, Evaluate, Assert))


class _Uses:
    """How many statements refer to each symbol, kept true while statements are removed."""

    def __init__(self, root: Stmt) -> None:
        self._counts = Counter[Node]()
        for stmt in walk(root, Stmt):
            self._counts.update(_own_symbols(stmt))

    def __contains__(self, symbol: Node) -> bool:
        return self._counts[symbol] > 0

    def drop(self, stmt: Stmt, smaller: Stmt) -> None:
        """Take note that ``stmt`` became ``smaller``: nothing at all, or its own body."""
        if is_empty(smaller):
            for gone in walk(stmt, Stmt):
                self._counts.subtract(_own_symbols(gone))
        elif isinstance(stmt, (Let, Allocate, View)):
            self._counts.subtract(_own_symbols(stmt))


def _own_symbols(stmt: Stmt) -> set[Node]:
    roots = [node for node in children(stmt) if not isinstance(node, Stmt)]
    found: set[Node] = set(uses(stmt))
    for symbol in binders(stmt):
        roots.extend(children(symbol))
    for node in (inner for root in roots for inner in walk(root)):
        found.update(uses(node))
        if node.symbol:
            found.add(node)
    return found


def _removed(stmt: Stmt, used: _Uses) -> Stmt | None:
    match stmt:
        case For(_, begin, end, body):
            first, last = as_int(begin), as_int(end)
            never = first is not None and last is not None and first >= last
            return seq() if never or is_empty(body) else None
        case If(cond, then, otherwise):
            if otherwise is not None and is_empty(otherwise):
                return seq() if is_empty(then) else stmt.replace(otherwise=None)
            if is_empty(then):
                if otherwise is None:
                    return seq()
                return If(logical_not(cond), otherwise, None, span=stmt.span)
            return None
        case Let(var, _, body):
            return body if var not in used or is_empty(body) else None
        case Allocate(buffer, body):
            return body if buffer not in used or is_empty(body) else None
        case View(buffer, _, _, body):
            return body if buffer not in used or is_empty(body) else None
        case Store(buffer, indices, Load() as load, mask):
            numbers = Numbering()
            same = load.buffer is buffer and [*map(numbers.of, load.indices)] == [
                *map(numbers.of, indices)
            ]
            # A masked load gives 0 where it does not read.
            whole = load.mask is None or (
                mask is not None and numbers.of(load.mask) == numbers.of(mask)
            )
            return seq() if same and whole else None
        case Evaluate(value):
            return None if isinstance(value, Call) and value.name == "barrier" else seq()
        case Assert(Const(True)):
            return seq()
        case _:
            return None
