"""Reductions: the operations that combine values in any order, and the blocks that accumulate."""

from collections.abc import Callable

import msgspec

from irkit.core import equal, walk
from irkit.ir.analysis.uses import uses_of
from irkit.ir.buffer import Load
from irkit.ir.dtype import DType
from irkit.ir.expr import OPERATIONS, Binary, Expr, Scalar, const
from irkit.ir.function import PrimFunc
from irkit.ir.stmt import Block, If, Stmt, Store

IDENTITIES: dict[type[Binary], Callable[[DType], Scalar]] = {
    cls: row.identity for cls, row in OPERATIONS.items() if row.identity is not None
}
"""The associative and commutative operations, each with the identity for a type. Sums and products
of floats are included, although their rounding depends on the order."""


def identity_of(operation: type[Binary], dtype: DType) -> Expr:
    """Return the value that an operation combines with any other without changing it."""
    return const(IDENTITIES[operation](dtype), dtype)


class Accumulation(msgspec.Struct, frozen=True):
    """A reduction ``buffer[at] = operation(buffer[at], gathered)``, if ``cond`` holds."""

    store: Store
    operation: type[Binary]
    gathered: Expr
    cond: Expr | None

    @property
    def identity(self) -> Expr:
        """The identity of the operation."""
        return identity_of(self.operation, self.store.buffer.dtype)

    def joined(self, a: Expr, b: Expr) -> Expr:
        """Apply the operation."""
        return self.operation(a, b, self.store.value.dtype)


def accumulation_of(func: PrimFunc, block: Block) -> Accumulation | None:
    """Return the reduction that is the body of a block, or None.

    It combines one element with a value by one of the operations above. Neither the value nor a
    condition nor an index reads the memory that the block writes.
    """
    body: Stmt = block.body
    cond: Expr | None = None
    if isinstance(body, If) and body.otherwise is None:
        cond, body = body.cond, body.then
    if not isinstance(body, Store) or body.mask is not None or type(body.value) not in IDENTITIES:
        return None
    store, value = body, body.value
    assert isinstance(value, Binary)
    memory = uses_of(func).memory
    own = memory(store.buffer)

    def reads_own(expr: Expr) -> bool:
        return any(memory(load.buffer) is own for load in walk(expr, Load))

    asked = [each for each in (cond, block.predicate) if each is not None]
    if any(reads_own(each) for each in (*asked, *store.indices)):
        return None
    for old, gathered in ((value.a, value.b), (value.b, value.a)):
        is_old = isinstance(old, Load) and old.mask is None and same_place(old, store)
        if is_old and not reads_own(gathered):
            return Accumulation(store, type(value), gathered, cond)
    return None


def accumulates(func: PrimFunc, block: Block) -> bool:
    """Return True if a block does nothing but accumulate, so that its iterations can run in any
    order."""
    found = accumulation_of(func, block)
    return found is not None and found.cond is None


def same_place(a: Load | Store, b: Load | Store) -> bool:
    """Return True if two accesses have the same buffer and the same index expressions."""
    return a.buffer is b.buffer and all(
        equal(one, other) for one, other in zip(a.indices, b.indices, strict=True)
    )
