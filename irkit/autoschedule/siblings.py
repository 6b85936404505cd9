"""Compute neighbouring stages that read the same inputs in one nest, so each is read once."""

from irkit.autoschedule.structure import blocks_of
from irkit.core import ScheduleError, walk
from irkit.ir import Block, Buffer, Load, as_int
from irkit.schedule import BlockRef, LoopRef, Schedule, only_store

_MOST = 4
"""More streams of memory at a time than about this many stages have are slow again."""


def merge_siblings(sch: Schedule) -> None:
    """Merge the nests of pointwise stages of the same extents that read an input of their rank in
    common, where that is legal."""
    first: Block | None = None
    count = 1
    for block in blocks_of(sch):
        if not _is_alone(sch, block):
            first = None
        elif first is None or count >= _MOST or not _merge(sch, first, block):
            first, count = block, 1
        else:
            count += 1


def _is_alone(sch: Schedule, block: Block) -> bool:
    """Return True for a pointwise stage in a nest of its own, one plain loop for each axis."""
    ref = BlockRef(block.name)
    loops = sch.get_loops(ref)
    if block.init is not None or block.predicate is not None or only_store(block) is None:
        return False
    return (
        bool(loops)
        and len(loops) == len(block.axes)
        and all(sch.loop(loop).kind == "serial" for loop in loops)
        and sch.get_child_blocks(loops[0]) == [ref]
    )


def _merge(sch: Schedule, first: Block, block: Block) -> bool:
    if not _inputs(first) & _inputs(block):
        return False
    one, other = (sch.get_loops(BlockRef(each.name)) for each in (first, block))
    if _extents(sch, one) != _extents(sch, other) or None in _extents(sch, one):
        return False
    try:
        sch.merge(one[-1], other[-1])
    except ScheduleError:
        return False
    return True


def _inputs(block: Block) -> set[Buffer]:
    """Return the buffers of as many dimensions as a stage has axes that it reads."""
    loads = walk(block.body, on=Load)
    return {load.buffer for load in loads if len(load.indices) == len(block.axes)}


def _extents(sch: Schedule, loops: list[LoopRef]) -> list[int | None]:
    return [as_int(sch.loop(loop).end) for loop in loops]
