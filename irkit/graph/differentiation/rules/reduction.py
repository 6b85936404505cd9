"""Reductions: the gradient goes back to the elements that the result came from."""

from collections.abc import Sequence
from math import prod

from irkit.graph.differentiation.applied import (
    AppliedOp,
    Rule,
    spread_like,
    summed_to,
    where,
    with_axes,
    zeros_like,
)
from irkit.graph.tensor import TensorExpr, operator
from irkit.ir import as_int


def _kept(op: AppliedOp, reduced: TensorExpr) -> TensorExpr:
    """Return a result or its gradient with the axes of the argument."""
    return with_axes(reduced, op.options.ints("axes"), op.options.flag("keepdims"))


def _sum(op: AppliedOp) -> list[TensorExpr | None]:
    return [spread_like(_kept(op, op.dy), op.args[0])]


def _mean(op: AppliedOp) -> list[TensorExpr | None]:
    (x,) = op.args
    return [spread_like(_kept(op, op.dy) / _count(x, op.options.ints("axes")), x)]


def _count(x: TensorExpr, axes: Sequence[int]) -> "TensorExpr | float":
    """Return the number of elements along axes; where extents are symbolic it is computed."""
    known = [as_int(x.dims[axis]) for axis in axes]
    if None not in known:
        return float(max(prod(size for size in known if size is not None), 1))
    return operator("full_like", x, value=1).sum(*axes, keepdims=True)


def _extreme(op: AppliedOp) -> list[TensorExpr | None]:
    """Share the gradient equally among the elements that are equal to the extreme."""
    (x,), axes = op.args, op.options.ints("axes")
    hits = operator("equal", x, _kept(op, op.y)).cast(x.dtype)
    share = _kept(op, op.dy) / hits.sum(*axes, keepdims=True) if axes else _kept(op, op.dy)
    return [hits * share]


def _prod(op: AppliedOp) -> list[TensorExpr | None]:
    """Multiply by the product of the other elements, of which one alone can be 0."""
    (x,), axes = op.args, op.options.ints("axes")
    is_zero = operator("equal", x, 0.0)
    others = where(is_zero, 1.0, x)
    zeros = is_zero.cast(x.dtype)
    if axes:
        zeros = zeros.sum(*axes, keepdims=True)
        product = operator("prod", others, axes=axes, keepdims=True)
    else:
        product = others
    alone = where(is_zero, spread_like(product, x), zeros_like(x))
    rest = where(operator("equal", zeros, 1.0), alone, 0.0)
    found = where(operator("equal", zeros, 0.0), product / others, rest)
    return [summed_to(_kept(op, op.dy) * found, x)]


REDUCTION: dict[str, Rule] = {
    "sum": _sum,
    "mean": _mean,
    "max": _extreme,
    "min": _extreme,
    "prod": _prod,
}
