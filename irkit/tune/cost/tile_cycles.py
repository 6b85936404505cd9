"""Estimate the cycles of a register tile of any reduction or pointwise stage.

In each step the busiest unit decides: arithmetic, loads, or a sum that waits for itself. Sums that
do not fit into the registers are stored and loaded again.
"""

import math

import msgspec

from irkit.autoschedule import CALLED, COMPARED, STEP_CYCLES, Machine
from irkit.core import walk
from irkit.ir import (
    Add,
    Axis,
    Binary,
    Block,
    Call,
    Expr,
    Load,
    Max,
    Min,
    Mul,
    Sub,
    as_int,
    linear,
)
from irkit.schedule import only_store, variables

_CACHE_LINE = 64
_AGAIN = 1.0
"""Cycles for each step and sum that is not in a register."""
_START = 20


class TileRead(msgspec.Struct, frozen=True):
    """An element that a block reads in each step: which axes move it, and how far apart in memory
    neighbours along each are, in elements of so many ``bytes``."""

    strides: dict[str, int]
    bytes: int = 4

    def loads(
        self,
        line: str,
        vectors: int,
        lanes: int,
        sizes: dict[str, int],
        between: dict[str, int],
    ) -> float:
        """Return the loads of a tile, of several rows and perhaps of several steps: what two of
        them read is loaded once. A vector that crosses a line of the cache counts twice.

        ``between`` is how far apart tiles are along each axis that has several.
        """
        moved = [(self.strides[axis], size) for axis, size in sizes.items() if axis in self.strides]
        stride = self.strides.get(line, 0)
        if stride and (stride != 1 or lanes == 1):
            moved.append((stride * lanes, vectors))
        elif stride:
            moved.append((lanes, vectors))
        places = {0}
        for apart, size in moved:
            places = {place + apart * at for place in places for at in range(size)}
        if stride != 1:
            return len(places) * (lanes if stride else 1)
        part = min(1.0, lanes * self.bytes / _CACHE_LINE)
        if any(self.strides.get(axis, 0) * step % lanes for axis, step in between.items()):
            return len(places) * (1 + part)
        return len(places) + part * sum(place % lanes > 0 for place in places)


class TileWork(msgspec.Struct, frozen=True):
    """What a block does at each point: operations and reads; and the extents of its axes."""

    operations: float
    reads: tuple[TileRead, ...]
    spatial: dict[str, int]
    reduced: dict[str, int]

    @property
    def steps(self) -> int:
        return math.prod(self.reduced.values())

    @property
    def points(self) -> int:
        return math.prod(self.spatial.values()) * self.steps

    def loads(self, line: str, vectors: int, lanes: int, sizes: dict[str, int]) -> float:
        """Return the loads of a tile of vectors along a line, and of such sizes along others."""
        sides = [*self.spatial.items(), *self.reduced.items()]
        between = {
            axis: sizes.get(axis, 1)
            for axis, extent in sides
            if axis != line and sizes.get(axis, 1) < extent
        }
        return sum(each.loads(line, vectors, lanes, sizes, between) for each in self.reads)


def work_of_block(block: Block) -> TileWork | None:
    """Return what a block does; None if an extent is not constant, or it stores more than once."""
    store = only_store(block)
    sizes = {axis.var.name: as_int(axis.extent) for axis in block.axes}
    if store is None or None in sizes.values() or len(sizes) != len(block.axes):
        return None
    known = {name: size or 1 for name, size in sizes.items()}
    loads = [each for each in walk(store.value, on=Load) if each.buffer is not store.buffer]
    return TileWork(
        _operations(store.value),
        tuple(_read(load, block.axes) for load in loads),
        {axis.var.name: known[axis.var.name] for axis in block.axes if axis.kind == "spatial"},
        {axis.var.name: known[axis.var.name] for axis in block.axes if axis.kind == "reduce"},
    )


def cycles_of_tile(
    work: TileWork,
    machine: Machine,
    line: str,
    vectors: int,
    lanes: int,
    rows: dict[str, int],
    inner: dict[str, int] | None = None,
) -> float:
    """Estimate the cycles of a reduction whose tiles are some vectors along a line by some rows.

    ``inner`` are the axes of the reduction of which so many steps are unrolled together.
    """
    together = inner or {}
    times = math.prod(together.values())
    sums = math.prod(rows.values()) * vectors
    loads = work.loads(line, vectors, lanes, {**rows, **together})
    step = max(
        work.operations * sums * times / machine.multiplied,
        loads / machine.loaded,
        machine.latency * times,
    )
    needed = sums + vectors + 1
    step += max(0, needed - machine.vector_registers) * _AGAIN * times + STEP_CYCLES
    tiles = 1.0
    for axis, extent in work.spatial.items():
        size = vectors * lanes if axis == line else rows.get(axis, 1)
        tiles *= math.ceil(extent / size)
    return tiles * (work.steps / times * step + sums * 2 + _START)


def cycles_of_pointwise(
    work: TileWork, machine: Machine, line: str, vectors: int, lanes: int, rows: dict[str, int]
) -> float:
    """Estimate the cycles of a pointwise stage in tiles of vectors along a line by rows."""
    height = math.prod(rows.values())
    loads = work.loads(line, vectors, lanes, rows)
    busy = work.operations * height * vectors / machine.multiplied
    step = max(busy, loads / machine.loaded, height * vectors) + STEP_CYCLES
    tiles = 1.0
    for axis, extent in work.spatial.items():
        size = vectors * lanes if axis == line else rows.get(axis, 1)
        tiles *= math.ceil(extent / size)
    return tiles * step


def _operations(value: Expr) -> float:
    """Count the instructions of a value: a product that is added is one with its sum."""
    added = multiplied = others = 0
    for node in walk(value, on=Expr):
        if isinstance(node, Call):
            others += 1 if node.name == "abs" else CALLED
        elif not isinstance(node, Binary) or not node.dtype.is_float:
            continue
        elif isinstance(node, Mul):
            multiplied += 1
        elif isinstance(node, (Add, Sub)):
            added += 1
        else:
            others += COMPARED if isinstance(node, (Max, Min)) else 1
    return max(1, added + multiplied - min(added, multiplied) + others)


def _read(load: Load, axes: tuple[Axis, ...]) -> TileRead:
    strides: dict[str, int] = {}
    dims = [as_int(dim) or 1 for dim in load.buffer.shape]
    for at, index in enumerate(load.indices):
        apart = math.prod(dims[at + 1 :])
        form = linear(index)
        used = variables(index)
        for axis in axes:
            if axis.var in used:
                factor = form.coefficient(axis.var) if form is not None else 0
                strides[axis.var.name] = strides.get(axis.var.name, 0) + (factor or 2) * apart
    return TileRead(strides, load.buffer.dtype.bytes)
