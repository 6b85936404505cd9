"""Vectorize pointwise stages along the last axis."""

from irkit.autoschedule.machine import Machine
from irkit.ir import Block, as_int
from irkit.schedule import BlockRef, Schedule, only_store


def schedule_pointwise(sch: Schedule, block: Block, machine: Machine) -> None:
    """Vectorize a pointwise stage along the last axis."""
    store = only_store(block)
    if store is None or not block.axes or block.predicate is not None:
        return
    last = block.axes[-1]
    extent = as_int(last.extent)
    lanes = max(1, machine.vector_bytes // store.buffer.dtype.bytes)
    if extent is None or extent < lanes or store.indices[-1:] != (last.var,):
        return
    _, lane = sch.split(sch.get_loops(BlockRef(block.name))[-1], [None, lanes])
    sch.vectorize(lane)
