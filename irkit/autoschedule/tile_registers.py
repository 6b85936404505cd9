"""Schedule products of narrow numbers by the instructions that multiply whole tiles (AMX).

Both operands are padded with zeros and packed into tiles of 16 rows of 64 bytes. Up to two times
two tiles of sums stay in registers over the whole reduction, so that each tile of an operand that
is loaded is multiplied twice: eight tile registers hold four sums and the operands.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from irkit.autoschedule.epilogue import epilogue_of
from irkit.autoschedule.machine import Machine
from irkit.autoschedule.matrix_product import TwoFactors, copy_of, matrix_product_of, size_of
from irkit.autoschedule.packed_groups import copy_groups
from irkit.autoschedule.structure import Estimates, spatial_axes
from irkit.ir import Axis, Block, Expr, Instruction, Load, Store, known_instructions
from irkit.schedule import BlockRef, Schedule, only_store

_T = TypeVar("_T")
_ARCH = "x86_64"
_SIDE = 16
"""Rows of a tile, groups of neighbours in a row, and columns of a tile of sums."""
_ROW_BYTES = 64
_MOST = 2
"""Tiles of sums along rows, and along columns, that are in registers at once."""
_MULTIPLY, _LOAD = 16, 8
"""Cycles to multiply two tiles, and to load one."""
_WORTH = 1 << 14
"""Products from which on packing is worth it."""


class _Tiles(NamedTuple):
    product: TwoFactors
    intrinsic: str
    group: int
    high: int
    wide: int


def schedule_tile_registers(
    sch: Schedule, block: Block, machine: Machine, _estimates: Estimates
) -> None:
    """Compute a sum of products by an instruction for tiles, or leave the schedule as it is."""
    store = only_store(block)
    found = None if store is None else _tiles_of(block, store, machine)
    if store is None or found is None:
        return
    ref, product = BlockRef(block.name), found.product
    sizes = {
        product.row.var: _SIDE * found.high,
        product.column.var: _SIDE * found.wide,
        product.reduced.var: _SIDE * found.group,
    }
    made = sch.pad_einsum(ref, [sizes.get(axis.var, 1) for axis in block.axes])
    copies = {each.name: each for each in made}
    _pack(sch, ref, block, found, copies)
    unpad = copies.get(f"{block.name}_unpad")
    reader = epilogue_of(sch, block, store)
    finish = [each for each in (unpad, reader) if each is not None] or [sch.cache_write(ref)]
    _nest(sch, ref, block, found, finish)


def _tiles_of(block: Block, store: Store, machine: Machine) -> _Tiles | None:
    """Return how an instruction of the machine computes a block; None if none can, or if the sizes
    are far from those of a tile."""
    product = matrix_product_of(block, store)
    if product is None or product.work < _WORTH:
        return None
    sizes = size_of(product.row), size_of(product.column)
    for instruction in known_instructions():
        if _multiplies(instruction, product, store, machine):
            group = 4 // product.columns.dtype.bytes
            steps = size_of(product.reduced) // (_SIDE * group)
            if min(*sizes) < _SIDE or not steps:
                return None
            shape = _shape(product, group)
            return None if shape is None else _Tiles(product, instruction.name, group, *shape)
    return None


def _shape(product: TwoFactors, group: int) -> tuple[int, int] | None:
    """Return how many tiles of sums are in registers at once, along rows and along columns: what
    takes the fewest cycles, padding included; None if all need too much memory."""

    def cost(shape: tuple[int, int]) -> int:
        high, wide = shape
        times = -(-size_of(product.row) // (_SIDE * high))
        times *= -(-size_of(product.column) // (_SIDE * wide))
        return times * (high * wide * _MULTIPLY + (high + wide) * _LOAD)

    shapes = [
        (high, wide)
        for high in range(_MOST, 0, -1)
        for wide in range(_MOST, 0, -1)
        if product.fits_memory((_SIDE * high, _SIDE * wide, _SIDE * group), (True, True))
    ]
    return min(shapes, key=cost, default=None)


def _multiplies(
    instruction: Instruction, product: TwoFactors, store: Store, machine: Machine
) -> bool:
    """Return True if an instruction adds products of tiles of these types, on this machine."""
    signs = tuple(f"+{name}" for name in machine.features)
    if instruction.dtype.lanes != _SIDE * _SIDE or not instruction.is_native(_ARCH, signs):
        return False
    _, a, b = instruction.types
    given = (product.rows.dtype, product.columns.dtype, store.value.dtype)
    whole = _SIDE * _ROW_BYTES
    full = a.lanes * a.element.bytes == b.lanes * b.element.bytes == whole
    return full and (a.element, b.element, instruction.dtype.element) == given


def _pack(
    sch: Schedule, ref: BlockRef, block: Block, found: _Tiles, copies: dict[str, BlockRef]
) -> None:
    """Store both operands tile by tile, as the instruction reads them."""
    product, group = found.product, found.group
    deep = _SIDE * group
    i, k = _places(product.rows, product.row, product.reduced)
    rows = copy_of(sch, ref, block, product.rows, copies)

    def row_tiles(*indices: Expr) -> list[Expr]:
        row, step = indices[i], indices[k]
        return [*_others(indices, i, k), row // _SIDE, step // deep, row % _SIDE, step % deep]

    sch.transform_layout(rows, row_tiles)
    loops = sch.get_loops(rows)
    far, near = sch.split(loops[k], [None, deep])
    sch.reorder(*_others(loops, i, k), loops[i], far, near)
    sch.vectorize(near)
    j, k = _places(product.columns, product.column, product.reduced)
    columns = copy_of(sch, ref, block, product.columns, copies)

    def column_tiles(*indices: Expr) -> list[Expr]:
        column, step = indices[j], indices[k]
        inside = [step // group % _SIDE, column % _SIDE, step % group]
        return [*_others(indices, j, k), column // _SIDE, step // deep, *inside]

    sch.transform_layout(columns, column_tiles)
    loops = sch.get_loops(columns)
    copy_groups(
        sch,
        columns,
        (loops[j], loops[k]),
        _others(loops, j, k),
        (size_of(product.column), size_of(product.reduced)),
        dtype=product.columns.dtype,
        tile=(_SIDE, group),
        interleaves=k < j,
    )


def _places(load: Load, axis: Axis, reduced: Axis) -> tuple[int, int]:
    """Return the dimensions of an operand along an axis and along the reduction."""
    return load.indices.index(axis.var), load.indices.index(reduced.var)


def _others(items: Sequence[_T], one: int, other: int) -> list[_T]:
    return [each for at, each in enumerate(items) if at not in (one, other)]


def _nest(
    sch: Schedule, ref: BlockRef, block: Block, found: _Tiles, finish: list[BlockRef]
) -> None:
    """Split and order the loops, keep the tiles of sums in registers, and finish them at the end
    of the reduction."""
    product, high, wide = found.product, found.high, found.wide
    by_axis = {axis.var: loop for axis, loop in zip(block.axes, sch.get_loops(ref), strict=True)}
    moved = (product.row, product.column)
    rest = [by_axis[axis.var] for axis in spatial_axes(block) if axis not in moved]
    i, i_tile, i_in = sch.split(by_axis[product.row.var], [None, high, _SIDE])
    j, j_tile, j_in = sch.split(by_axis[product.column.var], [None, wide, _SIDE])
    k, k_group, k_in = sch.split(by_axis[product.reduced.var], [None, _SIDE, found.group])
    sch.reorder(*rest, j, i, k, i_tile, j_tile, i_in, j_in, k_group, k_in)
    sch.unroll(i_tile)
    sch.unroll(j_tile)
    for each in finish:
        sch.reverse_compute_at(each, i)
    start = sch.decompose_reduction(ref, k)
    *_, i_start, j_start, first, last = sch.get_loops(start)
    sch.unroll(i_start)
    sch.unroll(j_start)
    sch.vectorize(sch.fuse(first, last))

    def layout(*indices: Expr) -> list[Expr]:
        *lead, row, column = indices
        far = [*lead, row // (_SIDE * high), column // (_SIDE * wide)]
        inside = [row // _SIDE % high, column // _SIDE % wide]
        return [*far, *inside, row % _SIDE, column % _SIDE]

    sch.transform_layout(ref, layout)
    sch.set_scope(ref, "local")
    sch.tensorize(i_in, found.intrinsic)
    for each in finish:
        _, out = sch.split(sch.get_loops(each)[-1], [None, _SIDE])
        sch.vectorize(out)
