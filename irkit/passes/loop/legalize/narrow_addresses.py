"""Compute the indices of loads and stores in the 32 bits that an address has.

Before::

    def f(A: f32[n, m], C: f32[n * m]):
        A_flat = view(A, f32[n * m], offset=0)
        for i in serial(0, n):
            for j in serial(0, m):
                C[i * m + j] = A_flat[i * m + j]

After::

    def f(A: f32[n, m], C: f32[n * m]):
        A_flat = view(A, f32[n * m], offset=0)
        for i in serial(0, n):
            for j in serial(0, m):
                C[cast(i, i32) * cast(m, i32) + cast(j, i32)] = A_flat[cast(i, i32) * cast(m, i32) + cast(j, i32)]

For machines such as WebAssembly's, on which no array has 2**31 bytes, so that the index of an
element fits, whatever the extents are. Sums and products are the same modulo 2**32, so only what
cannot be taken apart is computed in 64 bits. ``narrow-indices`` has done the same before where the
extents prove it, and the loops too.
"""  # noqa: E501 -- lines as they are printed

from irkit.core import Node, postorder, rewrite, with_fields
from irkit.ir import (
    I32,
    Add,
    Broadcast,
    Cast,
    Conditional,
    Const,
    Expr,
    Load,
    Mul,
    Neg,
    PrimFunc,
    Ramp,
    Select,
    Store,
    Sub,
)
from irkit.transform import define_pass

_SAME_MODULO = (Add, Sub, Mul, Neg, Ramp, Broadcast, Select, Conditional)
"""Operations whose last 32 bits depend on those of their operands only."""


@define_pass(idempotent=True)
def narrow_addresses(func: PrimFunc) -> PrimFunc:
    """Turn indices of 64 bits into indices of 32."""

    def narrowed(access: Load | Store) -> Node | None:
        if not any(index.dtype.bits == 64 for index in access.indices):
            return None
        return access.replace(indices=tuple(_narrow(index) for index in access.indices))

    return rewrite(func, narrowed)


def _narrow(index: Expr) -> Expr:
    """Return the last 32 bits of an index, as a number with a sign."""
    if index.dtype.bits != 64:
        return index
    made: dict[int, Node] = {}
    for node in postorder(index):
        assert isinstance(node, Expr)
        if node.dtype.is_integer and node.dtype.bits == 64:
            made[id(node)] = _narrow_node(node, made)
    found = made.get(id(index))
    if isinstance(found, Expr):
        return found
    return Cast(index, I32.with_lanes(index.dtype.lanes))


def _narrow_node(node: Expr, made: dict[int, Node]) -> Expr:
    narrow = I32.with_lanes(node.dtype.lanes)
    match node:
        case Const(int() as value):
            wrapped = (value - I32.low) % (1 << 32) + I32.low
            return Const(wrapped, I32)
        case Cast(value) if value.dtype == narrow:
            return value
        case _ if isinstance(node, _SAME_MODULO):
            below = with_fields(node, made)
            assert isinstance(below, Expr)
            return below.replace(dtype=narrow)
        case _:
            return Cast(node, narrow)
