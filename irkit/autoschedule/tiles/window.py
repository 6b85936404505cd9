"""Tiles of reductions over a window: sums and extremes of neighbours, as in pools and filters.

The steps of such a reduction are few and known, and neighbouring results read mostly the same
elements. If all steps of a tile stand in one block, each vector is loaded once for all results that
use it. That needs registers, so a tile has few sums.
"""

import math

import msgspec

from irkit.autoschedule.machine import Machine
from irkit.autoschedule.structure import Estimates, reduce_axes, spatial_axes
from irkit.autoschedule.tiles.tile import Tile, register_tile
from irkit.core import walk
from irkit.ir import (
    Axis,
    Binary,
    Block,
    Call,
    Load,
    Max,
    Min,
    Select,
    Store,
    Var,
    as_int,
    linear,
)

_MOST_UNROLLED = 320
"""Instructions on vectors in a tile: more take longer to compile, and run no faster."""
_COMPARED = 3
"""Instructions of a minimum or maximum, which keeps what is no number."""
_MOST_FILTER = 9
"""Steps of a filter whose values can stay in registers, too, beside two lines of two vectors."""
_LINES = 4
"""Lines of a vector each: so many sums, and what they share, fit into the registers."""


def tile_of(block: Block, store: Store, machine: Machine, estimates: Estimates) -> Tile | None:
    """Choose the tile of a reduction; None if the line is too short, or an extent is neither
    constant nor estimated."""
    usual = register_tile(block, store, machine, estimates)
    found = None if usual is None else _window_tile(block, store, machine, usual)
    return found or usual


def _window_tile(block: Block, store: Store, machine: Machine, usual: Tile) -> Tile | None:
    """Return the tile of a reduction over windows of one input, all of whose loops are unrolled, in
    place of the usual one; None for other reductions, and for windows that are too large."""
    sizes = [as_int(axis.extent) or 0 for axis in reduce_axes(block)]
    spatial = spatial_axes(block)
    before = [at for at, axis in enumerate(spatial[:-1]) if (as_int(axis.extent) or 1) > 1]
    found = _window(block, store)
    if usual.row >= 0 or not usual.fits or not all(sizes) or not before or found is None:
        return None
    if usual.extent < 2 * usual.lanes:
        return None
    lines, vectors, unrolled = _LINES, 1, len(sizes)
    if _is_filtered(store):
        if math.prod(sizes) > _MOST_FILTER:
            return None
        lines, vectors, unrolled = 2, 2, 1
    tall = as_int(spatial[before[-1]].extent) or 1
    if tall < lines or lines * vectors * math.prod(sizes) * found > _MOST_UNROLLED:
        return None
    return msgspec.structs.replace(
        usual,
        vectors=vectors,
        near=before[-1],
        lines=lines,
        unrolled=unrolled,
        blocked=-1,
        tiles=0,
    )


def _loads(store: Store) -> list[Load]:
    """Return what a step reads beside the result so far."""
    found = dict.fromkeys(walk(store.value, on=Load))
    return [load for load in found if load.buffer is not store.buffer]


def _is_filtered(store: Store) -> bool:
    return len(_loads(store)) > 1


def _window(block: Block, store: Store) -> int | None:
    """Return the instructions of a step if a block reads, in each step, one element one place
    further, and so for each result along a line or from line to line, and perhaps the element of a
    filter for it; None for other blocks."""
    loads, line = _loads(store), spatial_axes(block)[-1]
    if len(loads) > 2 or any(True for _ in walk(store.value, on=Select)):
        return None
    own = [load for load in loads if _moved(load, line) >= 0]
    filters = [load for load in loads if line.var not in set(walk(load, on=Var))]
    if len(own) != 1 or len(own) + len(filters) != len(loads):
        return None
    spatial = {_moved(own[0], axis) for axis in spatial_axes(block)}
    reduced = [_moved(own[0], axis) for axis in reduce_axes(block)]
    slides = bool(reduced) and all(at >= 0 and at in spatial for at in reduced)
    return _instructions(store) if slides else None


def _moved(load: Load, axis: Axis) -> int:
    """Return which index of a load an axis moves by one; -1 if it is none, or several."""
    found = [
        at
        for at, index in enumerate(load.indices)
        if (form := linear(index)) is not None and form.coefficient(axis.var) == 1
    ]
    return found[0] if len(found) == 1 else -1


def _instructions(store: Store) -> int:
    """Return the instructions of a step."""
    nodes = [each for each in walk(store.value) if isinstance(each, (Binary, Call))]
    return max(
        1,
        sum(
            _COMPARED if isinstance(each, (Max, Min)) else 1
            for each in nodes
            if each.dtype.is_float
        ),
    )
