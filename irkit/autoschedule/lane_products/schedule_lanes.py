"""Keep a tile of sums in registers, with vectors from an operand that is packed for them."""

from contextlib import suppress

from irkit.autoschedule.epilogue import epilogue_of
from irkit.autoschedule.lane_products.plan import LanePlan, lane_plan
from irkit.autoschedule.lane_products.recognise import LaneProduct, lane_product_of
from irkit.autoschedule.machine import Machine
from irkit.autoschedule.structure import Estimates, reduce_axes
from irkit.autoschedule.tiles import copy_read, merge_rows, own_loops, separate_groups
from irkit.core import ScheduleError
from irkit.ir import Block, as_int
from irkit.schedule import BlockRef, LoopRef, Schedule


def schedule_lanes(sch: Schedule, block: Block, machine: Machine, _estimates: Estimates) -> None:
    """Schedule a product of elements by vectors, or leave the schedule as it is."""
    product = lane_product_of(block, machine)
    if product is None:
        return
    ref = BlockRef(block.name)
    epilogue = epilogue_of(sch, block, product.store) or sch.cache_write(ref)
    separate_groups(sch, ref, epilogue)
    product = lane_product_of(sch.get(ref), machine)
    if product is not None and len(product.rows) > 1:
        merge_rows(sch, ref, epilogue, product.rows[-2], product.rows[-1])
        product = lane_product_of(sch.get(ref), machine)
    plan = None if product is None else lane_plan(product, machine)
    if product is None or plan is None:
        raise ScheduleError(f"no tile of block {block.name!r} fits into the registers", at=block)
    _apply(sch, epilogue, product, plan)


def _apply(sch: Schedule, epilogue: BlockRef, product: LaneProduct, plan: LanePlan) -> None:
    block = product.block
    ref = BlockRef(block.name)
    loops = own_loops(sch, block)
    if loops is None:
        raise ScheduleError(f"an axis of block {block.name!r} has no loop of its own", at=block)
    by_axis = {axis.var: loop for axis, loop in zip(block.axes, loops, strict=True)}
    steps = [by_axis[axis.var] for axis in reduce_axes(block)]
    outer = [by_axis[axis.var] for axis in (*product.others, *product.rows[:-2])]
    columns = [by_axis[axis.var] for axis in product.columns]
    rows = [by_axis[axis.var] for axis in product.rows[-2:]]
    inner: list[LoopRef] = []
    if columns:
        columns[-1], several = sch.split(columns[-1], [None, plan.columns])
        inner.append(several)
    inner += sch.split(by_axis[product.line.var], [product.vectors, product.lanes])
    around, rows[0] = sch.split(rows[0], [plan.blocks, None])
    sch.reorder(*outer, around, *columns, *rows, *steps, *inner)
    # A last tile overlaps the one before it, so the loop over tiles moves no more.
    tile: list[LoopRef] = []
    sizes = (plan.high, plan.wide)[-len(rows) :]
    cut = len(rows) - (2 if plan.high > 1 else 1)
    for at, size in enumerate(sizes):
        apart = plan.apart and at == cut
        rows[at], low = sch.split(rows[at], [None, size], tail="guard" if apart else "shift")
        if apart:
            sch.annotate(rows[at], "partition", True)
        tile.append(low)
        sch.reorder(*rows[at + 1 :], *steps, *tile, *inner)
    place = rows[-1]
    copy = copy_read(sch, product.tall)
    if copy is not None and plan.blocks > 1:
        with suppress(ScheduleError):
            sch.compute_at(copy, around)
    if columns and plan.fetches and len(steps) > 1:
        tiles = max(rows, key=lambda loop: as_int(sch.loop(loop).end) or 1)
        wide = product.wide.buffer
        sch.prefetch(ref, wide, columns[-1], inside=steps[-2], among=tiles)
    sch.reverse_compute_at(epilogue, place)
    start = sch.decompose_reduction(ref, steps[0])
    sch.set_scope(ref, "local")
    depth = len(tile) + len(inner)
    for each in (ref, start):
        *unrolled, last = sch.get_loops(each)[-depth:]
        for loop in unrolled:
            sch.unroll(loop)
        sch.vectorize(last)
    _mark_epilogue(sch, epilogue, place, product)


def _mark_epilogue(sch: Schedule, epilogue: BlockRef, place: LoopRef, product: LaneProduct) -> None:
    loops = sch.get_loops(epilogue)
    *unrolled, last = loops[[loop.var for loop in loops].index(place.var) + 1 :]
    line, lane = sch.split(last, [None, product.lanes])
    for loop in (*unrolled, line):
        sch.unroll(loop)
    sch.vectorize(lane)
