"""Operators that pick elements: by slices, and by tensors of indices."""

from collections.abc import Sequence

from irkit import ir
from irkit.core import DTypeError, ShapeError, user_span
from irkit.ir import Expr, ExprLike
from irkit.te import IterVar, Tensor, define_stage
from irkit.topi.extents import (
    Dim,
    axes_of,
    axis_of,
    ceil_divide,
    check_equal,
    extents,
    larger,
    minus,
    plus,
    smaller,
    times,
)


def strided_slice(
    x: Tensor,
    begins: Sequence[int],
    ends: Sequence[int | None],
    strides: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
) -> Tensor:
    """Take every ``stride``-th element from ``begin`` up to, but not including, ``end``, along some
    axes.

    Negative positions count from the end, and positions beyond either end are clamped, as in
    Python's slices; an end of None means to the end. Without ``axes``, the slices are of the first
    axes.
    Source: ONNX Slice-13.
    """
    steps = [1] * len(begins) if strides is None else list(strides)
    chosen = axes_of(range(len(begins)) if axes is None else axes, x.ndim, "strided_slice")
    if not len(begins) == len(ends) == len(steps) == len(chosen) or 0 in steps:
        raise ShapeError(
            f"strided_slice: {begins}, {ends} and strides {steps} must have the same length, and "
            "no stride can be 0",
            span=user_span("strided_slice"),
        )
    shape = list(extents(x))
    place: dict[int, tuple[Dim, int]] = {}
    for axis, begin, end, step in zip(chosen, begins, ends, steps, strict=True):
        start, shape[axis] = _slice(begin, end, step, shape[axis])
        place[axis] = (start, step)

    def at(*i: IterVar) -> Expr:
        point: list[ExprLike] = []
        for axis, index in enumerate(i):
            start, step = place.get(axis, (0, 1))
            point.append(plus(times(index, step), start))
        return x(*point)

    return define_stage(shape, at, "strided_slice", tag="injective")


def _slice(begin: int, end: int | None, step: int, dim: Dim) -> tuple[Dim, Dim]:
    """Return where a slice begins and how many elements it takes."""
    low, high = (0, dim) if step > 0 else (-1, minus(dim, 1))

    def clamp(value: int) -> Dim:
        return smaller(larger(plus(dim, value) if value < 0 else value, low), high)

    start = clamp(begin)
    stop = (high if step > 0 else low) if end is None else clamp(end)
    span = minus(stop, start) if step > 0 else minus(start, stop)
    return start, larger(ceil_divide(span, abs(step)), 0)


def split(x: Tensor, sizes: Sequence[int], axis: int = 0) -> tuple[Tensor, ...]:
    """Split a tensor into pieces of the given sizes along one axis.

    Raises: ShapeError if the sizes do not add up.
    Source: ONNX Split-13.
    """
    at = axis_of(axis, x.ndim, "split")
    check_equal(sum(sizes), extents(x)[at], f"split: the sizes do not fill axis {at} of {x.name!r}")
    starts = [sum(sizes[:place]) for place in range(len(sizes))]
    return tuple(
        strided_slice(x, (start,), (start + size,), axes=(at,))
        for start, size in zip(starts, sizes, strict=True)
    )


def take(x: Tensor, indices: Tensor, axis: int = 0) -> Tensor:
    """Pick slices along an axis by number; negative numbers count from the end, and others outside
    are moved to the nearest.

    Shapes: x [A, D, B], indices [I] -> [A, I, B], each of any number of axes.
    Source: ONNX Gather-13; numpy.take.
    """
    at_axis = axis_of(axis, x.ndim, "take")
    _check_integers(indices, "take")
    dims = extents(x)

    def at(*i: IterVar) -> Expr:
        which = indices(*i[at_axis : at_axis + indices.ndim])
        index = _inside(_from_start(which, dims[at_axis]), dims[at_axis])
        taken = x(*i[:at_axis], index, *i[at_axis + indices.ndim :])
        if isinstance(dims[at_axis], int):
            return taken
        # An axis of any extent can be without elements, of which none can be read.
        return ir.if_then_else(ir.gt(dims[at_axis], 0), taken, ir.const(0, x.dtype))

    shape = (*x.shape[:at_axis], *indices.shape, *x.shape[at_axis + 1 :])
    return define_stage(shape, at, "take", tag="injective")


def gather(x: Tensor, indices: Tensor, axis: int = 0) -> Tensor:
    """Pick one element for each index along an axis; negative indices count from the end.

    Shapes: x and indices of one rank -> that of indices.
    Source: ONNX GatherElements-13; numpy.take_along_axis.
    """
    at_axis = axis_of(axis, x.ndim, "gather")
    _check_integers(indices, "gather")
    check_equal(x.ndim, indices.ndim, f"gather: {x.name!r} and its indices must have as many axes")
    dims = extents(x)

    def at(*i: IterVar) -> Expr:
        index = _from_start(indices(*i), dims[at_axis])
        return x(*i[:at_axis], index, *i[at_axis + 1 :])

    return define_stage(indices.shape, at, "gather", tag="injective")


def _from_start(index: Expr, dim: Dim) -> Expr:
    if index.dtype.kind == "u" and index.dtype.bits < 64:
        return index
    wide = ir.cast(index, "i64")
    return ir.select(ir.lt(wide, 0), wide + dim, wide)


def _inside(index: Expr, dim: Dim) -> Expr:
    """Limit an index from the front to the extent: indices come with the data."""
    return ir.minimum(ir.maximum(ir.cast(index, "i64"), 0), minus(dim, 1))


def _check_integers(indices: Tensor, what: str) -> None:
    if not indices.dtype.is_integer:
        raise DTypeError(
            f"{what}: the indices {indices.name!r} must be integers, found {indices.dtype}",
            span=user_span(what),
        )
