"""Tensors of graphs in blocks of channels, and convolutions on them."""

import numpy as np

from irkit.fuzz.generators.graphs.narrow_products import window
from irkit.fuzz.generators.graphs.values import GraphTensor, GraphValues
from irkit.ir import as_int

_LANES = (2, 4, 3, 1)


def _blocks(g: GraphValues) -> GraphTensor:
    """Pick an image, or make one of few numbers, of one or two spatial axes and lanes."""
    x = g.floats(4 + g.picks.below(2))
    known = all(as_int(extent) is not None for extent in x.shape[1:])
    return x if known else g.fresh((1, 2, 3, 4, 2), str(x.dtype))


def block_channels(g: GraphValues, name: str) -> object:
    """Cut channels into blocks that they may not fill."""
    x = g.floats(2 + g.picks.below(3))
    lanes = g.picks.pick(_LANES)
    if as_int(x.shape[1]) is None or not g.fits(*x.sizes, lanes):
        return None
    return g.op(name, x, bound=x.bound, lanes=lanes)


def unblock_channels(g: GraphValues, name: str) -> object:
    """Join blocks of channels, perhaps not all of the last block."""
    x = _blocks(g)
    blocks, lanes = x.sizes[1], x.sizes[-1]
    return g.op(name, x, bound=x.bound, channels=blocks * lanes - g.picks.below(lanes))


def conv_blocked(g: GraphValues, name: str) -> object:
    """Convolve blocks of channels by packed filters."""
    x, lanes = _blocks(g), g.picks.pick(_LANES)
    spatial = x.rank - 3
    kernel = [1 + g.picks.below(3) for _ in range(spatial)]
    shape = [1 + g.picks.below(2), x.sizes[1], *kernel, x.sizes[-1], lanes]
    w = g.constant(g.numbers(shape, str(x.dtype)), 3)
    bound = x.bound * w.bound * int(np.prod(shape[1:-1]))
    if g.over(x.dtype, bound) or not g.fits(*x.sizes, lanes):
        return None
    return g.op(name, x, w, *_bias(g, x, shape[0], lanes), bound=bound + 3, **window(g, spatial))


def depthwise_blocked(g: GraphValues, name: str) -> object:
    """Convolve each channel of blocks by a filter of its own."""
    x = _blocks(g)
    spatial = x.rank - 3
    kernel = [1 + g.picks.below(3) for _ in range(spatial)]
    w = g.constant(g.numbers([x.sizes[1], *kernel, x.sizes[-1]], str(x.dtype)), 3)
    bound = x.bound * w.bound * int(np.prod(kernel))
    if g.over(x.dtype, bound) or not g.fits(*x.sizes):
        return None
    bias = _bias(g, x, x.sizes[1], x.sizes[-1])
    return g.op(name, x, w, *bias, bound=bound + 3, **window(g, spatial))


def gather_channels(g: GraphValues, name: str) -> object:
    """Pick channels of blocks, some of which are there several times or nowhere."""
    x = _blocks(g)
    blocks, lanes = 1 + g.picks.below(2), g.picks.pick(_LANES)
    table = _table(g, x, blocks, lanes)
    if not g.fits(*x.sizes, blocks, lanes):
        return None
    return g.op(name, x, table, bound=x.bound)


def conv_gathered(g: GraphValues, name: str) -> object:
    """Convolve channels of blocks that a table names for each group of filters."""
    x, lanes = _blocks(g), g.picks.pick(_LANES)
    spatial = x.rank - 3
    groups, own = 1 + g.picks.below(3), 1 + g.picks.below(5)
    kernel = [1 + g.picks.below(3) for _ in range(spatial)]
    shape = [groups * (1 + g.picks.below(2)), *kernel, own, lanes]
    w = g.constant(g.numbers(shape, str(x.dtype)), 3)
    bound = x.bound * w.bound * int(np.prod(shape[1:-1]))
    if g.over(x.dtype, bound) or not g.fits(*x.sizes, lanes, shape[0]):
        return None
    args = [_table(g, x, groups, own), w, *_bias(g, x, shape[0], lanes)]
    return g.op(name, x, *args, bound=bound + 3, **window(g, spatial))


def lrn_blocked(g: GraphValues, name: str) -> object:
    """Divide by sums over neighbouring channels, across the ends of blocks."""
    x = _blocks(g)
    size, beta = g.picks.pick((3, 1, 2, 9)), g.picks.pick((0.75, 0.5, 1.0, 0.6))
    return g.op(name, x, bound=x.bound, sure=False, size=size, alpha=0.5, beta=beta)


def _table(g: GraphValues, x: GraphTensor, rows: int, columns: int) -> GraphTensor:
    """Draw numbers of channels, a few of them outside."""
    most = x.sizes[1] * x.sizes[-1] + 2
    numbers = [g.picks.below(most) - 1 for _ in range(rows * columns)]
    return g.constant(np.array(numbers, np.int32).reshape(rows, columns), most)


def conv_winograd(g: GraphValues, name: str) -> object:
    """Convolve blocks of channels in tiles, by filters that are transformed already."""
    x = g.floats(5)
    known = all(as_int(extent) is not None for extent in x.shape[1:])
    if not known or str(x.dtype) not in ("f32", "f64"):
        x = g.fresh((1, 2, 3, 4, 2), "f32")
    tile, lanes = g.picks.pick((2, 4)), g.picks.pick(_LANES)
    chunks, panels, vectors = (1 + g.picks.below(2) for _ in range(3))
    sides = [x.sizes[1], x.sizes[4], vectors, lanes]
    u = g.constant(g.numbers([chunks, tile + 2, tile + 2, panels, *sides], str(x.dtype)), 3)
    pads = tuple(g.picks.below(3) for _ in range(4))
    high, wide = x.sizes[2] + pads[0] + pads[2], x.sizes[3] + pads[1] + pads[3]
    # The greatest sums of magnitudes in a row of both matrices, squared.
    bound = x.bound * u.bound * x.sizes[1] * x.sizes[4] * (36 if tile == 2 else 36100)
    if min(high, wide) < 3 or g.over(x.dtype, bound):
        return None
    blocks = chunks * panels * vectors
    if not g.fits(x.sizes[0], blocks, high, wide, lanes):
        return None
    bias = _bias(g, x, blocks, lanes)
    rows = 1 + g.picks.below(3)
    return g.op(name, x, u, *bias, bound=bound + 3, tile=tile, rows=rows, pads=pads)


def _bias(g: GraphValues, x: GraphTensor, blocks: int, lanes: int) -> tuple[GraphTensor, ...]:
    if g.picks.below(2):
        return ()
    return (g.constant(g.numbers([blocks, lanes], str(x.dtype)), 3),)
