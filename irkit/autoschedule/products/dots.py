"""Apply a plan of dot products: lanes along the steps, a tile of sums of rows by columns.

Both operands are read along the steps, where neighbours are neighbours in memory. The lanes of each
sum are added up when the tile is finished.
"""

from irkit.autoschedule.epilogue import epilogue_of
from irkit.autoschedule.products.padded_factors import PaddedFactors
from irkit.autoschedule.products.plan import Dots
from irkit.autoschedule.products.recognise import Factor, MatrixProduct
from irkit.autoschedule.structure import divides, spatial_axes
from irkit.ir import Axis, Expr
from irkit.schedule import BlockRef, Schedule

_EVEN = 8
"""Tiles of rows that are enough for the threads."""
_SHORT = 4
"""Lanes that are added up one by one."""


def apply_dots(sch: Schedule, product: MatrixProduct, plan: Dots) -> None:
    """Schedule a product by a plan.

    A last vector of steps is padded with zeros, a last tile of columns is guarded.
    """
    ref = BlockRef(product.block.name)
    spatial = spatial_axes(product.block)
    epilogue = epilogue_of(sch, product.block, product.store)
    _lay_out(sch, product, plan)
    by_axis = dict(
        zip([axis.var.name for axis in product.block.axes], sch.get_loops(ref), strict=True)
    )
    _, inner = sch.split(by_axis[product.steps.var.name], [None, plan.width])
    part = sch.rfactor(inner, len(spatial))
    half = _halved(sch, ref, plan, len(spatial))
    *loops, lane = sch.get_loops(ref)
    outer = list(loops)
    column = outer.pop(spatial.index(product.columns))
    far, near = sch.split(column, [None, plan.columns])
    place, tile = far, [near]
    sch.reorder(*outer, far, near, lane)
    if product.rows is not None:
        row = loops[spatial.index(product.rows)]
        outer.remove(row)
        sch.reorder(*outer, far, row, near, lane)
        tiles, low = sch.split(row, [None, plan.rows])
        place = tiles
        if _rows_outside(product, plan):
            sch.reorder(tiles, far, low, near, lane)
            place = far
        tile.insert(0, low)
    if half is not None:
        sch.compute_at(half, place)
    sch.compute_at(part, place)
    rows = [] if product.rows is None else [spatial.index(product.rows)]
    # No mask: masked loads of rows beyond a matrix took half of the time of a product.
    repeated = [at for at in rows if not divides(plan.rows, spatial[at].extent)]
    sch.overcompute(part, repeat=repeated)
    if product.has_open_rows and product.sizes[0] > plan.rows:
        sch.annotate(place, "partition", True)
    if half is not None:
        sch.overcompute(half)
    if half is not None:
        _mark_halved(sch, half, len(spatial))
    _mark_sums(sch, part, product, plan, len(outer) + len(tile))
    for loop in (*tile, lane):
        sch.unroll(loop)
    if epilogue is not None:
        sch.reverse_compute_at(epilogue, place)


def _rows_outside(product: MatrixProduct, plan: Dots) -> bool:
    """Return True if tiles of rows are the outer loop: for each of these the other operand comes
    from a cache farther than first, so the longer side of a tile is the one to stay."""
    tiles = 0 if product.has_open_rows else product.sizes[0] // plan.rows
    return plan.rows > plan.columns and tiles >= _EVEN


def _halved(sch: Schedule, ref: BlockRef, plan: Dots, rank: int) -> BlockRef | None:
    """Add up the lanes as shorter vectors first; None if they are short."""
    if plan.width <= _SHORT:
        return None
    _, inner = sch.split(sch.get_loops(ref)[-1], [None, _SHORT])
    return sch.rfactor(inner, rank)


def _mark_halved(sch: Schedule, half: BlockRef, rank: int) -> None:
    *tile, lane, step = sch.get_loops(half)[-rank - 2 :]
    sch.reorder(step, *tile, lane)
    first = sch.decompose_reduction(half, step)
    sch.set_scope(half, "local")
    for each in (half, first):
        *unrolled, last = sch.get_loops(each)[-rank - 2 if each is half else -rank - 1 :]
        for loop in unrolled:
            sch.unroll(loop)
        sch.vectorize(last)


def _lay_out(sch: Schedule, product: MatrixProduct, plan: Dots) -> None:
    """Pad the steps to whole vectors, and copy an operand whose steps are not neighbours."""
    padded = PaddedFactors()
    if not divides(plan.width, product.steps.extent):
        padding = [plan.width if axis is product.steps else 1 for axis in product.block.axes]
        padded.pad(sch, product, padding)
    for each in (product.tall, product.wide):
        made = padded.get(each)
        if not each.is_contiguous_along(product.steps):
            _steps_last(sch, padded.copy(sch, product, each), each, product.steps)
        elif made is not None:
            sch.compute_inline(made)


def _steps_last(sch: Schedule, copy: BlockRef, operand: Factor, steps: Axis) -> None:
    at = operand.position_of(steps)

    def moved(*own: Expr) -> list[Expr]:
        return [*own[:at], *own[at + 1 :], own[at]]

    sch.transform_layout(copy, moved)


def _mark_sums(
    sch: Schedule, part: BlockRef, product: MatrixProduct, plan: Dots, around: int
) -> None:
    spatial = len(spatial_axes(product.block))
    own = sch.get_loops(part)[-spatial - 2 :]
    *tile, lane, step = own
    sch.reorder(step, *tile, lane)
    sch.split(lane, [plan.unroll, plan.lanes])
    first = sch.decompose_reduction(part, step)
    sch.set_scope(part, "local")
    for each in (part, first):
        *unrolled, last = sch.get_loops(each)[-spatial - 2 :]
        for loop in unrolled:
            sch.unroll(loop)
        sch.vectorize(last)
