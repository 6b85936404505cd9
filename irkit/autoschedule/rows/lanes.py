"""Schedule reductions along rows: vector lanes along the reduce axis, several accumulators.

Where the last reduce axis is contiguous in memory and the last spatial axis is not, lanes along the
spatial axis would gather. So the reduction is factored into lanes, which are combined at the end,
and whatever else is computed from the same row is computed while the row is in the cache.
"""

from irkit.autoschedule.machine import Machine
from irkit.autoschedule.rows.choices import choose_in_order
from irkit.autoschedule.structure import Product, reduce_axes, spatial_axes
from irkit.core import walk
from irkit.ir import Axis, Block, Load, Store, as_int, linear
from irkit.schedule import BlockRef, LoopRef, Schedule, only_store, variables

_FEWEST = 8
"""Shorter rows are not worth combining lanes for."""
_MOST_VECTORS = 4
"""As many accumulators hide the latency of an addition."""
_LONG = 128
"""Beside so many vectors, combining lanes one after the other takes no time."""


def row_axis_of(block: Block) -> Axis | None:
    """Return the reduce axis to run lanes along; None if the spatial axes serve better."""
    reduced = reduce_axes(block)
    if not reduced or not is_contiguous(block, reduced[-1]):
        return None
    extent = as_int(reduced[-1].extent)
    if extent is not None and extent < _FEWEST:
        return None
    spatial = [axis for axis in spatial_axes(block) if as_int(axis.extent) != 1]
    if spatial and (is_contiguous(block, spatial[-1]) or _multiplies(block)):
        return None
    return reduced[-1]


def is_contiguous(block: Block, axis: Axis) -> bool:
    """Return True if each input moves by one element along an axis, or not at all, and one does."""
    moves, own = False, {store.buffer for store in walk(block.body, on=Store)}
    for load in walk(block.body, on=Load):
        if load.buffer in own or axis.var not in {
            var for index in load.indices for var in variables(index)
        }:
            continue
        form = linear(load.indices[-1])
        if any(axis.var in variables(index) for index in load.indices[:-1]):
            return False
        if form is None or form.coefficient(axis.var) != 1:
            return False
        moves = True
    return moves


def _multiplies(block: Block) -> bool:
    """Return True for products of matrices: each operand has a spatial axis of its own."""
    store = only_store(block)
    product = None if store is None else Product(block, store)
    if product is None or not product.matches:
        return False
    spatial = [axis for axis in spatial_axes(block) if as_int(axis.extent) != 1]
    for pair in product.pairs:
        one, other = ({axis.var for axis in spatial if product.moves(s, axis)} for s in pair)
        if not one - other or not other - one:
            return False
    return True


def reduce_in_lanes(
    sch: Schedule, block: BlockRef, machine: Machine, accumulators: int = _MOST_VECTORS
) -> None:
    """Reduce the innermost loop into vectors, those into one, and its lanes at the end: by halves
    if a row is short."""
    loops = sch.get_loops(block)
    if len(loops) == len(reduce_axes(sch.get(block))):
        sch.add_unit_loop(loops[0])
    widths = [store.buffer.dtype.bytes for store in walk(sch.get(block).body, on=Store)]
    most = max(1, accumulators // len(widths))  # Several values have accumulators of their own.
    lanes = machine.vector_bytes // min(widths)
    extent = as_int(sch.loop(loops[-1]).end)
    lanes, vectors = _vectors(extent, lanes, most)
    _, _, lane = sch.split(loops[-1], [None, vectors, lanes])
    one = sch.rfactor(lane)
    sch.compute_at(one, sch.get_loops(block)[-2])
    if vectors > 1:
        many = sch.rfactor(sch.get_loops(one)[-1])
        choose_in_order(sch, many)
        choose_in_order(sch, one)
        lane, steps = _lane_steps(sch, many, 1)
        vector = sch.get_loops(many)[-1]
        sch.reorder(*steps, vector, lane)
        _start_before(sch, many, steps[0], (vector,))
        *_, lane, vector = sch.get_loops(one)
        sch.reorder(vector, lane)
        _start_before(sch, one, vector, (vector,))
        sch.set_scope(many, "local")
    else:
        choose_in_order(sch, one)
        lane, steps = _lane_steps(sch, one, 0)
        sch.reorder(*steps, lane)
        _start_before(sch, one, steps[0], ())
    sch.set_scope(one, "local")
    if extent is None or extent > _LONG * lanes:
        choose_in_order(sch, block)
        sch.unroll(sch.get_loops(block)[-1])
    else:
        _combine_halves(sch, block, lanes)


def _combine_halves(sch: Schedule, block: BlockRef, lanes: int) -> None:
    """Combine the lower half of some lanes with the upper one, until one is left."""
    while lanes > 2:
        lanes //= 2
        _, lane = sch.split(sch.get_loops(block)[-1], [2, lanes])
        half = sch.rfactor(lane)
        sch.compute_at(half, sch.get_loops(block)[-2])
        choose_in_order(sch, half)
        *_, lane, two = sch.get_loops(half)
        sch.reorder(two, lane)
        _start_before(sch, half, two, (two,))
        sch.set_scope(half, "local")
    choose_in_order(sch, block)
    sch.unroll(sch.get_loops(block)[-1])


def _vectors(extent: int | None, lanes: int, vectors: int) -> tuple[int, int]:
    """Return the lanes of a vector and the number of vectors: few enough for a short row."""
    if extent is not None:
        while lanes > extent:
            lanes //= 2
        vectors = min(vectors, extent // lanes)
    return lanes, vectors


def _lane_steps(sch: Schedule, block: BlockRef, after: int) -> tuple[LoopRef, list[LoopRef]]:
    """Return the loop over lanes and the reduce loops inside of it, ``after`` loops from the
    innermost."""
    loops = sch.get_loops(block)
    end = len(loops) - after
    begin = end - len(reduce_axes(sch.get(block)))
    return loops[begin - 1], loops[begin:end]


def _start_before(
    sch: Schedule, block: BlockRef, step: LoopRef, unrolled: tuple[LoopRef, ...]
) -> None:
    """Initialise a block before its reduce loops, unroll loops in both, and vectorize the
    innermost."""
    start = sch.decompose_reduction(block, step)
    for loop in unrolled:
        sch.unroll(loop)
        if step.var is not loop.var:
            sch.unroll(sch.get_loops(start)[-2])
    for each in (start, block):
        sch.vectorize(sch.get_loops(each)[-1])
