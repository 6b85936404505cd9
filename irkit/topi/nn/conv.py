"""Convolution over any number of spatial axes, channels first."""

from collections.abc import Sequence

from irkit import ir, te
from irkit.core import ShapeError, user_span
from irkit.ir import DType, Expr, as_dtype
from irkit.te import IterVar, Tensor, define_stage, reduce_axis
from irkit.topi.broadcast import add
from irkit.topi.elementwise import cast
from irkit.topi.extents import accumulator, check_equal, check_rank, extents
from irkit.topi.index import strided_slice
from irkit.topi.nn.window import check_sizes, window
from irkit.topi.shape import reshape


def conv(
    x: Tensor,
    w: Tensor,
    bias: Tensor | None = None,
    *,
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    groups: int = 1,
    out_dtype: DType | str | None = None,
) -> Tensor:
    """Convolve signals, images or volumes with filters, channels first.

    ``pads`` holds the widths before each spatial axis, then those after each. Padding is a separate
    stage; sums of 16-bit floats accumulate in f32 unless ``out_dtype`` is given.

    Shapes: x [N, C, D...], w [K, C / groups, R...], bias [K] -> [N, K, P...], P = (D + before +
    after - (R - 1) * dilation - 1) // stride + 1.
    Raises: ShapeError if x and w disagree about C, or the filter does not fit.
    Source: ONNX Conv-11.
    """
    check_rank(x, 3, "conv", at_least=True)
    check_rank(w, x.ndim, "conv")
    shape, filters = extents(x), extents(w)
    per_group = _per_group(x, w, groups)
    slide = window(filters[2:], strides, pads, dilations, "conv")
    sizes = slide.sizes(shape[2:])
    check_sizes(sizes, "conv")
    source = slide.padded(x, sizes, 0, ceil_mode=False)
    if all(extent == 1 for extent in filters[2:]) and any(step > 1 for step in slide.strides):
        source = _sampled(source, slide.strides)
        slide = window(filters[2:], None, None, None, "conv")
    channel, inside = reduce_axis((0, w.shape[1]), name="rc"), slide.axes()
    narrow = as_dtype(out_dtype) if out_dtype is not None else ir.common(x.dtype, w.dtype)
    wide = narrow if out_dtype is not None else accumulator(narrow)

    def at(nn: IterVar, ff: IterVar, *places: IterVar) -> Expr:
        own: Expr = channel
        if groups > 1:
            group = ff if per_group == 1 else ff // per_group
            own = group if filters[1] == 1 else group * filters[1] + channel
        value = ir.cast(source(nn, own, *slide.points(places, inside)), wide)
        return te.sum(value * ir.cast(w(ff, channel, *inside), wide), axis=(channel, *inside))

    result = define_stage((shape[0], filters[0], *sizes), at, "conv", tag="complex")
    if bias is not None:
        check_rank(bias, 1, "conv")
        check_equal(
            extents(bias)[0], filters[0], f"conv: {bias.name!r} needs one value for each filter"
        )
        result = add(result, reshape(bias, (filters[0], *(1,) * len(sizes))))
    return result if wide == narrow else cast(result, narrow)


def _sampled(x: Tensor, strides: Sequence[int]) -> Tensor:
    """Subsample the input of a filter of one element, so that the filter reads consecutive
    elements."""
    rank = len(strides)
    return strided_slice(x, [0] * rank, [None] * rank, strides, range(2, 2 + rank))


def _per_group(x: Tensor, w: Tensor, groups: int) -> "int | Expr":
    """Return the number of filters of a group, and check the number of channels."""
    channels, (filters, own) = extents(x)[1], extents(w)[:2]
    check_equal(
        channels,
        own * groups,
        f"conv: channels of {x.name!r} and of {w.name!r} times {groups} must agree",
    )
    if groups < 1 or (isinstance(filters, int) and filters % groups):
        raise ShapeError(
            f"conv: {filters} filters cannot be divided into {groups} groups",
            span=user_span("conv"),
        )
    return filters // groups
