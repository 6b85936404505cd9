"""Schedule sums of products of narrow numbers by the dot product instructions of a processor.

Both operands are padded with zeros to whole tiles, the one along the lanes is packed into groups of
neighbours along the reduction, and a tile of sums stays in registers over the whole reduction.
"""

from typing import NamedTuple

from irkit.autoschedule.epilogue import epilogue_of
from irkit.autoschedule.machine import Machine
from irkit.autoschedule.matrix_product import TwoFactors, copy_of, matrix_product_of, size_of
from irkit.autoschedule.packed_groups import copy_groups
from irkit.autoschedule.reductions import schedule_reduction
from irkit.autoschedule.structure import Estimates, spatial_axes
from irkit.ir import Axis, Block, Expr, Instruction, Load, Store, known_instructions
from irkit.schedule import BlockRef, LoopRef, Schedule, only_store

_ARCH, _SIGNED = "x86_64", "_signed"
_FEWEST_ROWS = 4
_WORTH = 1 << 14
_MOST_ROWS, _MOST_VECTORS = 14, 4


class DotProduct(NamedTuple):
    """A sum of products and the instruction that computes it: ``rows`` is the operand that moves
    with ``row``, ``columns`` the one with ``column``."""

    row: Axis
    column: Axis
    reduced: Axis
    rows: Load
    columns: Load
    intrinsic: str
    lanes: int
    group: int


class _Tile(NamedTuple):
    rows: int
    vectors: int


def schedule_dot_product(
    sch: Schedule, block: Block, machine: Machine, estimates: Estimates
) -> None:
    """Compute a sum of products by an instruction, or leave the schedule as it is."""
    store = only_store(block)
    found = None if store is None else dot_product_of(block, store, machine)
    tile = None if found is None else _tile(found, machine)
    if store is None or found is None or tile is None:
        return
    ref, shifted = BlockRef(block.name), None
    if found.intrinsic.endswith(_SIGNED):
        shifted, sums, _ = sch.shift_to_unsigned(ref, found.rows.buffer.name)
        schedule_reduction(sch, sch.get(sums), machine, estimates)
        block = sch.get(ref)
        store = only_store(block)
        found = None if store is None else dot_product_of(block, store, machine)
        if store is None or found is None:
            return
    width = tile.vectors * found.lanes
    sizes = {found.row.var: tile.rows, found.column.var: width, found.reduced.var: found.group}
    made = sch.pad_einsum(ref, [sizes.get(axis.var, 1) for axis in block.axes])
    copies = {each.name: each for each in made}
    if shifted is not None and f"{block.name}_pad_{found.rows.buffer.name}" in copies:
        sch.compute_inline(shifted)
    _pack_rows(sch, ref, block, found, copies)
    _pack_columns(sch, ref, block, found, copies)
    unpad = copies.get(f"{block.name}_unpad")
    reader = epilogue_of(sch, block, store)
    finish = [each for each in (unpad, reader) if each is not None] or [sch.cache_write(ref)]
    _tile_loops(sch, ref, block, found, tile, finish)


def dot_product_of(block: Block, store: Store, machine: Machine) -> DotProduct | None:
    """Return how an instruction of the machine computes a block; None if none can, or if it is not
    worth packing."""
    product = matrix_product_of(block, store)
    if product is None or size_of(product.row) < _FEWEST_ROWS or product.work < _WORTH:
        return None
    for instruction in known_instructions():
        name = _name(instruction, product.rows, product.columns, store, machine)
        if name and instruction.dtype.lanes < 2 * size_of(product.column):
            lanes, group = instruction.dtype.lanes, instruction.types[1].lanes
            return DotProduct(*product, name, lanes, group)
    return None


def _name(
    instruction: Instruction, rows: Load, columns: Load, store: Store, machine: Machine
) -> str:
    """Return the tensor intrinsic of an instruction for a product of these types, or nothing."""
    signs = tuple(f"+{name}" for name in machine.features)
    if not instruction.name.endswith("_one") or not instruction.is_native(_ARCH, signs):
        return ""
    _, a, b = (each.element for each in instruction.types)
    if instruction.dtype.element != store.value.dtype or b != columns.dtype:
        return ""
    name = instruction.name.removesuffix("_one")
    if a == rows.dtype:
        return name
    return name + _SIGNED if rows.dtype == b and "vpdpbusd" in name else ""


def _tile(found: DotProduct, machine: Machine) -> _Tile | None:
    """Choose the tile that takes the fewest steps, padding included: a step multiplies each row by
    each vector, and loads both. Return None if all need too much memory."""
    spare = machine.vector_registers - 2
    tiles = [
        _Tile(rows, vectors)
        for vectors in range(1, _MOST_VECTORS + 1)
        for rows in range(1, _MOST_ROWS + 1)
        if rows * vectors + vectors <= spare and _fits_memory(found, rows, vectors * found.lanes)
    ]

    def cost(tile: _Tile) -> float:
        high = -(-size_of(found.row) // tile.rows)
        wide = -(-size_of(found.column) // (tile.vectors * found.lanes))
        return high * wide * (tile.rows * tile.vectors + 0.75 * (tile.rows + tile.vectors) + 1)

    return min(tiles, key=cost, default=None)


def _fits_memory(found: DotProduct, rows: int, columns: int) -> bool:
    """Return True if the copies for a tile of so many rows and columns are small enough: signed
    rows are shifted, and the sums of columns kept."""
    shifted = found.intrinsic.endswith(_SIGNED)
    padded = size_of(found.row) % rows or size_of(found.reduced) % found.group
    copied = shifted or padded > 0 or found.rows.indices[-1] is not found.reduced.var
    product = TwoFactors(found.row, found.column, found.reduced, found.rows, found.columns)
    return product.fits_memory((rows, columns, found.group), (copied, True), 4 * shifted)


def _pack_rows(
    sch: Schedule, ref: BlockRef, block: Block, found: DotProduct, copies: dict[str, BlockRef]
) -> None:
    """Store the groups of the rows contiguously, if they are not."""
    if found.rows.indices[-1] is found.reduced.var:
        return
    at = found.rows.indices.index(found.reduced.var)
    copy = copy_of(sch, ref, block, found.rows, copies)

    def last(*indices: Expr) -> list[Expr]:
        return [*indices[:at], *indices[at + 1 :], indices[at]]

    sch.transform_layout(copy, last)


def _pack_columns(
    sch: Schedule, ref: BlockRef, block: Block, found: DotProduct, copies: dict[str, BlockRef]
) -> None:
    """Store the operand along the lanes by vectors of groups."""
    load, lanes, group = found.columns, found.lanes, found.group
    j, k = load.indices.index(found.column.var), load.indices.index(found.reduced.var)
    copy = copy_of(sch, ref, block, load, copies)

    def packed(*indices: Expr) -> list[Expr]:
        rest = [each for at, each in enumerate(indices) if at not in (j, k)]
        column, reduced = indices[j], indices[k]
        far = [*rest, column // lanes, reduced // group, column % lanes]
        return far if group == 1 else [*far, reduced % group]

    sch.transform_layout(copy, packed)
    loops = sch.get_loops(copy)
    if group == 1:
        far_j, near_j = sch.split(loops[j], [None, lanes])
        sch.reorder(far_j, loops[k], near_j)
        sch.vectorize(near_j)
        return
    copy_groups(
        sch,
        copy,
        (loops[j], loops[k]),
        [loop for at, loop in enumerate(loops) if at not in (j, k)],
        (size_of(found.column), size_of(found.reduced)),
        dtype=load.dtype,
        tile=(lanes, group),
        interleaves=k < j,
    )


def _tile_loops(
    sch: Schedule,
    ref: BlockRef,
    block: Block,
    found: DotProduct,
    tile: _Tile,
    finish: list[BlockRef],
) -> None:
    """Split and order the loops, keep the sums in registers, and finish each tile at its end."""
    by_axis = {axis.var: loop for axis, loop in zip(block.axes, sch.get_loops(ref), strict=True)}
    rest = [by_axis[a.var] for a in spatial_axes(block) if a not in (found.row, found.column)]
    high, row = sch.split(by_axis[found.row.var], [None, tile.rows])
    wide, vector, lane = sch.split(by_axis[found.column.var], [None, tile.vectors, found.lanes])
    groups, inside = by_axis[found.reduced.var], list[LoopRef]()
    if found.group > 1:
        groups, *inside = sch.split(groups, [None, found.group])
    sch.reorder(*rest, wide, high, groups, row, vector, lane, *inside)
    sch.unroll(row)
    sch.unroll(vector)
    for each in finish:
        sch.reverse_compute_at(each, high)
    start = sch.decompose_reduction(ref, groups)
    sch.vectorize(sch.get_loops(start)[-1])

    def layout(*indices: Expr) -> list[Expr]:
        *lead, i, j = indices
        lanes, width = found.lanes, tile.vectors * found.lanes
        far = [*lead, i // tile.rows, j // width]
        return [*far, i % tile.rows, j // lanes % tile.vectors, j % lanes]

    sch.transform_layout(ref, layout)
    sch.set_scope(ref, "local")
    sch.tensorize(lane, found.intrinsic)
    for each in finish:
        _, out = sch.split(sch.get_loops(each)[-1], [None, found.lanes])
        sch.vectorize(out)
