"""Channels of tensors in blocks, read where a table says that they stand."""

from collections.abc import Sequence

from irkit import ir, te
from irkit.core import ShapeError, user_span
from irkit.ir import Expr
from irkit.te import IterVar, Tensor, define_stage, reduce_axis
from irkit.topi.extents import accumulator, check_equal, check_rank, extents
from irkit.topi.nn.blocked import finished, slid
from irkit.topi.nn.window import window


def gather_channels(x: Tensor, channels: Tensor) -> Tensor:
    """Pick channels of blocks: number ``p`` is lane ``p % c`` of block ``p // c``.

    A negative number picks 0, and one beyond the last channel that channel.

    Shapes: x [N, B, D..., c], channels [K, k], of integers -> [N, K, D..., k].
    """
    check_rank(x, 3, "gather_channels", at_least=True)
    check_rank(channels, 2, "gather_channels")

    def at(n: IterVar, block: IterVar, *rest: IterVar) -> Expr:
        *place, lane = rest
        number = channels(block, lane)
        value = x(n, *_place(number, x, place))
        return ir.if_then_else(ir.ge(number, 0), value, ir.const(0, x.dtype))

    shape = (x.shape[0], channels.shape[0], *x.shape[2:-1], channels.shape[1])
    return define_stage(shape, at, "gather_channels", tag="injective")


def conv_gathered(
    x: Tensor,
    channels: Tensor,
    w: Tensor,
    bias: Tensor | None = None,
    *,
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
) -> Tensor:
    """Convolve the channels of blocks that each group of filters reads, in the order of a table;
    its numbers are those of ``gather_channels``, but negative ones are moved to 0.

    Shapes: x [N, B, D..., c], channels [G, C], of integers, w [K, R..., C, k] with K a multiple of
    G, bias [K, k] -> [N, K, P..., k]; P as in ``conv``.
    Raises: ShapeError if channels and w disagree about C or G, or the filter does not fit.
    """
    rank = w.ndim - 3
    check_rank(x, rank + 3, "conv_gathered")
    check_rank(channels, 2, "conv_gathered")
    shape, filters, (groups, own) = extents(x), extents(w), extents(channels)
    check_equal(own, filters[-2], "conv_gathered: channels of a group")
    if not isinstance(groups, int) or not isinstance(filters[0], int) or filters[0] % groups:
        raise ShapeError(
            f"conv_gathered: {filters[0]} blocks of filters cannot be divided into {groups} groups",
            span=user_span("conv_gathered"),
        )
    per_group = filters[0] // groups
    slide = window(filters[1:-2], strides, pads, dilations, "conv_gathered")
    source, sizes = slid(x, slide, shape[2:-1], "conv_gathered")
    inside = slide.axes()
    channel = reduce_axis((0, w.shape[-2]), name="rc")
    wide = accumulator(x.dtype)

    def at(n: IterVar, f: IterVar, *rest: IterVar) -> Expr:
        *places, lane = rest
        group: Expr = f // per_group if groups > 1 else ir.const(0, "i64")
        number = channels(group, channel)
        value = source(n, *_place(number, source, slide.points(places, inside)))
        factor = w(f, *inside, channel, lane)
        return te.sum(ir.cast(value, wide) * ir.cast(factor, wide), axis=(*inside, channel))

    made = define_stage(
        (shape[0], filters[0], *sizes, filters[-1]), at, "conv_gathered", tag="complex"
    )
    return finished(made, bias, x)


def _place(number: Expr, x: Tensor, place: Sequence[Expr]) -> tuple[Expr, ...]:
    """Return the indices of a channel of blocks behind that of the image: a number outside is moved
    to the nearest."""
    lanes = ir.cast(x.shape[-1], "i64")
    last = ir.cast(x.shape[1], "i64") * lanes - 1
    inside = ir.minimum(ir.maximum(ir.cast(number, "i64"), 0), last)
    return (inside // lanes, *place, inside % lanes)
