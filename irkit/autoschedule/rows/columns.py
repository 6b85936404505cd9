"""Schedule reductions of several values along columns, such as an argmax: lanes along the line.

Elements of the last spatial axis are neighbours in memory, so the results of a few vectors of it
are kept in registers while all steps of the reduction pass. The results so far are factored out to
have memory of their own, in which positions need few bits.
"""

from irkit.autoschedule.machine import Machine
from irkit.autoschedule.rows.choices import choose_in_order
from irkit.autoschedule.rows.lanes import is_contiguous
from irkit.autoschedule.structure import reduce_axes, spatial_axes
from irkit.core import ScheduleError, walk
from irkit.ir import Block, Store, as_int
from irkit.schedule import BlockRef, LoopRef, Schedule

_VECTORS = 2


def schedule_columns(sch: Schedule, block: Block, machine: Machine) -> None:
    """Reduce several values at each of some neighbouring places at a time."""
    stores = list(walk(block.body, on=Store))
    spatial, reduced = spatial_axes(block), reduce_axes(block)
    loops = sch.get_loops(BlockRef(block.name))
    if len(stores) < 2 or not spatial or not reduced or len(loops) != len(block.axes):
        return
    lanes = machine.vector_bytes // min(store.buffer.dtype.bytes for store in stores)
    extent = as_int(spatial[-1].extent)
    if not is_contiguous(block, spatial[-1]) or (extent is not None and extent < lanes):
        return
    vectors = _VECTORS if extent is None else min(_VECTORS, extent // lanes)
    _reduce_strips(sch, BlockRef(block.name), len(spatial), (vectors, lanes))


def _reduce_strips(sch: Schedule, ref: BlockRef, rank: int, sizes: tuple[int, int]) -> None:
    loops = sch.get_loops(ref)
    one, _ = sch.split(loops[rank], [1, None])
    part = sch.rfactor(one)
    line, own = sch.get_loops(ref)[-2:]
    far, near = _split(sch, line, sizes[0] * sizes[1])
    sch.compute_at(part, far)
    choose_in_order(sch, part)
    choose_in_order(sch, ref)
    inner = sch.get_loops(part)[-len(sch.get(part).axes) :]
    _vectorize(sch, part, inner[rank - 1], inner[rank:], sizes)
    _vectorize(sch, ref, near, [own], sizes)
    sch.set_scope(part, "local")


def _split(sch: Schedule, line: LoopRef, size: int) -> list[LoopRef]:
    try:
        return sch.split(line, [None, size], tail="shift")
    except ScheduleError:
        return sch.split(line, [None, size])


def _vectorize(
    sch: Schedule, ref: BlockRef, line: LoopRef, steps: list[LoopRef], sizes: tuple[int, int]
) -> None:
    """Run a strip in vectors inside of the steps of a reduction, which begins before them."""
    parts = sch.split(line, list(sizes))
    sch.reorder(*steps, *parts)
    start = sch.decompose_reduction(ref, steps[0])
    for each in (start, ref):
        *_, vector, lane = sch.get_loops(each)
        sch.unroll(vector)
        sch.vectorize(lane)
