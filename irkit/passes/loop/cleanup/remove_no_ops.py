"""Remove statements without effect.

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

from irkit.core import Node, Rules, binders, rewrite, uses, walk
from irkit.ir import (
    HINT_NAMES,
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
    is_empty,
    logical_not,
    seq,
    trip_count,
)
from irkit.ir.analysis import ValueNumbering, symbols_read
from irkit.transform import define_pass


def dead_loop(loop: For) -> Stmt | None:
    """Drop a loop that never runs, or has an empty body."""
    return seq() if trip_count(loop) == 0 or is_empty(loop.body) else None


def empty_branch(stmt: If) -> Stmt | None:
    """Drop an empty else or branch; negate the condition if only the else has statements."""
    if stmt.otherwise is not None and is_empty(stmt.otherwise):
        return seq() if is_empty(stmt.then) else stmt.replace(otherwise=None)
    if not is_empty(stmt.then):
        return None
    if stmt.otherwise is None:
        return seq()
    return If(logical_not(stmt.cond), stmt.otherwise, None, span=stmt.span)


def stored_already(store: Store) -> Stmt | None:
    """Drop a store of the value that its element already has."""
    load = store.value
    if not isinstance(load, Load) or load.buffer is not store.buffer:
        return None
    numbers = ValueNumbering()
    here = [*map(numbers.of, store.indices)]
    # A masked load gives 0 for the lanes that it does not read.
    whole = load.mask is None or (
        store.mask is not None and numbers.of(load.mask) == numbers.of(store.mask)
    )
    return seq() if whole and [*map(numbers.of, load.indices)] == here else None


def no_effect(stmt: Evaluate | Assert) -> Stmt | None:
    """Drop evaluations without effect, and asserts that always hold."""
    match stmt:
        case Evaluate(Call(name)) if name == "barrier" or name in HINT_NAMES:
            return None
        case Evaluate() | Assert(Const(True)):
            return seq()
        case _:
            return None


NO_OPS = Rules("no-ops", dead_loop, empty_branch, stored_already, no_effect)


@define_pass(idempotent=True)
def remove_no_ops(func: PrimFunc) -> PrimFunc:
    """Remove loops that never run or do nothing, empty branches, stores of values that are already
    there, asserts that always hold, and names, buffers and views without uses."""
    uses = _Uses(func.body)

    def unused(stmt: Let | Allocate | View) -> Stmt | None:
        (symbol,) = binders(stmt)
        return stmt.body if symbol not in uses or is_empty(stmt.body) else None

    # Children go first: a statement can become useless once those inside it are gone.
    return rewrite(func, Rules("no-ops", NO_OPS, unused), applied=uses.drop)


class _Uses:
    """Number of statements that refer to each symbol, updated while statements are removed."""

    def __init__(self, root: Stmt) -> None:
        self._counts = Counter[Node]()
        for stmt in walk(root, Stmt):
            self._counts.update(_touched(stmt))

    def __contains__(self, symbol: Node) -> bool:
        return self._counts[symbol] > 0

    def drop(self, stmt: Stmt, smaller: Stmt) -> None:
        """Update the counts after ``stmt`` became ``smaller``: its own body, or nothing."""
        if is_empty(smaller):
            for gone in walk(stmt, Stmt):
                self._counts.subtract(_touched(gone))
        elif isinstance(stmt, (Let, Allocate, View)):
            self._counts.subtract(_touched(stmt))


def _touched(stmt: Stmt) -> set[Node]:
    return symbols_read(stmt) | {*uses(stmt)}
