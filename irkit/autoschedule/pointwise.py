"""Vectorize pointwise stages along the last axis."""

from irkit.autoschedule.machine import Machine
from irkit.ir import Block, as_int
from irkit.schedule import BlockRef, Schedule, only_store


def schedule_pointwise(sch: Schedule, block: Block, machine: Machine) -> None:
    """Vectorize a pointwise stage along the last axis, unless others share its loop."""
    loops = sch.get_loops(BlockRef(block.name))
    if loops and len(sch.get_child_blocks(loops[-1])) == 1:
        vectorize_last(sch, block, machine)


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
    _, lane = sch.split(loop, [None, lanes])
    sch.vectorize(lane)
