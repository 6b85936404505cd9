"""Estimate the cycles of a register tile of any reduction or pointwise stage.

In each step the busiest unit decides: arithmetic, loads, or a sum that waits for itself. Sums that
do not fit into the registers are stored and loaded again.
"""

import math

import msgspec

from irkit.autoschedule import Machine
from irkit.core import walk
from irkit.ir import Axis, Binary, Block, Call, Expr, Load, Mul, as_int, linear
from irkit.schedule import only_store, variables

_CALL = 12
"""Operations of a call of a function such as exp."""
_AGAIN = 1.0
"""Cycles for each step and sum that is not in a register."""
_START = 20
_STEP = 0.75
"""Cycles of a step for its counter and the jump, shared by the steps that are unrolled."""


class TileRead(msgspec.Struct, frozen=True):
    """An element that a block reads in each step: which axes move it, and how far apart in memory
    neighbours along each are, in elements."""

    strides: dict[str, int]

    def loads(self, line: str, vectors: int, lanes: int, rows: dict[str, int]) -> float:
        """Return the loads of a tile in one step."""
        times = math.prod(size for axis, size in rows.items() if axis in self.strides)
        stride = self.strides.get(line, 0)
        if not stride:
            return times
        return times * vectors * (1 if stride == 1 else lanes)


class TileWork(msgspec.Struct, frozen=True):
    """What a block does at each point: operations and reads; and the extents of its axes."""

    operations: int
    reads: tuple[TileRead, ...]
    spatial: dict[str, int]
    reduced: dict[str, int]

    @property
    def steps(self) -> int:
        return math.prod(self.reduced.values())

    @property
    def points(self) -> int:
        return math.prod(self.spatial.values()) * self.steps


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
    unroll: int = 1,
) -> float:
    """Estimate the cycles of a reduction whose tiles are some vectors along a line by some rows."""
    height = math.prod(rows.values())
    sums = height * vectors
    loads = sum(each.loads(line, vectors, lanes, rows) for each in work.reads)
    step = max(work.operations * sums / machine.multiplied, loads / machine.loaded, machine.latency)
    needed = sums + vectors + 1
    step += max(0, needed - machine.vector_registers) * _AGAIN + _STEP / unroll
    tiles = 1.0
    for axis, extent in work.spatial.items():
        size = vectors * lanes if axis == line else rows.get(axis, 1)
        tiles *= math.ceil(extent / size)
    return tiles * (work.steps * step + sums * 2 + _START)


def cycles_of_pointwise(
    work: TileWork, machine: Machine, line: str, vectors: int, lanes: int, rows: dict[str, int]
) -> float:
    """Estimate the cycles of a pointwise stage in tiles of vectors along a line by rows."""
    height = math.prod(rows.values())
    loads = sum(each.loads(line, vectors, lanes, rows) for each in work.reads)
    busy = work.operations * height * vectors / machine.multiplied
    step = max(busy, loads / machine.loaded, height * vectors) + _STEP
    tiles = 1.0
    for axis, extent in work.spatial.items():
        size = vectors * lanes if axis == line else rows.get(axis, 1)
        tiles *= math.ceil(extent / size)
    return tiles * step


def _operations(value: Expr) -> int:
    found = 0
    for node in walk(value, on=Expr):
        if isinstance(node, Call):
            found += _CALL
        elif isinstance(node, Binary) and node.dtype.is_float and not isinstance(node, Mul):
            found += 1  # A product is added in the same instruction.
    return max(1, found)


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
    return TileRead(strides)
