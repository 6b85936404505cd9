"""Choose the register tile of a reduction, by closed formulas from a machine's sizes.

A tile has vectors along the line, the last spatial axis, and may have several lines, and several
values of an axis that the vectors do not depend on: channels of a convolution. As many sums as fit
into registers hide the latency of an addition, and each load serves several of them.
"""

import math
from collections.abc import Iterator
from itertools import product

import msgspec

from irkit.autoschedule.machine import Machine
from irkit.autoschedule.structure import (
    MOST_COPIED,
    Estimates,
    Product,
    estimate,
    reduce_axes,
    row_axis,
    spatial_axes,
)
from irkit.core import walk
from irkit.ir import Axis, Block, Interval, Load, Store, Var, as_int, bounds
from irkit.schedule import variables

_FEWEST_LANES = 4
_MOST_VECTORS = 2
_MOST_FAR_VECTORS = 8
_MOST_LINES = 8
_START = 30
"""Cycles to begin and end a tile, beside storing it."""
_STORED = 2.0
"""Cycles to store a vector of results."""
_MASKED = 0.5
"""Loads that a load of part of a vector takes longer."""
_CACHED = 4
"""The part of the second cache that one operand may fill is one in so many."""
_MOST_UNROLLED = 96
"""Operations on vectors in the body of the innermost loop that is left."""


class Tile(msgspec.Struct, frozen=True):
    """The tile of a reduction: ``rows`` along one axis by ``lines`` along another by ``vectors`` of
    ``lanes`` along the line.

    The line of so many elements, the ``extent``, is the last spatial axis; ``row`` and ``near`` are
    the positions of the other axes among the spatial ones, or -1. A tile that does not ``fit`` is
    wider than the line. The innermost ``unrolled`` reduce loops are unrolled. All rows of so many
    ``tiles`` along the axis at the position ``blocked`` are computed before the next tiles, if it
    is not -1: what they read stays in the cache.
    """

    extent: int
    lanes: int
    vectors: int
    row: int = -1
    rows: int = 1
    near: int = -1
    lines: int = 1
    fits: bool = True
    unrolled: int = 0
    blocked: int = -1
    tiles: int = 0

    @property
    def sums(self) -> int:
        return self.rows * self.lines * self.vectors


def register_tile(
    block: Block, store: Store, machine: Machine, estimates: Estimates
) -> Tile | None:
    """Choose a tile that fills the registers; None if the line is too short, or an extent is
    neither constant nor estimated."""
    spatial = spatial_axes(block)
    sizes = [estimate(axis.extent, estimates) for axis in block.axes]
    if not spatial or None in sizes:
        return None
    line = spatial[-1]
    extent = estimate(line.extent, estimates) or 0
    if extent < _FEWEST_LANES:
        return None
    lanes = max(1, machine.vector_bytes // store.buffer.dtype.bytes)
    lanes = min(lanes, 1 << (extent - 1).bit_length())  # A short line uses a short vector.
    while lanes > extent and _copied(block, store, line, lanes) > MOST_COPIED:
        lanes //= 2
    if any(as_int(axis.extent) is None for axis in (line, *reduce_axes(block))):
        most = _MOST_FAR_VECTORS if _is_far(block, line) else _MOST_VECTORS
        return Tile(extent, lanes, min(most, -(-extent // lanes)), fits=False)
    return _Choice(block, store, machine, lanes, extent).best()


def _copied(block: Block, store: Store, line: Axis, lanes: int) -> float:
    """Return the bytes of copies of all that a reduction reads, with room for the lanes beyond the
    end of the line, for each byte of it."""
    ends = {axis.var: (as_int(axis.extent) or 1) - 1 for axis in block.axes}
    ranges = {var: Interval(0, end) for var, end in {**ends, line.var: lanes - 1}.items()}
    copied, read = 0.0, 0
    for load in {load.buffer: load for load in walk(block.body, on=Load)}.values():
        if load.buffer is store.buffer or not load.indices:
            continue
        dims = [as_int(dim) or 1 for dim in load.buffer.shape]
        high = bounds(load.indices[-1], ranges).high
        size = math.prod(dims) * load.buffer.dtype.bytes
        copied += size * max(dims[-1], (high or 0) + 1) / dims[-1]
        read += size
    return copied / max(read, 1)


class _Choice:
    """The tiles of a reduction whose sizes are constant, and what each costs."""

    def __init__(
        self, block: Block, store: Store, machine: Machine, lanes: int, extent: int
    ) -> None:
        self._block, self._machine = block, machine
        self._lanes, self._extent = lanes, extent
        spatial = spatial_axes(block)
        self._spatial = spatial
        self._line = spatial[-1].var
        found = row_axis(Product(block, store), spatial, spatial[-1])
        self._row, self._shared = (-1, 1) if found is None else (spatial.index(found[0]), found[1])
        before = [
            at
            for at, axis in enumerate(spatial[:-1])
            if at != self._row and (as_int(axis.extent) or 1) > 1
        ]
        self._near = before[-1] if before else -1
        own = {each.buffer for each in walk(block.body, on=Store)}
        loads = dict.fromkeys(walk(block.body, on=Load))
        self._read = [load for load in loads if load.buffer not in own]
        self._used = [{var for i in load.indices for var in variables(i)} for load in self._read]
        self._steps = math.prod(as_int(axis.extent) or 1 for axis in reduce_axes(block))
        self._far = self._row < 0 and _is_far(block, spatial[-1])

    def best(self) -> Tile | None:
        found = min(self._tiles(), key=self._cost, default=None)
        if found is None:
            return None
        at, tiles = self._blocks(found)
        return msgspec.structs.replace(
            found, unrolled=self._unrolled(found), blocked=at, tiles=tiles
        )

    def _tiles(self) -> Iterator[Tile]:
        """Yield the tiles whose sums and operands fit into the registers, and the smallest."""
        sizes = product(self._vectors(), range(1, self._most_lines() + 1), self._rows())
        for vectors, lines, rows in sizes:
            found = Tile(
                self._extent,
                self._lanes,
                vectors,
                self._row if rows > 1 else -1,
                rows,
                self._near if lines > 1 else -1,
                lines,
                vectors * self._lanes <= self._extent,
            )
            fits = self._registers(found) <= self._machine.vector_registers
            if fits or found.sums == 1:
                yield found

    def _most_lines(self) -> int:
        return min(_MOST_LINES, self._size(self._near))

    def _vectors(self) -> range:
        # Loads of a part of a vector are slow, so only a line shorter than a vector is wider.
        most = min(_MOST_FAR_VECTORS, max(1, self._extent // self._lanes))
        return range(most if self._far else 1, most + 1)

    def _rows(self) -> list[int]:
        if self._row < 0:
            return [1]
        most = min(self._shared, self._machine.vector_registers)
        if self._shared == self._size(self._row):
            return list(range(1, most + 1))
        return [rows for rows in range(1, most + 1) if self._shared % rows == 0]

    def _size(self, at: int) -> int:
        return 1 if at < 0 else as_int(self._spatial[at].extent) or 1

    def _loads(self, tile: Tile) -> list[int]:
        """Return how many elements or vectors of each operand a step of a tile loads."""
        return [self._count(tile, used) for used in self._used]

    def _count(self, tile: Tile, used: set[Var]) -> int:
        count = tile.vectors if self._line in used else 1
        if tile.near >= 0 and self._spatial[tile.near].var in used:
            count *= tile.lines
        if tile.row >= 0 and self._spatial[tile.row].var in used and self._line not in used:
            count *= tile.rows
        return count

    def _registers(self, tile: Tile) -> int:
        """Return the registers of a step: all sums, the operand of fewer vectors, and one more."""
        loads = self._loads(tile)
        return tile.sums + 1 + (min(loads) if len(loads) > 1 else 0)

    def _cost(self, tile: Tile) -> tuple[float, int]:
        """Estimate the cycles of all tiles."""
        loads = self._loads(tile)
        terms = max(1, len(loads) // 2)
        loaded = sum(loads) + (0 if tile.fits else _MASKED * tile.lines)
        step = max(
            tile.sums * terms / self._machine.multiplied,
            loaded / self._machine.loaded,
            self._machine.latency * terms,
        )
        one = self._steps * step + tile.sums * _STORED + _START
        count = -(-self._extent // (tile.vectors * tile.lanes))
        count *= -(-self._size(tile.row) // tile.rows) if tile.row >= 0 else self._size(self._row)
        count *= -(-self._size(self._near) // tile.lines)
        return count * one, sum(loads)

    def _blocks(self, tile: Tile) -> tuple[int, int]:
        """Return the axis to block, and how many tiles along it read what half of a cache holds;
        -1 if that is read once, or all of it fits, or other operands would be read more often."""
        at = self._near if self._near >= 0 else len(self._spatial) - 1
        if tile.row < 0 or at < tile.row or not tile.fits:
            return -1, 0
        wide, others = self._bytes(at)
        across = -(-self._size(tile.row) // tile.rows)
        size = tile.vectors * tile.lanes if at == len(self._spatial) - 1 else tile.lines
        most = max(1, self._machine.l2 * self._size(at) // (_CACHED * max(wide, 1) * size))
        count = -(-self._size(at) // size)
        blocks = -(-count // most)
        if across < 2 or wide * _CACHED <= self._machine.l2 or blocks * others > across * wide:
            return -1, 0
        return at, -(-count // blocks)

    def _bytes(self, at: int) -> tuple[int, int]:
        """Return how many bytes of the operands along the line, and of others, the results of all
        rows read."""
        wide = others = 0
        whole = {axis.var for n, axis in enumerate(self._spatial) if n in (at, self._row)}
        for load, used in zip(self._read, self._used, strict=True):
            dims = (as_int(dim) or 1 for dim in load.buffer.shape)
            size = load.buffer.dtype.bytes * math.prod(dims)
            for axis in self._spatial[:-1]:
                if axis.var in used - whole:
                    size //= as_int(axis.extent) or 1
            if self._line in used:
                wide += size
            else:
                others += size
        return wide, others

    def _unrolled(self, tile: Tile) -> int:
        """Return how many of the innermost reduce loops are short enough to unroll."""
        body, found = tile.sums, 0
        for axis in reversed(reduce_axes(self._block)):
            body *= as_int(axis.extent) or 1
            if body > _MOST_UNROLLED:
                break
            found += 1
        return found


def _is_far(block: Block, line: Axis) -> bool:
    """Return True if each step of the innermost reduction reads another line of an input: then a
    tile reads as much of it as possible, one neighbour after the other."""
    long = [axis.var for axis in reduce_axes(block) if as_int(axis.extent) != 1]
    return bool(long) and all(
        line.var in variables(load.indices[-1]) and long[-1] not in variables(load.indices[-1])
        for load in walk(block.body, on=Load)
        if long[-1] in {var for index in load.indices for var in variables(index)}
    )
