"""Choose the register tile of a reduction."""

import msgspec

from irkit.autoschedule.machine import Machine
from irkit.autoschedule.structure import (
    Estimates,
    Product,
    estimate,
    move_as_one,
    row_axis,
    spatial_axes,
)
from irkit.core import walk
from irkit.ir import Axis, Block, Expr, Load, Store, as_int
from irkit.schedule import variables

_FEWEST_LANES = 4
_MOST_VECTORS = 2
_MOST_FAR_VECTORS = 8


class Tile(msgspec.Struct, frozen=True):
    """The tile of a reduction: ``rows`` along one axis by ``vectors`` of ``lanes`` along the line.

    The line is the last spatial axis, or the last two ``fused`` into one; ``row`` is the position
    of the row axis among the spatial axes, or -1.
    """

    fused: bool
    extent: int
    lanes: int
    vectors: int
    row: int
    rows: int

    def is_constant(self, spatial: list[Axis]) -> bool:
        """Return True if the extents of the axes that are cut are constant."""
        cut = [*spatial[-2 if self.fused else -1 :], *spatial[self.row : self.row + 1]]
        return all(as_int(axis.extent) is not None for axis in cut)

    def layout(self, *indices: Expr) -> list[Expr]:
        """Map indices to a layout in which the elements of a tile are contiguous."""
        place, count = indices[-1], len(indices) - 1
        if self.fused:
            place, count = indices[-2] * self.extent + place, count - 1
        head: list[Expr] = []
        for number, index in enumerate(indices[:count]):
            cut = number == self.row
            head += [index // self.rows, index % self.rows] if cut else [index]
        lanes, vectors = self.lanes, self.vectors
        return [*head, place // (vectors * lanes), place // lanes % vectors, place % lanes]


def tile_of(block: Block, store: Store, machine: Machine, estimates: Estimates) -> Tile | None:
    """Choose a tile; None if the line is too short, or an extent is neither constant nor
    estimated."""
    spatial = spatial_axes(block)
    sizes = [estimate(axis.extent, estimates) for axis in block.axes]
    if not spatial or None in sizes:
        return None
    last, extent = spatial[-1], estimate(spatial[-1].extent, estimates) or 0
    is_open = as_int(last.extent) is None
    pair = [axis for axis in spatial[-2:] if as_int(axis.extent) is not None]
    fused = len(pair) == 2 and move_as_one(block, store, *pair)
    whole = extent * (as_int(spatial[-2].extent) or 0) if fused else extent
    if whole < _FEWEST_LANES:
        return None
    lanes = max(1, machine.vector_bytes // store.buffer.dtype.bytes)
    lanes = min(lanes, 1 << (whole - 1).bit_length())  # A short line uses a short vector.
    found = None if is_open else row_axis(Product(block, store), spatial, last)
    far = found is None and _is_far(block, spatial[-1])
    vectors = min(_MOST_FAR_VECTORS if far else _MOST_VECTORS, -(-whole // lanes))
    row, shared = found if found is not None else (None, 1)
    most = machine.vector_registers // 2 // vectors  # Half of the registers hold accumulators.
    whole_axis = row is not None and shared == as_int(row.extent)
    rows = _rows(shared, most) if whole_axis else _divisor(shared, most)
    beside = row is not None and rows > 1 and not (fused and row is spatial[-2])
    place = spatial.index(row) if row is not None and beside else -1
    return Tile(fused, extent, lanes, vectors, place, rows if beside else 1)


def _is_far(block: Block, line: Axis) -> bool:
    """Return True if each step of the innermost reduction reads another line of an input: then a
    tile reads as much of it as possible, one neighbour after the other."""
    reduced = [axis.var for axis in block.axes if axis.kind == "reduce"]
    return bool(reduced) and all(
        line.var in variables(load.indices[-1]) and reduced[-1] not in variables(load.indices[-1])
        for load in walk(block.body, on=Load)
        if reduced[-1] in {var for index in load.indices for var in variables(index)}
    )


def _rows(extent: int, most: int) -> int:
    """Return the number of rows of a tile: a divisor of the extent, or, where those are small, one
    that leaves few rows of the last tile unused."""
    exact = _divisor(extent, most)
    if 2 * exact >= most or extent <= most:
        return exact
    return -(-extent // -(-extent // most))


def _divisor(extent: int, most: int) -> int:
    """Return the largest divisor of an extent that is at most ``most``."""
    return max(size for size in range(1, most + 1) if extent % size == 0)
