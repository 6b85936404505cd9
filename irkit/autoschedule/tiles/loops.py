"""Split and order the loops of a reduction by a tile."""

import math

from irkit.autoschedule import threads
from irkit.autoschedule.structure import divides, spatial_axes
from irkit.autoschedule.tiles.tile import Tile
from irkit.core import ScheduleError
from irkit.ir import Block, as_int, linear
from irkit.schedule import BlockRef, LoopRef, Schedule, variables

_EVEN = 8
"""Iterations that are enough to distribute evenly among threads."""


def tile_loops(
    sch: Schedule, block: Block, tile: Tile
) -> tuple[LoopRef, list[LoopRef], list[LoopRef]]:
    """Split and order the loops; return the loop around a tile, the reduction loops and those of a
    tile.

    A last, partial tile overlaps the one before it where that is legal and leaves loops enough for
    the threads, and is guarded elsewhere. Loops around those of the block's axes stay as they are.

    Raises: ScheduleError if each axis has not a loop of its own.
    """
    loops = own_loops(sch, block)
    if loops is None:
        raise ScheduleError(f"an axis of block {block.name!r} has no loop of its own", at=block)
    by_axis = list(zip(block.axes, loops, strict=True))
    spatial = [loop for axis, loop in by_axis if axis.kind == "spatial"]
    reduced = [loop for axis, loop in by_axis if axis.kind == "reduce"]
    order = list(range(len(spatial)))
    if tile.blocked >= 0:
        order.remove(tile.blocked)
        order.insert(order.index(tile.row), tile.blocked)
    nest = [(at, spatial[at]) for at in order]
    sch.reorder(*(loop for _, loop in nest), *reduced)
    last = len(spatial) - 1
    sizes: dict[int, list[int | None]] = {last: [tile.vectors, tile.lanes]}
    sizes |= {tile.near: [tile.lines]} if tile.near >= 0 else {}
    sizes |= {tile.row: [tile.rows]} if tile.row >= 0 else {}
    others = _others(block, tile)
    across = -(-tile.extent // (tile.vectors * tile.lanes))
    rows = (
        1 if tile.row < 0 else -(-(as_int(spatial_axes(block)[tile.row].extent) or 1) // tile.rows)
    )
    overlaps = {last: tile.fits, tile.row: others >= _EVEN}
    work = math.prod(as_int(axis.extent) or 1 for axis in block.axes)
    alone = tile.fits and tile.blocked != last and others * rows < min(_EVEN, across)
    if alone and work >= threads.WORTH:
        overlaps[last] = False  # Else no loop could run in parallel.
    low: dict[int, list[LoopRef]] = {}
    for at in order:
        if at not in sizes and at != tile.blocked:
            continue
        number = next(n for n, (other, _) in enumerate(nest) if other == at)
        blocks: list[int | None] = [tile.tiles] if at == tile.blocked else []
        factors = [None, *blocks, *sizes.get(at, [])]
        made = _split(sch, nest[number][1], factors, overlaps=overlaps.get(at, True))
        nest[number] = (at, made.pop(0))
        if blocks:
            # Where the axis was before: in front of those that come after it.
            place = next(
                (n for n, (other, _) in enumerate(nest) if n > number and other > at), None
            )
            nest.insert(len(nest) if place is None else place, (at, made.pop(0)))
        if at == last and tile.fits and not overlaps[last]:
            sch.annotate(nest[number][1], "partition", True)
        if made:
            low[at] = made
        inside = [loop for other in _inside_out(low, tile) for loop in low[other]]
        sch.reorder(*(loop for _, loop in nest[number + 1 :]), *reduced, *inside)
    inner = [loop for other in _inside_out(low, tile) for loop in low[other]]
    return nest[-1][1], reduced, inner


def own_loops(sch: Schedule, block: Block) -> list[LoopRef] | None:
    """Return the innermost loops around a block if there is one for each axis, in their order, and
    no other; loops around them may say where an axis begins."""
    loops = sch.get_loops(BlockRef(block.name))
    count = len(block.axes)
    outer, own = {loop.var for loop in loops[:-count]}, loops[-count:]
    if len(own) < count:
        return None
    for axis, loop in zip(block.axes, own, strict=True):
        form = linear(axis.binding)
        if form is None or form.coefficient(loop.var) != 1:
            return None
        if not variables(axis.binding) <= {*outer, loop.var}:
            return None
    return own


def _inside_out(low: dict[int, list[LoopRef]], tile: Tile) -> list[int]:
    """Order the axes of a tile, the line last: the operand of fewer vectors stays in registers."""
    first = tile.row if tile.lines * tile.vectors <= tile.rows else tile.near
    return sorted(low, key=lambda at: (at == max(low) and len(low[at]) > 1, at != first))


def _split(
    sch: Schedule, loop: LoopRef, factors: list[int | None], *, overlaps: bool
) -> list[LoopRef]:
    if overlaps:
        try:
            return sch.split(loop, factors, tail="shift")
        except ScheduleError:
            pass
    return sch.split(loop, factors)


def _others(block: Block, tile: Tile) -> int:
    """Return how many iterations can run in parallel, beside those over rows and along the line:
    tiles that overlap cannot."""
    others = 1
    for at, axis in enumerate(spatial_axes(block)[:-1]):
        if at == tile.row or (at == tile.near and not divides(tile.lines, axis.extent)):
            continue
        if at != tile.blocked:
            size = as_int(axis.extent) or 1
            others *= -(-size // (tile.lines if at == tile.near else 1))
    return others


def mark_tile(sch: Schedule, block: BlockRef, depth: int) -> None:
    """Unroll the loops of a tile, and vectorize the innermost."""
    *unrolled, lane = sch.get_loops(block)[-depth:]
    for loop in unrolled:
        sch.unroll(loop)
    sch.vectorize(lane)


def mark_epilogue(sch: Schedule, block: BlockRef, far: LoopRef, tile: Tile) -> None:
    """Unroll the loops that finish a tile, so that its sums stay in registers."""
    loops = sch.get_loops(block)
    *unrolled, last = loops[[loop.var for loop in loops].index(far.var) + 1 :]
    if not divides(tile.lanes, sch.loop(last).end):
        return
    near, lane = sch.split(last, [None, tile.lanes])
    for loop in (*unrolled, near):
        sch.unroll(loop)
    sch.vectorize(lane)
