"""Schedule a reduction as a register tile.

Vector lanes run along the last axis, an axis that one operand does not depend on is unrolled,
accumulators stay in registers, and the epilogue (bias, activation, residual) is computed on the
tile before it is stored.
"""

import math

from irkit.autoschedule.epilogue import epilogue_of
from irkit.autoschedule.machine import Machine
from irkit.autoschedule.row_reductions import row_axis_of
from irkit.autoschedule.rows import schedule_row
from irkit.autoschedule.structure import Estimates, spatial_axes
from irkit.autoschedule.tile import Tile, tile_of
from irkit.core import walk
from irkit.ir import Block, Buffer, Expr, Load, Store, Var, as_int, linear
from irkit.schedule import (
    BlockRef,
    LoopRef,
    Schedule,
    allocation,
    only_store,
    reads_of,
    variables,
    writes_of,
)

_MOST_STEP = 4
_LONG = 3
_MANY = 16
"""An element that so many results use is worth copying."""


def schedule_reduction(sch: Schedule, block: Block, machine: Machine, estimates: Estimates) -> None:
    """Tile a reduction so that accumulators stay in registers, and finish each tile before the
    next."""
    store = only_store(block)
    if row_axis_of(block) is not None:
        schedule_row(sch, block, machine)
        return
    tile = None if store is None else tile_of(block, store, machine, estimates)
    if store is not None and tile is not None:
        apply_tile(sch, block, store, tile)


def apply_tile(sch: Schedule, block: Block, store: Store, tile: Tile) -> None:
    """Schedule a reduction by a tile."""
    ref = BlockRef(block.name)
    _unstride(sch, block, store, tile)
    if not tile.fused:
        _turn(sch, block, store)
    epilogue = epilogue_of(sch, block, store) or sch.cache_write(ref)
    far, reduced = _tile_loops(sch, block, tile)
    sch.reverse_compute_at(epilogue, far)
    sch.overcompute(ref)
    if reduced:
        sch.decompose_reduction(ref, reduced[0])
    if tile.is_constant(spatial_axes(block)):
        sch.transform_layout(ref, tile.layout)
    sch.set_scope(ref, "local")


def _tile_loops(sch: Schedule, block: Block, tile: Tile) -> tuple[LoopRef, list[LoopRef]]:
    """Split, order and mark the loops; return the loop around a tile, and the reduction loops."""
    loops = sch.get_loops(BlockRef(block.name))
    by_axis = list(zip(block.axes, loops, strict=True))
    outer = [loop for axis, loop in by_axis if axis.kind == "spatial"]
    reduced = [loop for axis, loop in by_axis if axis.kind == "reduce"]
    line = outer.pop()
    if tile.fused:
        line = sch.fuse(outer.pop(), line)
    far, near, lane = sch.split(line, [None, tile.vectors, tile.lanes])
    inner = [near, lane]
    if tile.row >= 0:
        outer[tile.row], low = sch.split(outer[tile.row], [None, tile.rows])
        inner.insert(0, low)
    sch.reorder(*outer, far, *reduced, *inner)
    for loop in inner[:-1]:
        sch.unroll(loop)
    sch.vectorize(lane)
    return far, reduced


def _unstride(sch: Schedule, block: Block, store: Store, tile: Tile) -> None:
    """Make the lanes of a tile read neighbours: an input that is read at every s-th element is
    stored by remainders of s, if the rows of a tile read it often or lines are short."""
    if tile.row < 0 and tile.extent >= _LONG * tile.lanes:
        return  # Whole vectors are read and shuffled; only those at the end of a line gather.
    line = spatial_axes(block)[-1].var
    for load in list(walk(block.body, on=Load)):
        step = _step(load, line)
        if load.buffer is store.buffer or not 1 < step <= _MOST_STEP:
            continue

        def by_remainder(*indices: Expr, step: int = step) -> list[Expr]:
            return [*indices[:-1], indices[-1] % step, indices[-1] // step]

        made = _producer(sch, load.buffer) or sch.cache_read(BlockRef(block.name), load.buffer)
        sch.transform_layout(made, by_remainder)


def _turn(sch: Schedule, block: Block, store: Store) -> None:
    """Make the lanes of a tile read neighbours: an input that has the line as another dimension
    than the last is copied with that one last, if many results use each of its elements."""
    spatial = spatial_axes(block)
    line, done = spatial[-1].var, {store.buffer}
    for load in list(walk(block.body, on=Load)):
        at = next((n for n, index in enumerate(load.indices[:-1]) if index is line), None)
        used = {var for index in load.indices for var in variables(index)}
        uses = math.prod(as_int(axis.extent) or 1 for axis in spatial if axis.var not in used)
        if at is None or load.buffer in done or uses < _MANY:
            continue
        if line in {var for index in load.indices[at + 1 :] for var in variables(index)}:
            continue

        def moved(*own: Expr, at: int = at) -> list[Expr]:
            return [*own[:at], *own[at + 1 :], own[at]]

        done.add(load.buffer)
        copy = sch.cache_read(BlockRef(block.name), load.buffer)
        sch.transform_layout(copy, moved)


def _step(load: Load, var: Var) -> int:
    """Return the stride of the last index of a load along a variable; 0 if unknown."""
    form = linear(load.indices[-1]) if load.indices else None
    return 0 if form is None else form.coefficient(var)


def _producer(sch: Schedule, buffer: Buffer) -> BlockRef | None:
    """Return the block that alone computes an intermediate buffer element by element, or None."""
    writers = writes_of(sch.func, buffer)
    if allocation(sch.func, buffer) is None or len(writers) != 1 or writers[0].init is not None:
        return None
    return BlockRef(writers[0].name) if len(reads_of(sch.func, buffer)) == 1 else None
