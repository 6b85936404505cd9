"""Apply a plan of panels: pack columns, keep a tile of sums in registers, finish it in place."""

import math

from irkit.autoschedule.epilogue import epilogue_of
from irkit.autoschedule.products.padded_factors import PaddedFactors
from irkit.autoschedule.products.plan import Panels
from irkit.autoschedule.products.recognise import MatrixProduct
from irkit.autoschedule.structure import divides, estimate
from irkit.autoschedule.threads import WORTH
from irkit.ir import Expr, as_int
from irkit.schedule import BlockRef, LoopRef, Schedule, only_store, variables

_ENOUGH = 4
"""Panels of columns that are enough for the threads, so that rows need not be distributed."""

_COPIED_TILES = 16
"""Tiles of rows that are copied together."""


def apply_panels(sch: Schedule, product: MatrixProduct, plan: Panels) -> None:
    """Schedule a product by a plan.

    A last tile of rows overlaps the one before it, or is guarded: where rows run in parallel, and
    where their number is not constant. Packed columns are padded with zeros.
    """
    ref = BlockRef(product.block.name)
    rows, columns, _ = product.sizes
    panel, stack, epilogue = _packed(sch, product, plan)
    # A tile of a transposed product goes to memory as vectors, and from there as elements.
    stage = sch.cache_write(ref) if product.is_turned else None
    rows = rows if stack is None else -(-rows // plan.rows) * plan.rows
    axes = [axis.var.name for axis in product.block.axes]
    by_axis = dict(zip(axes, sch.get_loops(ref), strict=True))
    row = None if product.rows is None else by_axis.pop(product.rows.var.name)
    column = by_axis.pop(product.columns.var.name)
    step = by_axis.pop(product.steps.var.name)
    outer = list(by_axis.values())
    far, near, lane = sch.split(column, [None, plan.vectors, plan.lanes])
    place, tiles, inner = far, None, [near, lane]
    repeated, apart = _open_rows(product), False
    if row is None:
        sch.reorder(*outer, far, step, near, lane)
    elif plan.by_rows:
        sch.reorder(*outer, row, far, step, near, lane)
        # Rows that overlap cannot run on several threads.
        work = math.prod(
            estimate(axis.extent, product.estimates) or 1 for axis in product.block.axes
        )
        overlaps = rows % plan.rows and work < WORTH and not repeated
        tiles, low = sch.split(row, [None, plan.rows], tail="shift" if overlaps else "guard")
        apart = rows % plan.rows > 0 and not overlaps
        sch.reorder(far, step, low, near, lane)
        inner.insert(0, low)
    else:
        sch.reorder(*outer, far, row, step, near, lane)
        overlaps = rows % plan.rows and -(-columns // plan.columns) >= _ENOUGH and not repeated
        tiles, low = sch.split(row, [None, plan.rows], tail="shift" if overlaps else "guard")
        apart = rows % plan.rows > 0 and not overlaps
        place = tiles
        sch.reorder(step, low, near, lane)
        inner.insert(0, low)
    if stage is not None:
        sch.reverse_compute_at(stage, place)
    sch.reverse_compute_at(epilogue, place)
    if panel is not None:
        if not plan.by_rows:
            sch.compute_at(panel, far)
        elif outer:
            sch.compute_at(panel, outer[-1])
        _mark_panel(sch, panel, product, plan)
    sch.overcompute(ref, repeat=repeated)
    first = sch.decompose_reduction(ref, step)
    sch.set_scope(ref, "local")
    if stage is not None:
        at = product.position_in_result()
        for each in (ref, stage):
            _move_last(sch, each, at)
    # No step tests whether its row exists.
    if tiles is not None and product.sizes[0] > plan.rows and (repeated or apart):
        sch.annotate(tiles, "partition", True)
    if plan.cut:
        sch.annotate(far, "partition", True)
    around = len(outer) + (1 if row is None else 2)
    for each in (ref, first):
        _mark_tile(sch, each, len(inner))
    _mark_epilogue(sch, stage or epilogue, around, plan)
    if stage is not None:
        _neighbours_last(sch, epilogue, sch.get_loops(epilogue)[around:])


def _neighbours_last(sch: Schedule, block: BlockRef, loops: list[LoopRef]) -> None:
    """Make the loop over neighbours in what a block writes the innermost, and unroll it."""
    found = sch.get(block)
    store = only_store(found)
    assert store is not None
    last = next(axis for axis in found.axes if axis.var is store.indices[-1])
    used = variables(last.binding)
    near = [loop for loop in loops if loop.var in used]
    sch.reorder(*(loop for loop in loops if loop not in near), *near)
    sch.unroll(near[-1])


def _open_rows(product: MatrixProduct) -> list[int]:
    """Return the position of the rows among the axes if their number is not constant: a last tile
    then computes its last row several times, without a test in each step."""
    axes = product.block.axes
    found = None if product.rows is None else product.rows
    return [at for at, axis in enumerate(axes) if axis is found and as_int(axis.extent) is None]


def _packed(
    sch: Schedule, product: MatrixProduct, plan: Panels
) -> tuple[BlockRef | None, BlockRef | None, BlockRef]:
    """Copy what the plan says; return the blocks that copy columns and rows, and the epilogue."""
    ref = BlockRef(product.block.name)
    epilogue = epilogue_of(sch, product.block, product.store)
    made = PaddedFactors()
    by = {product.columns.var: plan.columns if plan.packed else 1}
    if product.rows is not None and plan.stacked:
        by[product.rows.var] = plan.rows
    padding = [by.get(axis.var, 1) for axis in product.block.axes]
    pairs = zip(product.block.axes, padding, strict=True)
    if any(each > 1 and not divides(each, axis.extent) for axis, each in pairs):
        *_, unpad = made.pad(sch, product, padding)
        if epilogue is not None:
            sch.reverse_compute_inline(epilogue)
        epilogue = unpad
    panel = made.copy(sch, product, product.wide) if plan.packed else None
    stack = made.copy(sch, product, product.tall) if plan.stacked else None
    if panel is not None and not product.wide.is_contiguous_along(product.columns):
        _move_last(sch, panel, product.wide.position_of(product.columns))
    if stack is not None and product.rows is not None:
        _stack(sch, stack, product, plan.rows)
    return panel, stack, epilogue or sch.cache_write(ref)


def _move_last(sch: Schedule, block: BlockRef, at: int) -> None:
    """Lay out what a block writes such that neighbours along a dimension are neighbours."""

    def moved(*own: Expr) -> list[Expr]:
        return [*own[:at], *own[at + 1 :], own[at]]

    sch.transform_layout(block, moved)


def _stack(sch: Schedule, stack: BlockRef, product: MatrixProduct, rows: int) -> None:
    """Lay out the rows tile by tile, the rows of a step together.

    The copy reads lines of several tiles in each step: steps may be pages apart.
    """
    assert product.rows is not None
    at, step = product.tall.position_of(product.rows), product.tall.position_of(product.steps)

    def by_tile(*own: Expr) -> list[Expr]:
        rest = [index for n, index in enumerate(own) if n not in (at, step)]
        return [*rest, own[at] // rows, own[step], own[at] % rows]

    sch.transform_layout(stack, by_tile)
    loops = sch.get_loops(stack)
    far, tile, near = sch.split(loops[at], [None, _COPIED_TILES, rows])
    sch.reorder(far, loops[step], tile, near)
    sch.vectorize(near)


def _mark_panel(sch: Schedule, panel: BlockRef, product: MatrixProduct, plan: Panels) -> None:
    at = product.wide.position_of(product.columns)
    loops = sch.get_loops(panel)[-len(product.wide.load.indices) :]
    if not product.wide.is_contiguous_along(product.columns):
        return
    near, lane = sch.split(loops[at], [None, plan.lanes])
    sch.unroll(near)
    sch.vectorize(lane)


def _mark_tile(sch: Schedule, block: BlockRef, depth: int) -> None:
    *unrolled, lane = sch.get_loops(block)[-depth:]
    for loop in unrolled:
        sch.unroll(loop)
    sch.vectorize(lane)


def _mark_epilogue(sch: Schedule, epilogue: BlockRef, around: int, plan: Panels) -> None:
    *unrolled, lane = sch.get_loops(epilogue)[around:]
    if as_int(sch.loop(lane).end) != plan.lanes:
        near, lane = sch.split(lane, [None, plan.lanes])
        unrolled.append(near)
    for loop in unrolled:
        sch.unroll(loop)
    sch.vectorize(lane)
