"""Keep a tile of sums in registers, with vectors from an operand that is packed for them."""

from irkit.autoschedule.epilogue import epilogue_of
from irkit.autoschedule.lane_products.plan import LanePlan, lane_plan
from irkit.autoschedule.lane_products.recognise import LaneProduct, lane_product_of, size_of
from irkit.autoschedule.machine import Machine
from irkit.autoschedule.structure import Estimates, reduce_axes
from irkit.autoschedule.tiles import merge_rows, own_loops
from irkit.core import ScheduleError
from irkit.ir import Block
from irkit.schedule import BlockRef, LoopRef, Schedule


def schedule_lanes(sch: Schedule, block: Block, machine: Machine, _estimates: Estimates) -> None:
    """Schedule a product of elements by vectors, or leave the schedule as it is."""
    product = lane_product_of(block, machine)
    if product is None:
        return
    ref = BlockRef(block.name)
    epilogue = epilogue_of(sch, block, product.store) or sch.cache_write(ref)
    if len(product.rows) > 1:
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
    far: list[LoopRef] = []
    inner: list[LoopRef] = []
    row = product.rows[-1]
    if len(product.rows) > 1:
        tall = product.rows[-2]
        first, near, high = _split(sch, by_axis[tall.var], size_of(tall), plan.around, plan.high)
        line = by_axis[row.var]
        place, low = sch.split(line, [None, plan.wide], tail="shift")
        far, around, tile = [near, place], first, [high, low]
    else:
        around, place, low = _split(sch, by_axis[row.var], size_of(row), plan.around, plan.wide)
        far, tile = [place], [low]
    if columns:
        last, several = sch.split(columns[-1], [None, plan.columns])
        columns[-1] = last
        inner.append(several)
    line, lane = sch.split(by_axis[product.line.var], [product.vectors, product.lanes])
    sch.reorder(*outer, around, *columns, *far, *steps, *tile, *inner, line, lane)
    sch.reverse_compute_at(epilogue, place)
    sch.overcompute(ref)
    start = sch.decompose_reduction(ref, steps[0])
    sch.set_scope(ref, "local")
    depth = len(tile) + len(inner) + 2
    for each in (ref, start):
        *unrolled, last = sch.get_loops(each)[-depth:]
        for loop in unrolled:
            sch.unroll(loop)
        sch.vectorize(last)
    _mark_epilogue(sch, epilogue, place, product)


def _split(
    sch: Schedule, loop: LoopRef, extent: int, around: int, size: int
) -> tuple[LoopRef, LoopRef, LoopRef]:
    """Split a loop over rows into blocks of tiles; the last tile overlaps the one before."""
    tiles = -(-extent // size)
    if (extent % size and tiles % around == 0) or around >= tiles:
        far, low = sch.split(loop, [None, size], tail="shift")
        first, near = sch.split(far, [None, min(around, tiles)])
        return first, near, low
    if extent % (size * around) == 0:
        first, near, low = sch.split(loop, [None, around, size])
        return first, near, low
    first, rest = sch.split(loop, [None, around * size], tail="shift")
    near, low = sch.split(rest, [None, size], tail="shift")
    return first, near, low


def _mark_epilogue(sch: Schedule, epilogue: BlockRef, place: LoopRef, product: LaneProduct) -> None:
    loops = sch.get_loops(epilogue)
    *unrolled, last = loops[[loop.var for loop in loops].index(place.var) + 1 :]
    line, lane = sch.split(last, [None, product.lanes])
    for loop in (*unrolled, line):
        sch.unroll(loop)
    sch.vectorize(lane)
