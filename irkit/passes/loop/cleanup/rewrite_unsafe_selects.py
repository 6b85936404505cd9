"""Make choices lazy where the side not taken could read outside of a buffer.

Before::

    def f(A: f32[8], C: f32[10]):
        for i in serial(0, 10):
            C[i] = select(i < 8, A[i], f32(0.0))

After::

    def f(A: f32[8], C: f32[10]):
        for i in serial(0, 10):
            C[i] = (A[i] if i < 8 else f32(0.0))
"""

from irkit.core import any_node, rewrite, walk
from irkit.ir import Conditional, Expr, Load, PrimFunc, Select
from irkit.ir.analysis import is_in_bounds
from irkit.ir.arith import Ranges, loop_ranges
from irkit.transform import define_pass


@define_pass(idempotent=True)
def rewrite_unsafe_selects(func: PrimFunc) -> PrimFunc:
    """Turn selects into conditional expressions where a side loads what cannot be shown to be
    inside its buffer; only the chosen side is evaluated then."""
    if not any_node(func.body, Select):
        return func
    ranges = loop_ranges(func)

    def rewrite_select(choice: Select) -> Expr | None:
        if choice.cond.dtype.lanes > 1 or choice.dtype.lanes > 1:
            return None  # The loads of vectors are masked where they are guarded.
        sides = (choice.then, choice.otherwise)
        if all(_is_safe(side, ranges) for side in sides):
            return None
        return Conditional(choice.cond, *sides, choice.dtype)

    return rewrite(func, rewrite_select, on=Select)


def _is_safe(side: Expr, ranges: Ranges) -> bool:
    return all(is_in_bounds(load, ranges) for load in walk(side, Load))
