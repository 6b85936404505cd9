"""Pooling over any number of spatial axes, channels first."""

from collections.abc import Sequence

from irkit import ir, te
from irkit.ir import Expr
from irkit.te import IterVar, Tensor, define_stage, elementwise
from irkit.topi.broadcast import divide
from irkit.topi.elementwise import cast
from irkit.topi.extents import (
    Dim,
    accumulator,
    check_rank,
    count,
    extents,
    larger,
    minus,
    plus,
    smaller,
    times,
)
from irkit.topi.nn.window import Window, as_float, check_sizes, window
from irkit.topi.reduction import largest_at, max, mean


def max_pool(
    x: Tensor,
    kernel: Sequence[int],
    *,
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """Return the largest element of each window; padding is ignored.

    Shapes: x [N, C, D...] -> [N, C, P...]; with ``ceil_mode`` the last window can extend beyond the
    padding, if it begins before its end.
    Source: ONNX MaxPool-12.
    """
    slide, sizes = _slide(x, kernel, strides, pads, dilations, ceil_mode, "max_pool")
    source = slide.padded(x, sizes, te.least(x.dtype), ceil_mode=ceil_mode)
    inside = slide.axes()

    def at(*i: IterVar) -> Expr:
        return te.max(source(*i[:2], *slide.points(i[2:], inside)), axis=inside)

    return define_stage((*x.shape[:2], *sizes), at, "max_pool", tag="reduction")


def max_pool_with_indices(
    x: Tensor,
    kernel: Sequence[int],
    *,
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    ceil_mode: bool = False,
    column_major: bool = False,
) -> tuple[Tensor, Tensor]:
    """Return the largest element of each window and its position in the flattened input.

    Shapes: x [N, C, D...] -> two of [N, C, P...], the second i64; of equal elements the first in
    row-major order counts. With ``column_major`` the spatial axes are flattened from the first to
    the last.
    Source: ONNX MaxPool-12, with Indices.
    """
    slide, sizes = _slide(x, kernel, strides, pads, dilations, ceil_mode, "max_pool")
    dims, inside, largest = extents(x), slide.axes(), largest_at()

    def at(*i: IterVar) -> tuple[Expr, Expr]:
        point = [
            each if begin == 0 else each - begin
            for each, begin in zip(slide.points(i[2:], inside), slide.begins, strict=True)
        ]
        spatial = list(zip(point, dims[2:], strict=True))
        place: Dim = plus(times(i[0], dims[1]), i[1])
        place = times(place, count(dims[2:]))
        flat: Dim = 0
        for index, dim in spatial:
            flat = plus(times(flat, dim), index)
        pair = (plus(place, flat), x(*i[:2], *point))
        found = largest(pair, axis=inside, where=_within(slide, spatial, ceil_mode))
        return found[0], found[1]

    where, values = define_stage((*x.shape[:2], *sizes), at, "max_pool", tag="reduction")
    # The first of equal elements does not depend on how positions are counted.
    return values, _by_columns(where, dims[2:]) if column_major else where


def _by_columns(where: Tensor, dims: Sequence[Dim]) -> Tensor:
    """Convert positions from row-major to column-major order of the spatial axes."""

    def turned(place: Expr) -> Expr:
        size = ir.index(count(dims))
        left, flat = place % size, ir.index(0)
        base = place - left
        for dim in dims[::-1]:
            flat = flat * ir.index(dim) + left % ir.index(dim)
            left = left // ir.index(dim)
        return base + flat

    return elementwise(turned, where, name="by_columns")


def _within(slide: Window, spatial: list[tuple[Expr, Dim]], ceil_mode: bool) -> Expr | None:
    """Return the condition that a point lies inside the input; None if it always does."""
    tests: list[Expr] = []
    for (point, dim), begin, end in zip(spatial, slide.begins, slide.ends, strict=True):
        if begin:
            tests.append(ir.ge(point, 0))
        if end or ceil_mode:
            tests.append(ir.lt(point, dim))
    return ir.logical_and(*tests) if tests else None


def avg_pool(
    x: Tensor,
    kernel: Sequence[int],
    *,
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    ceil_mode: bool = False,
    count_include_pad: bool = False,
) -> Tensor:
    """Average each window; padding counts as zeros with ``count_include_pad``, otherwise not at
    all.

    Elements beyond the padding (with ``ceil_mode``) never count.
    Shapes: x [N, C, D...] -> [N, C, P...].
    Source: ONNX AveragePool-19.
    """
    slide, sizes = _slide(x, kernel, strides, pads, dilations, ceil_mode, "avg_pool")
    wide = accumulator(x.dtype)
    source, inside = slide.padded(x, sizes, 0, ceil_mode=ceil_mode), slide.axes()

    def at(*i: IterVar) -> Expr:
        value = source(*i[:2], *slide.points(i[2:], inside))
        return te.sum(ir.cast(value, wide), axis=inside)

    total = define_stage((*x.shape[:2], *sizes), at, "pool_sum", tag="reduction")
    whole = source is x or (count_include_pad and not ceil_mode)
    if whole:
        average = divide(total, as_float(count(slide.kernel), total))
    else:
        average = _divide_by_counts(total, slide, extents(x)[2:], count_include_pad)
    return average if wide == x.dtype else cast(average, x.dtype)


def _divide_by_counts(
    total: Tensor, slide: Window, dims: Sequence[Dim], include_pad: bool
) -> Tensor:
    """Divide each window's sum by how many of its elements count."""

    def at(*i: IterVar) -> Expr:
        counts: list[Dim] = []
        for axis, (place, dim) in enumerate(zip(i[2:], dims, strict=True)):
            begin, dilation = slide.begins[axis], slide.dilations[axis]
            # Positions in the padded input: those from low up to, but not including, high count.
            low = 0 if include_pad else begin
            high = plus(dim, begin + (slide.ends[axis] if include_pad else 0))
            start = times(place, slide.strides[axis])
            first = _steps(plus(low, dilation - 1) - start, dilation) if low else 0
            last = smaller(slide.kernel[axis], _steps(plus(high, dilation - 1) - start, dilation))
            counts.append(minus(last, larger(first, 0)))
        size = count(counts)
        if any(dilation > 1 for dilation in slide.dilations):
            size = larger(size, 1)  # A dilated window can miss all elements; its mean is then 0.
        return total(*i) / as_float(size, total)

    return define_stage(total.shape, at, "avg_pool", tag="elementwise")


def _steps(distance: Dim, dilation: int) -> Dim:
    return distance if dilation == 1 else distance // dilation


def global_avg_pool(x: Tensor) -> Tensor:
    """Average over all spatial axes, which keep extent 1. Source: ONNX GlobalAveragePool-1."""
    return mean(x, tuple(range(2, x.ndim)), keepdims=True)


def global_max_pool(x: Tensor) -> Tensor:
    """Return the maximum over all spatial axes, which keep extent 1.

    Source: ONNX GlobalMaxPool-1.
    """
    return max(x, tuple(range(2, x.ndim)), keepdims=True)


def _slide(
    x: Tensor,
    kernel: Sequence[int],
    strides: Sequence[int] | None,
    pads: Sequence[int] | None,
    dilations: Sequence[int] | None,
    ceil_mode: bool,
    what: str,
) -> tuple[Window, tuple[Dim, ...]]:
    check_rank(x, 2 + len(kernel), what)
    slide = window(kernel, strides, pads, dilations, what)
    sizes = slide.sizes(extents(x)[2:], ceil_mode=ceil_mode)
    check_sizes(sizes, what)
    return slide, sizes
