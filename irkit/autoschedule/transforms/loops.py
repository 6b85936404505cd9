"""Schedule a product between two transforms by blocks of rows of tiles.

For each block of rows, its tiles are transformed once and stay in the second cache, while panels of
columns are read once from memory, one after another. The products of a panel are transformed back,
and finished, before those of the next: they never leave the cache.
"""

from math import prod

from irkit.autoschedule.machine import Machine
from irkit.autoschedule.structure import Estimates
from irkit.autoschedule.transforms.recognise import (
    TransformedProduct,
    divisors,
    epilogue_of_results,
    transformed_product_of,
)
from irkit.autoschedule.transforms.register_rows import register_rows
from irkit.ir import Block, as_int, is_const
from irkit.schedule import BlockRef, LoopRef, Schedule

_KEPT = 4
"""The part of the second cache in which factors stay from call to call is one in so many."""


def schedule_transformed_product(
    sch: Schedule, block: Block, machine: Machine, _estimates: Estimates
) -> None:
    """Schedule a product between two transforms, or leave the schedule as it is."""
    found = transformed_product_of(sch, block)
    if found is None:
        return
    last = epilogue_of_results(sch, found.finish)
    root = BlockRef((last or found.finish).name)
    batch, group, panel, place = _result_loops(sch, root, found)
    if last is not None:
        sch.compute_at(BlockRef(found.finish.name), place)
    sch.compute_at(BlockRef(found.columns.name), place)
    sch.compute_at(BlockRef(found.product.name), panel)
    far, steps = _multiply(sch, found, machine)
    # A single block leaves panels to distribute among the threads, so its tiles come first.
    single = all(is_const(sch.loop(loop).end, 1) for loop in (batch, group))
    _transform_tiles(sch, found, None if single else group)
    for each in (found.lines, found.tiles, found.columns, found.finish, last):
        if each is not None:
            _unroll(sch, BlockRef(each.name), 2)
    if found.padded is not None:
        sch.vectorize(sch.get_loops(BlockRef(found.padded.name))[-1])
    for each in (found.lines, found.columns, *([] if last is None else [found.finish])):
        sch.set_scope(BlockRef(each.name), "local")
    _prefetch(sch, found, far, steps, machine)


def _result_loops(
    sch: Schedule, root: BlockRef, found: TransformedProduct
) -> tuple[LoopRef, LoopRef, LoopRef, LoopRef]:
    """Order the loops of the results by blocks of rows, panels, tiles and vectors; return the loops
    over images, blocks of rows and panels, and the one around a vector of a tile."""
    image, channel, row, column, lane = sch.get_loops(root)
    by_axis = [divisors(found.finish, axis) for axis in found.finish.axes]
    channels = _split(sch, channel, by_axis[1])
    rows = _split(sch, row, by_axis[2])
    columns = _split(sch, column, by_axis[3])
    (panel, *vectors), (group, *down) = channels, rows
    inside = [*down[:-1], *columns[:-1], *vectors]
    sch.reorder(image, group, panel, *inside, *down[-1:], *columns[-1:], lane)
    return image, group, panel, inside[-1]


def _split(sch: Schedule, loop: LoopRef, numbers: list[int]) -> list[LoopRef]:
    """Split a loop wherever the results divide its axis."""
    if not numbers:
        return [loop]
    inner = [a // b for a, b in zip(numbers, [*numbers[1:], 1], strict=True)]
    return list(sch.split(loop, [None, *inner]))


def _multiply(
    sch: Schedule, found: TransformedProduct, machine: Machine
) -> tuple[LoopRef, list[LoopRef]]:
    """Keep a tile of sums in registers over the whole reduction, for each position in turn; return
    the loop over tiles and those of the reduction."""
    ref, product = BlockRef(found.product.name), found.product
    loops = sch.get_loops(ref)[-len(product.axes) :]
    by_axis = {axis.var: loop for axis, loop in zip(product.axes, loops, strict=True)}
    row, vector, lane = (by_axis[axis.var] for axis in (found.row, found.vector, found.lane))
    steps = [by_axis[axis.var] for axis in product.axes if axis.kind == "reduce"]
    count, vectors = (as_int(axis.extent) or 1 for axis in (found.row, found.vector))
    far, low = sch.split(row, [None, register_rows(count, vectors, machine)], tail="shift")
    around = [by_axis[axis.var] for axis in (*found.positions, *found.panels)]
    sch.reorder(*around, far, *steps, low, vector, lane)
    copied = sch.write_at(far, ref, 0, "local")
    first = sch.decompose_reduction(ref, steps[0])
    for each in (ref, first):
        _unroll(sch, each, 2)
    inside = [loop.var for loop in sch.get_loops(copied)]
    _unroll(sch, copied, len(inside) - inside.index(far.var) - 2)
    return far, steps


def _prefetch(
    sch: Schedule,
    found: TransformedProduct,
    far: LoopRef,
    steps: list[LoopRef],
    machine: Machine,
) -> None:
    """Fetch the next panel of factors step by step while one is multiplied, if they are too many to
    stay in the second cache until the next call."""
    factors = [as_int(dim) for dim in found.factors.shape]
    size = prod(dim or 1 for dim in factors) * found.factors.dtype.bytes
    if size <= machine.l2 // _KEPT:
        return
    ref = BlockRef(found.product.name)
    loops = sch.get_loops(ref)
    at = [loop.var for loop in loops].index(far.var)
    count = len(found.positions) + len(found.panels)
    panel = sch.fuse(*loops[at - count : at])
    sch.prefetch(ref, found.factors, panel, inside=steps[-1])


def _transform_tiles(sch: Schedule, found: TransformedProduct, place: LoopRef | None) -> None:
    """Transform each tile in registers; the tiles of a block of rows together."""
    ref = BlockRef(found.tiles.name)
    if place is not None:
        sch.compute_at(ref, place)
    *outer, lane = sch.get_loops(ref)[-len(found.tiles.axes) :]
    positions = [outer[at] for at in found.position_dims]
    others = [loop for loop in outer if loop not in positions]
    sch.reorder(*others, *positions, lane)
    sch.compute_at(BlockRef(found.lines.name), others[-1])
    if place is not None and found.padded is not None:
        sch.compute_at(BlockRef(found.padded.name), place)


def _unroll(sch: Schedule, ref: BlockRef, depth: int) -> None:
    """Unroll the loops around a vector, and make its lanes."""
    *unrolled, lane = sch.get_loops(ref)[-depth - 1 :]
    for loop in unrolled:
        sch.unroll(loop)
    sch.vectorize(lane)
