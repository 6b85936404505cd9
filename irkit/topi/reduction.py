"""Reductions along axes. Sums of 16-bit floats accumulate in f32."""

from collections.abc import Callable, Sequence

from irkit import ir, te
from irkit.ir import I64, DType, Expr, ExprLike
from irkit.te import IterVar, Reduction, Tensor, define_stage, reduce_axis
from irkit.topi.broadcast import divide
from irkit.topi.elementwise import cast, identity
from irkit.topi.extents import accumulator, axes_of, axis_of, count, extents

Axes = int | Sequence[int] | None


def sum(x: Tensor, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Add along axes; None means all. Source: ONNX ReduceSum-13."""
    wide = accumulator(x.dtype)
    total = _reduced(x, axis, keepdims, te.sum, "sum", lambda v: ir.cast(v, wide))
    return total if wide == x.dtype else cast(total, x.dtype)


def prod(x: Tensor, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Multiply along axes; None means all. Source: ONNX ReduceProd-18."""
    return _reduced(x, axis, keepdims, te.prod, "prod")


def max(x: Tensor, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Return the maximum along axes; minus infinity if there are no elements. Source: ONNX
    ReduceMax-20."""
    return _reduced(x, axis, keepdims, te.max, "max")


def min(x: Tensor, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Return the minimum along axes; infinity if there are no elements. Source: ONNX
    ReduceMin-20."""
    return _reduced(x, axis, keepdims, te.min, "min")


def mean(x: Tensor, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Average along axes; None means all, and integers truncate. Source: ONNX ReduceMean-18."""
    wide = accumulator(x.dtype)
    total = _reduced(x, axis, keepdims, te.sum, "sum", lambda v: ir.cast(v, wide))
    dims = extents(x)
    number = count([dims[each] for each in axes_of(axis, x.ndim, "mean")])
    known = ir.as_int(ir.index(number))
    if not wide.is_float and wide.bits < 64 and (known is None or known > wide.high):
        wide = I64  # The sum or count can exceed a narrow integer.
        total = cast(total, wide)
    average = divide(total, ir.cast(ir.index(number), wide))
    return average if wide == x.dtype else cast(average, x.dtype)


def argmax(x: Tensor, axis: int, keepdims: bool = False, *, last: bool = False) -> Tensor:
    """Return the index of the maximum along an axis: the first, or the last, of equal ones; NaN
    counts as largest.

    Shapes: as a reduction, of i64.
    Source: ONNX ArgMax-13.
    """
    return _arg(x, axis, keepdims, largest_at(last=last), "argmax")


def argmin(x: Tensor, axis: int, keepdims: bool = False, *, last: bool = False) -> Tensor:
    """Return the index of the minimum along an axis: the first, or the last, of equal ones; NaN
    counts as smallest.

    Shapes: as a reduction, of i64.
    Source: ONNX ArgMin-13.
    """
    return _arg(x, axis, keepdims, _extreme_at(ir.lt, te.greatest, last, "argmin"), "argmin")


def largest_at(*, last: bool = False) -> Callable[..., tuple[Expr, ...]]:
    """Return the reduction of (index, value) pairs to the largest value and its index."""
    return _extreme_at(ir.gt, te.least, last, "argmax")


def _extreme_at(
    beats: Callable[[Expr, Expr], Expr], worst: Callable[[DType], Expr], last: bool, name: str
) -> Callable[..., tuple[Expr, ...]]:
    sooner = ir.gt if last else ir.lt
    nowhere = te.min_value if last else te.max_value

    def combine(x: tuple[Expr, Expr], y: tuple[Expr, Expr]) -> tuple[Expr, Expr]:
        first = sooner(x[0], y[0])
        wins = beats(x[1], y[1]) | (ir.eq(x[1], y[1]) & first)
        if x[1].dtype.is_float:
            x_nan, y_nan = ir.call("isnan", x[1]), ir.call("isnan", y[1])
            wins = wins | (x_nan & (ir.logical_not(y_nan) | first))
        return ir.select(wins, x[0], y[0]), ir.select(wins, x[1], y[1])

    def nothing(index: DType, value: DType) -> tuple[Expr, Expr]:
        return nowhere(index), worst(value)

    made = te.comm_reducer(combine, nothing, name)

    def reduction(
        pair: tuple[ExprLike, ...], axis: IterVar | Sequence[IterVar], where: Expr | None = None
    ) -> tuple[Expr, ...]:
        found = made(pair, axis=axis, where=where)
        assert isinstance(found, tuple)
        return found

    return reduction


def _arg(
    x: Tensor, axis: int, keepdims: bool, reduction: Callable[..., tuple[Expr, ...]], name: str
) -> Tensor:
    at = axis_of(axis, x.ndim, name)
    k = reduce_axis((0, x.shape[at]), name=f"k{at}")
    shape, point = _places(x, (k,), (at,), keepdims)

    def pair(*i: IterVar) -> tuple[Expr, ...]:
        return reduction((k, x(*point(i))), axis=k)

    return define_stage(shape, pair, name, tag="reduction")[0]


def _reduced(
    x: Tensor,
    axis: Axes,
    keepdims: bool,
    reduction: Reduction,
    name: str,
    prepare: Callable[[Expr], Expr] = lambda v: v,
) -> Tensor:
    axes = axes_of(axis, x.ndim, name)
    if not axes:
        return identity(x)
    ks = tuple(reduce_axis((0, x.shape[each]), name=f"k{each}") for each in sorted(axes))
    shape, point = _places(x, ks, tuple(sorted(axes)), keepdims)

    def at(*i: IterVar) -> Expr:
        return reduction(prepare(x(*point(i))), axis=ks)

    return define_stage(shape, at, name, tag="reduction")


def _places(
    x: Tensor, ks: tuple[IterVar, ...], axes: tuple[int, ...], keepdims: bool
) -> tuple[tuple[Expr, ...], Callable[[Sequence[IterVar]], list[Expr]]]:
    """Return the shape of a reduction, and the function from a point of it to the point of ``x``
    that is read."""
    which = dict(zip(axes, ks, strict=True))
    one = ir.const(1, I64)
    kept = [axis for axis in range(x.ndim) if keepdims or axis not in which]
    shape = tuple(one if axis in which else x.shape[axis] for axis in kept)

    def point(i: Sequence[IterVar]) -> list[Expr]:
        outer: dict[int, Expr] = dict(zip(kept, i, strict=True))
        return [which[axis] if axis in which else outer[axis] for axis in range(x.ndim)]

    return shape, point
