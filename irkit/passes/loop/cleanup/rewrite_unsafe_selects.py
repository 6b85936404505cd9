"""Make selects lazy if the side that is not taken could read outside a buffer.

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
from irkit.ir.arith import loop_ranges
from irkit.transform import define_pass


@define_pass(idempotent=True)
def rewrite_unsafe_selects(func: PrimFunc) -> PrimFunc:
    """Turn selects into conditional expressions, which evaluate only the chosen side, unless all
    loads of both sides are proved to be in bounds."""
    if not any_node(func.body, Select):
        return func
    ranges = loop_ranges(func)
    # A load inside of many selects is looked at once. The loads are kept: so no id is used again.
    known: dict[int, tuple[Load, bool]] = {}

    def is_safe(load: Load) -> bool:
        if id(load) not in known:
            known[id(load)] = load, is_in_bounds(load, ranges)
        return known[id(load)][1]

    def rewrite_select(choice: Select) -> Expr | None:
        if choice.cond.dtype.lanes > 1 or choice.dtype.lanes > 1:
            return None  # A vector load under a guard has a mask.
        sides = (choice.then, choice.otherwise)
        if all(is_safe(load) for side in sides for load in walk(side, Load)):
            return None
        return Conditional(choice.cond, *sides, choice.dtype)

    return rewrite(func, rewrite_select, on=Select)
