"""The combiner of a reduction: its operation, its operand and its identity."""

import math

import msgspec

from irkit.core import walk
from irkit.ir import (
    Add,
    And,
    Binary,
    BitAnd,
    BitOr,
    BitXor,
    Block,
    DType,
    Expr,
    If,
    Load,
    Max,
    Min,
    Mul,
    Or,
    Scalar,
    Stmt,
    Store,
    const,
)
from irkit.schedule.analysis.accesses import same_place


class Combine(msgspec.Struct, frozen=True):
    """A reduction ``buffer[at] = operation(buffer[at], gathered)``, if ``cond`` holds."""

    store: Store
    operation: type[Binary]
    gathered: Expr
    cond: Expr | None

    @property
    def identity(self) -> Expr:
        """The identity of the operation."""
        dtype = self.store.buffer.dtype
        found = _identity(self.operation, dtype)
        assert found is not None
        return const(found, dtype)

    def joined(self, a: Expr, b: Expr) -> Expr:
        """Apply the operation."""
        return self.operation(a, b, self.store.value.dtype)


def combine_of(block: Block) -> Combine | None:
    """Return the associative and commutative reduction that is the body of a block, or None.

    The operations are sum, product, min, max, logical and bitwise and/or/xor. Sums and products of
    floats are included, although their rounding depends on the order.
    """
    body: Stmt = block.body
    cond: Expr | None = None
    if isinstance(body, If) and body.otherwise is None:
        cond, body = body.cond, body.then
    if not isinstance(body, Store) or body.mask is not None:
        return None
    value = body.value
    if not isinstance(value, Binary) or _identity(type(value), value.dtype) is None:
        return None
    for own, other in ((value.a, value.b), (value.b, value.a)):
        if _is_own(own, body) and not _reads(other, body):
            if cond is not None and _reads(cond, body):
                return None
            return Combine(body, type(value), other, cond)
    return None


def _is_own(expr: Expr, store: Store) -> bool:
    return isinstance(expr, Load) and expr.mask is None and same_place(expr, store)


def _reads(expr: Expr, store: Store) -> bool:
    return any(load.buffer is store.buffer for load in walk(expr, on=Load))


def _identity(operation: type[Binary], dtype: DType) -> Scalar | None:
    if operation in (And, Or):
        return operation is And
    if operation in (BitAnd, BitOr, BitXor) and not dtype.is_float:
        every = True if dtype.is_bool else dtype.high if dtype.kind == "u" else -1
        return every if operation is BitAnd else False if dtype.is_bool else 0
    if dtype.is_bool and operation in (Min, Max):
        return operation is Min
    if operation is Min:
        return math.inf if dtype.is_float else dtype.high
    if operation is Max:
        return -math.inf if dtype.is_float else dtype.low
    return 0 if operation is Add else 1 if operation is Mul else None
