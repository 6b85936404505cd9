"""Schedule a reduction as a register tile.

Vector lanes run along the last axis, an axis that one operand does not depend on is unrolled,
accumulators stay in registers, and the epilogue (bias, activation, residual) is computed on the
tile before it is stored.
"""

import math
from contextlib import nullcontext, suppress

from irkit.autoschedule.epilogue import epilogue_of
from irkit.autoschedule.machine import Machine
from irkit.autoschedule.rows import row_axis_of, schedule_columns, schedule_row
from irkit.autoschedule.structure import Estimates, spatial_axes
from irkit.autoschedule.tiles import (
    Tile,
    copy_in_parts,
    is_merged,
    mark_epilogue,
    mark_tile,
    merge_line,
    separate_groups,
    tile_loops,
    tile_of,
)
from irkit.core import ScheduleError, walk
from irkit.ir import Block, Buffer, Expr, Interval, Load, Store, Var, as_int, bounds, linear
from irkit.schedule import (
    BlockRef,
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
    if store is None:
        schedule_columns(sch, block, machine)
        return
    if not is_merged(block, store) and tile_of(block, store, machine, estimates) is None:
        return
    ref = BlockRef(block.name)
    epilogue = merge_axes(sch, block, store)
    block = sch.get(ref)
    store = only_store(block)
    tile = None if store is None else tile_of(block, store, machine, estimates)
    if store is None or tile is None:
        raise ScheduleError(f"no tile for block {block.name!r}", at=block)
    _apply(sch, ref, epilogue, tile)
    copy_in_parts(sch, sch.get(ref), machine)


def merge_axes(sch: Schedule, block: Block, store: Store) -> BlockRef:
    """Make the axes that tiles of a reduction consist of; return the stage that finishes it."""
    ref = BlockRef(block.name)
    epilogue = epilogue_of(sch, block, store) or sch.cache_write(ref)
    separate_groups(sch, ref, epilogue)
    merge_line(sch, ref, epilogue)
    return epilogue


def apply_tile(
    sch: Schedule, block: Block, store: Store, tile: Tile, *, merged: bool = False
) -> None:
    """Schedule a reduction by a tile, of the axes that it has or, ``merged``, those it is given. It
    may be computed in a loop of another stage."""
    ref = BlockRef(block.name)
    if merged:
        _apply(sch, ref, merge_axes(sch, block, store), tile)
    elif len(sch.get_loops(ref)) > len(block.axes):
        _apply(sch, ref, None, tile)
    else:
        _apply(sch, ref, epilogue_of(sch, block, store) or sch.cache_write(ref), tile)


def _apply(sch: Schedule, ref: BlockRef, epilogue: BlockRef | None, tile: Tile) -> None:
    """Apply a tile; without an ``epilogue``, each tile is copied to where it belongs."""
    block = sch.get(ref)
    store = only_store(block)
    assert store is not None
    _widen(sch, block, store, tile)
    block = sch.get(ref)
    store = only_store(block)
    assert store is not None
    _unstride(sch, block, store, tile)
    _turn(sch, block, store)
    far, reduced, inner = tile_loops(sch, block, tile)
    inside = epilogue is None
    if epilogue is None:
        epilogue = sch.write_at(far, ref, store.buffer)
    else:
        sch.reverse_compute_at(epilogue, far)
    with suppress(ScheduleError) if inside else nullcontext():  # Else guards stay, as masks.
        sch.overcompute(ref, repeat=[] if tile.row < 0 else [_position(block, tile.row)])
    first = sch.decompose_reduction(ref, reduced[0]) if reduced else None
    if not inside:
        sch.set_scope(ref, "local")
    for each in (ref, first):
        if each is not None:
            mark_tile(sch, each, len(inner))
    for loop in reduced[len(reduced) - tile.unrolled :]:
        sch.unroll(loop)
    mark_epilogue(sch, epilogue, far, tile)


def _position(block: Block, spatial: int) -> int:
    """Return the position among all axes of a spatial one."""
    return block.axes.index(spatial_axes(block)[spatial])


def _widen(sch: Schedule, block: Block, store: Store, tile: Tile) -> None:
    """Make room for the lanes beyond the end of a short line: what they read is padded with zeros
    where it is copied, so that no load needs a mask."""
    line = spatial_axes(block)[-1]
    if tile.fits or as_int(line.extent) is None:
        return
    ends = {axis.var: (as_int(axis.extent) or 1) - 1 for axis in block.axes}
    ends[line.var] = tile.vectors * tile.lanes - 1
    ranges = {var: Interval(0, end) for var, end in ends.items()}
    done = {store.buffer}
    for load in list(walk(block.body, on=Load)):
        if load.buffer in done or _step(load, line.var) < 1:
            continue
        done.add(load.buffer)
        wanted, dim = bounds(load.indices[-1], ranges).high, as_int(load.buffer.shape[-1])
        if wanted is None or dim is None or wanted < dim:
            continue
        made = _producer(sch, load.buffer) or sch.cache_read(BlockRef(block.name), load.buffer)
        sch.split(sch.get_loops(made)[-1], [None, wanted + 1])
        sch.overcompute(made)


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
