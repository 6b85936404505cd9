"""Copies of what tiles read, such as padded ones: made where the cache still holds them.

A copy of a whole tensor goes to memory and comes back. Copied part by part, for the iterations of
an outer loop of its reader, it stays in the second cache.
"""

import math
from contextlib import suppress

from irkit.autoschedule.machine import Machine
from irkit.core import ScheduleError, walk
from irkit.ir import Block, Load, Var, as_int
from irkit.schedule import (
    BlockRef,
    LoopRef,
    Schedule,
    allocation,
    reads_of,
    variables,
    writes_of,
)

_PART = 2
"""A copy may fill one part in so many of the cache."""


def copy_in_parts(sch: Schedule, block: Block, machine: Machine) -> None:
    """Move each stage that only this block reads to the loops over axes that it shares with it, if
    one part is small enough and there are several."""
    for load in dict.fromkeys(walk(block.body, on=Load)):
        stage = copy_read(sch, load)
        shared = _shared_loops(sch, block, load)
        parts = math.prod(as_int(sch.loop(loop).end) or 1 for loop in shared)
        size = math.prod(as_int(dim) or 1 for dim in load.buffer.shape) * load.buffer.dtype.bytes
        if stage is None or parts < 2 or size < machine.l1 or size // parts * _PART > machine.l2:
            continue
        with suppress(ScheduleError):
            sch.compute_at(stage, shared[-1])


def copy_read(sch: Schedule, load: Load) -> BlockRef | None:
    """Return the stage that computes what is loaded, element by element, for one block alone."""
    writers = writes_of(sch.func, load.buffer)
    if allocation(sch.func, load.buffer) is None or len(writers) != 1:
        return None
    is_copy = writers[0].init is None and len(reads_of(sch.func, load.buffer)) == 1
    return BlockRef(writers[0].name) if is_copy else None


def _shared_loops(sch: Schedule, block: Block, load: Load) -> list[LoopRef]:
    """Return the outermost loops whose axes are indices of what is loaded by themselves."""
    plain: set[Var] = {index for index in load.indices if isinstance(index, Var)}
    found: list[LoopRef] = []
    for loop in sch.get_loops(BlockRef(block.name)):
        axes = [axis for axis in block.axes if loop.var in variables(axis.binding)]
        is_shared = all(axis.kind == "spatial" and axis.var in plain for axis in axes)
        if sch.loop(loop).kind != "serial" or not axes or not is_shared:
            break
        found.append(loop)
    return found
