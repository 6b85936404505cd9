"""Limits of an integer expression, by the interval arithmetic of the translation."""

from collections.abc import Mapping

from irkit.ir import Const, Expr, Interval, Var
from irkit.proof.integers import Integers
from irkit.proof.solver import paused_collector, z3_module
from irkit.proof.translate import TooManyNodes, Translation


@paused_collector
def limits_of(expr: Expr, ranges: Mapping[Var, Interval]) -> tuple[int, int]:
    """Return numbers that a scalar integer expression lies between."""
    dtype = expr.dtype
    if isinstance(expr, Const):
        return int(expr.value), int(expr.value)
    context = z3_module().Context()
    algebra = Integers(context)
    translation = Translation(algebra, context, ranges, 1)
    try:
        return algebra.limits(translation.number(expr), dtype)
    except TooManyNodes:
        return dtype.low, dtype.high
