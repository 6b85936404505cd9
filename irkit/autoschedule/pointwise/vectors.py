"""Vectorize pointwise stages along the last axis, those of a stencil by several rows."""

from irkit.autoschedule.machine import Machine
from irkit.autoschedule.pointwise.stencil_rows import stencil_rows
from irkit.core import ScheduleError
from irkit.ir import Block, as_int
from irkit.schedule import BlockRef, LoopRef, Schedule, only_store


def schedule_pointwise(sch: Schedule, block: Block, machine: Machine) -> None:
    """Vectorize a pointwise stage along the last axis, and those that share its loop with it."""
    loops = sch.get_loops(BlockRef(block.name))
    if loops and _run_in_lanes(sch, loops[-1]):
        vectorize_last(sch, block, machine)


def _run_in_lanes(sch: Schedule, loop: LoopRef) -> bool:
    """Return True if all stages in a loop are pointwise, and store neighbours along it."""
    blocks = [sch.get(ref) for ref in sch.get_child_blocks(loop)]
    if len(blocks) == 1:
        return True
    ends = [(store.indices[-1], block.axes[-1]) for block in blocks if (store := only_store(block))]
    return len(ends) == len(blocks) and all(
        block.init is None and at is axis.var and axis.binding is loop.var
        for block, (at, axis) in zip(blocks, ends, strict=True)
    )


def vectorize_last(sch: Schedule, block: Block, machine: Machine) -> None:
    """Vectorize the innermost loop of a block whose last axis is the last index it stores at."""
    store = only_store(block)
    if store is None or not block.axes or block.predicate is not None:
        return
    last = block.axes[-1]
    loop = sch.get_loops(BlockRef(block.name))[-1]
    extent = as_int(sch.loop(loop).end)
    lanes = max(1, machine.vector_bytes // store.buffer.dtype.bytes)
    if (extent is not None and extent < lanes) or store.indices[-1:] != (last.var,):
        return
    rows = stencil_rows(block, machine)
    loops = sch.get_loops(BlockRef(block.name))
    if rows > 1 and len(loops) > 1 and len(sch.get_child_blocks(loops[-2])) == 1:
        _, low = sch.split(loops[-2], [None, rows])
        sch.reorder(loop, low)
        sch.unroll(low)
        lane = _lanes(sch, loop, lanes)
        sch.reorder(low, lane)
    else:
        lane = _lanes(sch, loop, lanes)
    sch.vectorize(lane)


def _lanes(sch: Schedule, loop: LoopRef, lanes: int) -> LoopRef:
    """Split lanes from a loop; the last ones overlap others where that is legal."""
    try:
        _, lane = sch.split(loop, [None, lanes], tail="shift")
    except ScheduleError:
        _, lane = sch.split(loop, [None, lanes])
    return lane
