"""Compute logical right shifts of 8 and 16 bits in 32 bits.

Before::

    def f(A: u16[8]):
        for i in serial(0, 8):
            A[i] = A[i] >> u16(3)

After::

    def f(A: u16[8]):
        for i in serial(0, 8):
            A[i] = cast(cast(A[i], u32) >> u32(3), u16)

For WebAssembly, which has no such shift with an amount of its own for each lane: LLVM 22 takes the
lanes apart, and shifts in ones where the vector is a constant.
"""

from irkit.core import any_node, rewrite
from irkit.ir import U32, Cast, Expr, PrimFunc, Shr, cast
from irkit.transform import define_pass


@define_pass(idempotent=True)
def widen_shifts(func: PrimFunc) -> PrimFunc:
    """Shift unsigned integers of less than 32 bits to the right in 32 bits."""
    if not any_node(func, Shr, _is_narrow):
        return func

    def widened(node: Shr) -> Expr | None:
        if not _is_narrow(node):
            return None
        wide = U32.with_lanes(node.dtype.lanes)
        return Cast(cast(node.a, wide) >> cast(node.b, wide), node.dtype)

    return rewrite(func, widened, on=Shr)


def _is_narrow(node: Shr) -> bool:
    return node.dtype.kind == "u" and node.dtype.bits < 32
