"""Convolution with filters of 3 x 3 by Winograd's minimal filtering, in a blocked layout.

Five stages: the padded image; tiles transformed along their rows, then along their columns; the
products, one matrix for each position in a tile; results transformed back along columns, then along
rows. Blocks of tile rows are an axis of their own, so that a schedule can compute all of a block
while it is in the cache. A stage selects the value of its position; once positions are unrolled,
nothing but additions of distinct values is left.
"""

from collections.abc import Sequence

from irkit import te
from irkit.core import ShapeError, user_span
from irkit.ir import Expr, ExprLike
from irkit.te import IterVar, Tensor, define_stage, reduce_axis
from irkit.topi.extents import check_equal, check_rank, extents
from irkit.topi.shape import pad


def conv_winograd(
    x: Tensor,
    u: Tensor,
    bias: Tensor | None = None,
    *,
    tile: int,
    rows: int,
    pads: Sequence[int],
) -> Tensor:
    """Convolve blocks of channels with transformed filters of 3 x 3, in tiles of ``tile`` x
    ``tile`` results, so many ``rows`` of tiles together.

    Shapes: x [N, B, H, W, c], u [chunks, tile + 2, tile + 2, panels, B, c, vectors, k], bias [K,
    k] -> [N, K, H + top + bottom - 2, W + left + right - 2, k], K = chunks * panels * vectors.
    Raises: ShapeError if x and u disagree about B or c, or an extent but N is not constant.
    Source: Lavin and Gray, "Fast algorithms for convolutional neural networks", 2016.
    """
    check_rank(x, 5, "conv_winograd")
    check_rank(u, 8, "conv_winograd")
    shape, filters = extents(x), extents(u)
    check_equal(shape[1], filters[4], "conv_winograd: blocks of channels")
    check_equal(shape[4], filters[5], "conv_winograd: channels of a block")
    whole = tuple(each for each in (*shape[1:], *filters) if isinstance(each, int))
    if len(whole) != 12:
        raise ShapeError(
            "conv_winograd: all extents but the first must be constant",
            span=user_span("conv_winograd"),
        )
    blocks, height, width, lanes, chunks, _, _, panels, *_, vectors, outputs = whole
    top, left, bottom, right = pads
    high, wide = height + top + bottom - 2, width + left + right - 2
    across, side = -(-wide // tile), tile + 2
    down = -(-high // tile)
    groups = -(-down // rows)
    count = rows * across
    batch = shape[0]
    below = groups * rows * tile + 2 - top - height
    beside = across * tile + 2 - left - width
    padded = pad(x, (0, 0, top, left, 0), (0, 0, below, beside, 0), 0)

    def row(n: IterVar, g: IterVar, b: IterVar, t: IterVar, *at: IterVar) -> Expr:
        i, column, lane = at
        y, x = (g * rows + t // across) * tile, t % across * tile
        values = [padded(n, b, y + each, x + column, lane) for each in range(side)]
        return _picked(i, _image(values))

    image_rows = define_stage((batch, groups, blocks, count, side, side, lanes), row, "image_rows")

    def image(n: IterVar, g: IterVar, b: IterVar, *at: IterVar) -> Expr:
        i, j, t, lane = at
        return _picked(j, _image([image_rows(n, g, b, t, i, each, lane) for each in range(side)]))

    tiles = define_stage((batch, groups, blocks, side, side, count, lanes), image, "image_tiles")
    block, channel = reduce_axis((0, blocks), name="rb"), reduce_axis((0, lanes), name="rc")

    def product(n: IterVar, g: IterVar, q: IterVar, *at: IterVar) -> Expr:
        i, j, p, t, vector, lane = at
        value = tiles(n, g, block, i, j, t, channel)
        return te.sum(value * u(q, i, j, p, block, channel, vector, lane), axis=(block, channel))

    products = define_stage(
        (batch, groups, chunks, side, side, panels, count, vectors, outputs),
        product,
        "winograd_products",
        tag="complex",
    )

    def column(n: IterVar, g: IterVar, q: IterVar, p: IterVar, *at: IterVar) -> Expr:
        t, vector, y, j, lane = at
        values = [products(n, g, q, i, j, p, t, vector, lane) for i in range(side)]
        return _picked(y, _result(values))

    columns = define_stage(
        (batch, groups, chunks, panels, count, vectors, tile, side, outputs),
        column,
        "result_columns",
    )

    def result(n: IterVar, f: IterVar, y: IterVar, x: IterVar, lane: IterVar) -> Expr:
        g, t = y // (rows * tile), x // tile
        if rows > 1:
            t = y % (rows * tile) // tile * across + t
        q, p, vector = _apart(f, panels, vectors)
        values = [columns(n, g, q, p, t, vector, y % tile, j, lane) for j in range(side)]
        total = _picked(x % tile, _result(values))
        return total if bias is None else total + bias(f, lane)

    return define_stage(
        (batch, chunks * panels * vectors, high, wide, outputs), result, "conv_winograd"
    )


def _apart(f: Expr, panels: int, vectors: int) -> tuple[Expr, ExprLike, ExprLike]:
    """Return the chunk, the panel in it and the vector in that of a block of filters."""
    vector: ExprLike = f % vectors if vectors > 1 else 0
    if panels == 1:
        return f // vectors if vectors > 1 else f, 0, vector
    inside = f % (panels * vectors)
    return f // (panels * vectors), inside // vectors if vectors > 1 else inside, vector


def _picked(at: Expr, values: Sequence[Expr]) -> Expr:
    """Return the value at a position; which one is known where positions are unrolled."""
    *others, found = values
    for number in reversed(range(len(others))):
        found = te.select(te.eq(at, number), others[number], found)
    return found


def _image(d: Sequence[Expr]) -> list[Expr]:
    """Transform a line of an image's tile, of 4 or 6 values."""
    if len(d) == 4:
        return [d[0] - d[2], d[1] + d[2], d[2] - d[1], d[1] - d[3]]
    even, odd = d[4] - d[2] * 4.0, d[3] - d[1] * 4.0
    near, far = d[4] - d[2], (d[3] - d[1]) * 2.0
    first = (d[0] * 4.0 - d[2] * 5.0) + d[4]
    last = (d[1] * 4.0 - d[3] * 5.0) + d[5]
    return [first, even + odd, even - odd, near + far, near - far, last]


def _result(m: Sequence[Expr]) -> list[Expr]:
    """Transform a line of products back, into 2 or 4 values."""
    total, difference = m[1] + m[2], m[1] - m[2]
    if len(m) == 4:
        return [m[0] + total, difference - m[3]]
    more, less = m[3] + m[4], m[3] - m[4]
    first = (m[0] + total) + more
    last = (difference + less * 8.0) + m[5]
    return [first, difference + less * 2.0, total + more * 4.0, last]
