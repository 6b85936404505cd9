"""Recognise a product of two matrices of constant sizes, of any types."""

from typing import NamedTuple

from irkit.autoschedule.structure import MOST_COPIED, spatial_axes
from irkit.ir import Add, Axis, Block, Cast, Load, Mul, Store, as_int
from irkit.schedule import BlockRef, Schedule


class TwoFactors(NamedTuple):
    """A sum of products: ``rows`` is the operand that moves with ``row``, ``columns`` the one with
    ``column``, the last axis of the result; both move with ``reduced``."""

    row: Axis
    column: Axis
    reduced: Axis
    rows: Load
    columns: Load

    @property
    def work(self) -> int:
        """Return the number of products, of one batch."""
        return size_of(self.row) * size_of(self.column) * size_of(self.reduced)

    def fits_memory(
        self, by: tuple[int, int, int], copied: tuple[bool, bool], more: int = 0
    ) -> bool:
        """Return True if the operands that are ``copied``, padded to multiples of so many rows,
        columns and steps, and ``more`` bytes for each column, are not much larger than both
        operands."""
        sizes = [size_of(axis) for axis in (self.row, self.column, self.reduced)]
        rows, columns, steps = (
            -(-size // each) * each for size, each in zip(sizes, by, strict=True)
        )
        read = made = 0
        for load, is_copied, own, padded in (
            (self.rows, copied[0], sizes[0], rows),
            (self.columns, copied[1], sizes[1], columns),
        ):
            read += own * sizes[2] * load.dtype.bytes
            made += padded * steps * load.dtype.bytes if is_copied else 0
        return made + more * sizes[1] <= MOST_COPIED * read


def matrix_product_of(block: Block, store: Store) -> TwoFactors | None:
    """Return the product of two matrices, or of batches of them, that a block computes."""
    factors = _factors(store)
    reduced = [axis for axis in block.axes if axis.kind == "reduce"]
    spatial = spatial_axes(block)
    extents = [as_int(axis.extent) for axis in block.axes]
    if factors is None or len(reduced) != 1 or len(spatial) < 2 or None in extents:
        return None
    rows, columns = factors
    column = spatial[-1]
    inside = [axis for axis in spatial[:-1] if axis.var in rows.indices]
    if column.var in rows.indices or column.var not in columns.indices:
        return None
    own = [axis for axis in inside if axis.var not in columns.indices]
    shared = {reduced[0].var} <= {*rows.indices} & {*columns.indices}
    if len(own) != 1 or not shared or store.indices[-2:] != (own[0].var, column.var):
        return None
    return TwoFactors(own[0], column, reduced[0], rows, columns)


def _factors(store: Store) -> tuple[Load, Load] | None:
    """Return the two loads whose product is added, each converted to the type of the sum."""
    value = store.value
    if not isinstance(value, Add) or not isinstance(value.b, Mul):
        return None
    if not isinstance(value.a, Load) or value.a.buffer is not store.buffer:
        return None
    loads = [each.value if isinstance(each, Cast) else each for each in (value.b.a, value.b.b)]
    first, second = loads
    if not isinstance(first, Load) or not isinstance(second, Load):
        return None
    return None if first.buffer is second.buffer else (first, second)


def size_of(axis: Axis) -> int:
    """Return the constant extent of an axis; 0 if it is not constant."""
    return as_int(axis.extent) or 0


def copy_of(
    sch: Schedule, ref: BlockRef, block: Block, load: Load, copies: dict[str, BlockRef]
) -> BlockRef:
    """Return the block that pads an operand, or a new one that copies it."""
    known = copies.get(f"{block.name}_pad_{load.buffer.name}")
    return sch.cache_read(ref, load.buffer.name) if known is None else known
