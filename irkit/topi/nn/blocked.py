"""Convolution of tensors whose channels are cut into blocks of a vector's lanes."""

from collections.abc import Sequence

from irkit import ir, te
from irkit.ir import Expr
from irkit.te import IterVar, Tensor, define_stage, reduce_axis
from irkit.topi.elementwise import cast
from irkit.topi.extents import (
    Dim,
    accumulator,
    ceil_divide,
    check_equal,
    check_rank,
    extents,
)
from irkit.topi.nn.window import Window, check_sizes, window
from irkit.topi.shape import pad


def block_channels(x: Tensor, lanes: int) -> Tensor:
    """Cut channels into blocks; those beyond the last are 0.

    Shapes: x [N, C, D...] -> [N, (C + lanes - 1) // lanes, D..., lanes].
    """
    check_rank(x, 2, "block_channels", at_least=True)
    channels = extents(x)[1]
    blocks = ceil_divide(channels, lanes)

    def at(n: IterVar, block: IterVar, *rest: IterVar) -> Expr:
        *place, lane = rest
        channel = block * lanes + lane
        if isinstance(channels, int) and channels % lanes == 0:
            return x(n, channel, *place)
        zero = ir.const(0, x.dtype)
        return ir.if_then_else(ir.lt(channel, channels), x(n, channel, *place), zero)

    shape = (x.shape[0], blocks, *x.shape[2:], lanes)
    return define_stage(shape, at, "block_channels", tag="injective")


def unblock_channels(x: Tensor, channels: int) -> Tensor:
    """Join blocks of channels, and leave out those beyond ``channels``.

    Shapes: x [N, B, D..., lanes] -> [N, channels, D...].
    """
    check_rank(x, 3, "unblock_channels", at_least=True)
    lanes = extents(x)[-1]

    def at(n: IterVar, channel: IterVar, *place: IterVar) -> Expr:
        return x(n, channel // lanes, *place, channel % lanes)

    shape = (x.shape[0], channels, *x.shape[2:-1])
    return define_stage(shape, at, "unblock_channels", tag="injective")


def conv_blocked(
    x: Tensor,
    w: Tensor,
    bias: Tensor | None = None,
    *,
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
) -> Tensor:
    """Convolve blocks of channels with packed filters.

    Shapes: x [N, B, D..., c] or, with B = 1, [N, c, D...], w [K, B, R..., c, k], bias [K, k]
    -> [N, K, P..., k]; P as in ``conv``.
    Raises: ShapeError if x and w disagree about B or c, or the filter does not fit.
    """
    rank = w.ndim - 4
    is_blocked = x.ndim == rank + 3
    check_rank(x, rank + 3 if is_blocked else rank + 2, "conv_blocked")
    shape, filters = extents(x), extents(w)
    check_equal(shape[-1] if is_blocked else shape[1], filters[-2], "conv_blocked: channels")
    check_equal(shape[1] if is_blocked else 1, filters[1], "conv_blocked: blocks of channels")
    slide = window(filters[2:-2], strides, pads, dilations, "conv_blocked")
    source, sizes = slid(x, slide, shape[2 : 2 + rank], "conv_blocked")
    inside = slide.axes()
    block = reduce_axis((0, filters[1]), name="rb")
    channel = reduce_axis((0, filters[-2]), name="rc")
    wide = accumulator(x.dtype)

    def at(n: IterVar, f: IterVar, *rest: IterVar) -> Expr:
        *places, lane = rest
        point = slide.points(places, inside)
        value = source(n, block, *point, channel) if is_blocked else source(n, channel, *point)
        factor = w(f, block, *inside, channel, lane)
        total = ir.cast(value, wide) * ir.cast(factor, wide)
        return te.sum(total, axis=(block, *inside, channel))

    made = define_stage(
        (shape[0], filters[0], *sizes, filters[-1]), at, "conv_blocked", tag="complex"
    )
    return finished(made, bias, x)


def depthwise_blocked(
    x: Tensor,
    w: Tensor,
    bias: Tensor | None = None,
    *,
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
) -> Tensor:
    """Convolve each channel with a filter of its own.

    Shapes: x [N, B, D..., c], w [B, R..., c], bias [B, c] -> [N, B, P..., c].
    Raises: ShapeError if x and w disagree about B or c, or the filter does not fit.
    """
    check_rank(x, w.ndim + 1, "depthwise_blocked")
    shape, filters = extents(x), extents(w)
    check_equal(shape[-1], filters[-1], "depthwise_blocked: channels")
    check_equal(shape[1], filters[0], "depthwise_blocked: blocks of channels")
    slide = window(filters[1:-1], strides, pads, dilations, "depthwise_blocked")
    source, sizes = slid(x, slide, shape[2:-1], "depthwise_blocked")
    inside = slide.axes()
    wide = accumulator(x.dtype)

    def at(n: IterVar, b: IterVar, *rest: IterVar) -> Expr:
        *places, lane = rest
        value = source(n, b, *slide.points(places, inside), lane)
        factor = w(b, *inside, lane)
        return te.sum(ir.cast(value, wide) * ir.cast(factor, wide), axis=inside)

    made = define_stage((*shape[:2], *sizes, shape[-1]), at, "depthwise_blocked", tag="complex")
    return finished(made, bias, x)


def slid(
    x: Tensor, slide: Window, dims: Sequence[Dim], what: str
) -> tuple[Tensor, tuple[Dim, ...]]:
    """Return what windows slide over, with its padding, and the number of their positions."""
    sizes = slide.sizes(dims)
    check_sizes(sizes, what)
    if not any((*slide.begins, *slide.ends)):
        return x, sizes
    rest = (0,) * (x.ndim - 2 - len(sizes))
    return pad(x, (0, 0, *slide.begins, *rest), (0, 0, *slide.ends, *rest)), sizes


def finished(made: Tensor, bias: Tensor | None, x: Tensor) -> Tensor:
    """Return sums with what is added to each filter, in the type of x."""
    total = made
    if bias is not None:
        check_equal(extents(bias)[0], extents(made)[1], f"{made.name}: blocks of {bias.name!r}")
        check_equal(extents(bias)[1], extents(made)[-1], f"{made.name}: lanes of {bias.name!r}")

        def shifted(n: IterVar, f: IterVar, *rest: IterVar) -> Expr:
            return made(n, f, *rest) + bias(f, rest[-1])

        total = define_stage(made.shape, shifted, "add", tag="broadcast")
    return total if total.dtype == x.dtype else cast(total, x.dtype)
