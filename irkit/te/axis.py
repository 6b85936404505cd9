"""Iteration axes: variables with a range."""

from typing import cast

import msgspec

from irkit.core import DTypeError, ShapeError, user_span
from irkit.ir import I64, DType, Expr, ExprLike, Var, as_dtype, as_expr, as_int, cast as cast_to


class Range(msgspec.Struct, frozen=True, gc=False):
    """The integers from ``begin`` up to, but not including, ``end``."""

    begin: Expr
    end: Expr

    @property
    def extent(self) -> Expr:
        """Return the number of integers in the range."""
        begin, end = as_int(self.begin), as_int(self.end)
        if begin == 0:
            return self.end
        return self.end - self.begin if begin is None or end is None else as_expr(end - begin)


class IterVar(Var, frozen=True, gc=False, eq=False, kw_only=True):
    """An axis of a stage: a variable usable in expressions, with its range.

    The range is not part of the tree: traversals do not visit it at uses of the axis.
    """

    dom: Range
    is_reduce: bool = False

    @property
    def var(self) -> Var:
        """Return the variable itself, for compatibility with TVM."""
        return self

    @property
    def extent(self) -> Expr:
        return self.dom.extent


def var(name: str = "n", dtype: DType | str = I64) -> Var:
    """Make a variable: a symbolic extent, or a scalar parameter."""
    return Var(name, as_dtype(dtype))


def reduce_axis(dom: "tuple[ExprLike, ExprLike] | Range", name: str = "rv") -> IterVar:
    """Make an axis to reduce over, from ``dom[0]`` up to, but not including, ``dom[1]``."""
    begin, end = (dom.begin, dom.end) if isinstance(dom, Range) else _pair(dom, name)
    return IterVar(name, I64, dom=Range(_bound(begin, name), _bound(end, name)), is_reduce=True)


def _pair(dom: object, name: str) -> tuple[ExprLike, ExprLike]:
    if not (isinstance(dom, (tuple, list)) and len(cast(list[ExprLike], dom)) == 2):
        raise ShapeError(
            f"axis {name!r} runs over a pair of bounds, found {dom!r}",
            hint="Write te.reduce_axis((0, n)).",
            span=user_span(name),
        )
    begin, end = cast(list[ExprLike], dom)
    return begin, end


def _bound(value: ExprLike, name: str) -> Expr:
    expr = as_expr(value, I64)
    if not expr.dtype.is_integer or expr.dtype.lanes != 1:
        raise DTypeError(
            f"the range of axis {name!r} must be integers, found {expr.dtype}", span=user_span(name)
        )
    return cast_to(expr, I64)
