"""Unpack vectors of weights in registers, for all rows of a tile, and scale the sum of a block."""

from irkit.autoschedule.epilogue import epilogue_of
from irkit.autoschedule.machine import Machine
from irkit.autoschedule.scaled_products.plan import ScaledPlan, scaled_plan
from irkit.autoschedule.scaled_products.recognise import ScaledProduct, scaled_product_of
from irkit.autoschedule.structure import Estimates, reduce_axes
from irkit.core import ScheduleError
from irkit.ir import Block, as_int, is_const
from irkit.schedule import BlockRef, LoopRef, Schedule

_ENOUGH = 4
"""Panels that are enough for the threads, so that tiles of rows may overlap."""


def schedule_scaled_product(
    sch: Schedule, block: Block, machine: Machine, estimates: Estimates
) -> None:
    """Schedule a product whose blocks of steps are scaled, or leave the schedule as it is."""
    product = scaled_product_of(sch, block, estimates)
    plan = None if product is None else scaled_plan(product, machine)
    if product is not None and plan is not None:
        _apply(sch, product, plan)


def _apply(sch: Schedule, product: ScaledProduct, plan: ScaledPlan) -> None:
    sums, total = BlockRef(product.sums.name), BlockRef(product.total.name)
    epilogue = epilogue_of(sch, product.total, product.store) or sch.cache_write(total)
    loops = sch.get_loops(total)
    if len(loops) != len(product.total.axes):
        raise ScheduleError(f"an axis of block {total.name!r} has no loop of its own")
    by_axis = {axis.var.name: loop for axis, loop in zip(product.total.axes, loops, strict=True)}
    group = by_axis.pop(product.groups.var.name)
    column = by_axis.pop(product.columns.var.name)
    row = None if product.rows is None else by_axis.pop(product.rows.var.name)
    far, near, lane = sch.split(column, [None, plan.vectors, plan.lanes])
    outer, inner, tiles = list(by_axis.values()), [near, lane], None
    place = outer[-1] if outer else far
    repeated: list[int] = []
    guarded = False
    # All rows use a panel before the next one comes from memory.
    sch.reorder(far, *outer, *([] if row is None else [row]), group, near, lane)
    if row is not None and product.rows is not None:
        extent = as_int(product.rows.extent)
        repeated = [product.total.axes.index(product.rows)] if extent is None else []
        panels = -(-(as_int(product.columns.extent) or 1) // plan.vectors // plan.lanes)
        overlaps = extent is not None and extent % plan.rows > 0 and panels >= _ENOUGH
        guarded = extent is None or (extent % plan.rows > 0 and not overlaps)
        tiles, low = sch.split(row, [None, plan.rows], tail="shift" if overlaps else "guard")
        inner.insert(0, low)
        place = tiles
        sch.reorder(group, *inner)
    sch.reverse_compute_at(epilogue, place)
    sch.overcompute(total, repeat=repeated)
    start = sch.decompose_reduction(total, group)
    sch.compute_at(sums, group)
    if tiles is not None and guarded and plan.rows > 1:
        sch.annotate(tiles, "partition", True)
    first = _unpack(sch, product, plan, group)
    for each in (total, sums):
        sch.set_scope(each, "local")
    for each in (total, start):
        _mark(sch, sch.get_loops(each)[-len(inner) :])
    for each in (sums, first):
        _mark(sch, sch.get_loops(each)[-3:])
    around = len(outer) + (1 if tiles is None else 2)
    _mark_epilogue(sch, epilogue, around, plan)


def _unpack(sch: Schedule, product: ScaledProduct, plan: ScaledPlan, group: LoopRef) -> BlockRef:
    """Order the loops of a block of steps around a tile; return the block that begins its sums."""
    ref = BlockRef(product.sums.name)
    found = sch.get(ref)
    loops = sch.get_loops(ref)
    own = loops[[loop.var for loop in loops].index(group.var) + 1 :]
    steps = own[len(own) - len(reduce_axes(found)) :]
    *lead, _, column = own[: len(own) - len(steps)]
    rows = [loop for loop in lead if not is_const(sch.loop(loop).end, 1)]
    if len(rows) > 1:
        raise ScheduleError(f"tiles of block {ref.name!r} have several axes of rows")
    low = rows[0] if rows else lead[-1] if lead else None
    near, lane = sch.split(column, [None, plan.lanes])
    sch.reorder(*steps, *([] if low is None else [low]), near, lane)
    if plan.ahead:
        far = steps[0] if is_const(product.groups.extent, 1) else group
        inside = None if far is steps[0] else steps[0]
        sch.prefetch(ref, product.wide.buffer.name, far, plan.ahead, inside=inside)
    first = sch.decompose_reduction(ref, steps[0])
    for loop in steps[1:]:
        sch.unroll(loop)
    return first


def _mark(sch: Schedule, loops: list[LoopRef]) -> None:
    """Unroll loops, and vectorize the last one."""
    *unrolled, lane = loops
    for loop in unrolled:
        sch.unroll(loop)
    sch.vectorize(lane)


def _mark_epilogue(sch: Schedule, epilogue: BlockRef, around: int, plan: ScaledPlan) -> None:
    *unrolled, last = sch.get_loops(epilogue)[around:]
    near, lane = sch.split(last, [None, plan.lanes])
    _mark(sch, [*unrolled, near, lane])
