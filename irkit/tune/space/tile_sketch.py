"""Sketches of reductions of any kind: a tile of accumulators in registers."""

import itertools
import math
from typing import Any

import msgspec

from irkit.autoschedule import Estimates, Machine, Rule, Tile, apply_tile, spatial_axes
from irkit.core import ScheduleError
from irkit.ir import Axis, Block, as_int
from irkit.schedule import BlockRef, Schedule, only_store
from irkit.tune.cost import TileWork, cycles_of_tile, work_of_block
from irkit.tune.space.sketch import Knobs, Setting
from irkit.tune.space.strips import STRIPS, strip_loop

_ROWS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16)
_VECTORS = (1, 2, 3, 4, 6, 8)
_UNROLLED = (1, 2, 3, 4, 8)
_MOST_COPIES = 64
"""Copies of a body: more code than that takes long to compile and leaves the instruction cache."""
_MOST_ORDERS = 6


class TileSketch(msgspec.Struct, frozen=True, eq=False):
    """Vectors along the last axis, rows of another one, and the order of the reduction."""

    work: TileWork
    machine: Machine
    spatial: tuple[str, ...]
    reduced: tuple[str, ...]
    choices: dict[str, tuple[Any, ...]]

    @property
    def name(self) -> str:
        return "tile"

    @property
    def knobs(self) -> Knobs:
        return self.choices

    def allows(self, setting: Setting) -> bool:
        rows, row = int(setting["rows"]), int(setting["row"])
        if (row < 0) != (rows == 1):
            return False
        height = self.work.spatial[self.spatial[row]] if row >= 0 else 1
        width = self.work.spatial[self.spatial[-1]]
        vectors, lanes = int(setting["vectors"]), int(setting["lanes"])
        unroll = self._unrolled(setting)
        if rows > height or (vectors - 1) * lanes >= width or not unroll:
            return False
        if not self._has_strip(setting, rows):
            return False
        sums = rows * vectors
        return sums <= self.machine.vector_registers and sums * unroll <= _MOST_COPIES

    def _has_strip(self, setting: Setting, rows: int) -> bool:
        """Return True if a strip divides its loop, and no tile overlaps the one before it: such
        tiles stay in order. The last loop has no strips."""
        at, tiles = setting["strip"]
        if at < 0:
            return True
        size, row = rows if at == int(setting["row"]) else 1, int(setting["row"])
        columns = int(setting["vectors"]) * int(setting["lanes"])
        if self.work.spatial[self.spatial[-1]] % columns:
            return False
        if row >= 0 and self.work.spatial[self.spatial[row]] % rows:
            return False
        return -(-self.work.spatial[self.spatial[at]] // size) % tiles == 0

    def cycles(self, setting: Setting) -> float:
        row = int(setting["row"])
        rows = {self.spatial[row]: int(setting["rows"])} if row >= 0 else {}
        return cycles_of_tile(
            self.work,
            self.machine,
            self.spatial[-1],
            int(setting["vectors"]),
            int(setting["lanes"]),
            rows,
            self._unrolled(setting),
        )

    def rule(self, setting: Setting) -> Rule:
        def tile(sch: Schedule, block: Block, machine: Machine, estimates: Estimates) -> None:
            store = only_store(block)
            if store is None:
                raise ScheduleError(f"block {block.name!r} stores more than once")
            last = as_int(spatial_axes(block)[-1].extent) or 1
            lanes, vectors = int(setting["lanes"]), int(setting["vectors"])
            row, rows = int(setting["row"]), int(setting["rows"])
            shape = Tile(last, lanes, vectors, row, rows, fits=lanes * vectors <= last)
            bindings = {axis.var.name: axis.binding for axis in block.axes}
            apply_tile(sch, block, store, shape)
            ref = BlockRef(block.name)
            loops = sch.get_loops(ref)
            found = [
                next(loop for loop in loops if loop.var is bindings[name])
                for name in self._order(setting)
            ]
            if len(found) > 1:
                sch.reorder(*found)
            reduced = {loop.var for loop in found}
            outer = loops[: [loop.var in reduced for loop in loops].index(True)]
            strip_loop(sch, outer, *setting["strip"])
            times = self._unrolled(setting)
            if times > 1:
                inner = found[-1]
                if times < self.work.reduced[self._order(setting)[-1]]:
                    _, inner = sch.split(inner, [None, times])
                sch.unroll(inner)

        return tile

    def _order(self, setting: Setting) -> tuple[str, ...]:
        orders = tuple(itertools.permutations(self.reduced))
        return orders[int(setting["order"]) % len(orders)]

    def _unrolled(self, setting: Setting) -> int:
        """Return how often the innermost step is unrolled; 0 if that does not divide it."""
        extent = self.work.reduced[self._order(setting)[-1]]
        times = int(setting["unroll"])
        return times if times <= extent and extent % times == 0 else 0


def tile_sketches(block: Block, machine: Machine) -> list[TileSketch]:
    """Return the sketch of a reduction; none if its sizes are not constant."""
    store, work = only_store(block), work_of_block(block)
    if store is None or work is None or not work.reduced or not work.spatial:
        return []
    if block.predicate is not None:
        return []
    spatial = spatial_axes(block)
    names = tuple(axis.var.name for axis in spatial)
    width = work.spatial[names[-1]]
    lanes = max(1, machine.vector_bytes // store.buffer.dtype.bytes)
    lanes = min(lanes, 1 << (width - 1).bit_length())
    if width < 2 or not _is_last(store.indices, spatial[-1]):
        return []
    orders = min(math.factorial(len(work.reduced)), _MOST_ORDERS)
    wide = [at for at, name in enumerate(names[:-1]) if work.spatial[name] > 1]
    choices: dict[str, tuple[Any, ...]] = {
        "lanes": tuple(sorted({lanes, max(1, lanes // 2)})),
        "vectors": tuple(each for each in _VECTORS if (each - 1) * lanes < width),
        "row": (-1, *wide),
        "rows": _ROWS if wide else (1,),
        "order": tuple(range(orders)),
        "unroll": _UNROLLED,
        "strip": tuple(
            [at, each] for at in (-1, *wide) for each in STRIPS if (at < 0) == (each == 1)
        ),
    }
    return [TileSketch(work, machine, names, tuple(work.reduced), choices)]


def _is_last(indices: Any, axis: Axis) -> bool:
    return bool(indices) and indices[-1] is axis.var
