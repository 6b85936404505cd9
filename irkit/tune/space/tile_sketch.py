"""Sketches of reductions of any kind: a tile of accumulators in registers."""

import itertools
import math
from contextlib import suppress
from typing import Any

import msgspec

from irkit.autoschedule import (
    Estimates,
    Machine,
    Rule,
    Tile,
    apply_tile,
    is_merged,
    merge_axes,
    row_axis_of,
    spatial_axes,
    tile_of,
)
from irkit.core import ScheduleError
from irkit.ir import Axis, Block
from irkit.schedule import BlockRef, LoopRef, Schedule, only_store
from irkit.tune.cost import TileWork, cycles_of_tile, work_of_block
from irkit.tune.space.copies import NO_COPY, OperandCopy, compute_producers_at, copies_of
from irkit.tune.space.sketch import Draws, Knobs, Setting
from irkit.tune.space.strips import STRIPS, strip_loop

_ROWS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16)
_LINES = (1, 2, 3, 4, 5, 6, 8)
_VECTORS = (1, 2, 3, 4, 6, 8)
_UNROLLED = (1, 2, 3, 4, 8, -1, -2)
"""Steps of the innermost loop that are unrolled; or all of so many loops."""
_MOST_COPIES = 64
"""Copies of a body of part of a loop: more take longer to compile and run no faster."""
_MOST_WHOLE = 320
"""Copies of a body of whole loops: neighbours share what they read, so each costs less."""
_MOST_ORDERS = 6
_MOST_FUSED = 3
_TOGETHER = (("row", "rows"), ("near", "lines"), ("copy", "fuse"))
_SELDOM = {"copy": 0.75, "strip": 0.5, "block": 0.5}
"""Chance that such a knob keeps the value that does nothing: each pays for few tasks."""
_BLOCKS = (2, 4, 8, 16, 32)
"""Tiles of a block, whose operands stay in a cache."""


class TileSketch(msgspec.Struct, frozen=True, eq=False):
    """Vectors along the last axis, rows of another one, lines of a third, and the order of the
    reduction.

    A ``merged`` one has the axes that the automatic schedule makes first: a line is an image.
    ``copies`` of what it reads may be kept in another layout, whole or for one tile after another.
    """

    work: TileWork
    machine: Machine
    spatial: tuple[str, ...]
    reduced: tuple[str, ...]
    choices: dict[str, tuple[Any, ...]]
    merged: bool = False
    first: dict[str, Any] | None = None
    copies: tuple[OperandCopy, ...] = ()
    produced: bool = False

    @property
    def name(self) -> str:
        return "merged" if self.merged else "tile"

    @property
    def knobs(self) -> Knobs:
        return self.choices

    @property
    def start(self) -> Setting | None:
        return self.first

    @property
    def draws(self) -> Draws:
        return Draws({"lanes": max(self.choices["lanes"])}, _TOGETHER, _SELDOM)

    def allows(self, setting: Setting) -> bool:
        rows, row = int(setting["rows"]), int(setting["row"])
        lines, near = int(setting["lines"]), int(setting["near"])
        if (row < 0) != (rows == 1) or (near < 0) != (lines == 1) or near == row >= 0:
            return False
        width = self.work.spatial[self.spatial[-1]]
        vectors, lanes = int(setting["vectors"]), int(setting["lanes"])
        if rows > self._size(row) or lines > self._size(near) or (vectors - 1) * lanes >= width:
            return False
        if not (self._has_strip(setting) and self._has_block(setting)):
            return False
        if setting["fuse"] >= 0 and setting["copy"] < 0 and not self.produced:
            return False
        sums, unrolled = rows * lines * vectors, self._unrolled(setting)
        if sums > self.machine.vector_registers or not unrolled:
            return False
        most = _MOST_COPIES if int(setting["unroll"]) > 0 else _MOST_WHOLE
        return sums * math.prod(unrolled.values()) <= most

    def _size(self, at: int) -> int:
        return self.work.spatial[self.spatial[at]] if at >= 0 else 1

    def _tall(self, setting: Setting) -> dict[int, int]:
        """Return the sizes of a tile along all axes but the last, by their positions."""
        pairs = (("row", "rows"), ("near", "lines"))
        return {int(setting[at]): int(setting[n]) for at, n in pairs if int(setting[at]) >= 0}

    def _has_strip(self, setting: Setting) -> bool:
        """Return True if a strip divides its loop, and no tile overlaps the one before it: such
        tiles stay in order. The last loop has no strips."""
        at, tiles = setting["strip"]
        if at < 0:
            return True
        columns, sizes = int(setting["vectors"]) * int(setting["lanes"]), self._tall(setting)
        if self.work.spatial[self.spatial[-1]] % columns:
            return False
        if any(self._size(axis) % size for axis, size in sizes.items()):
            return False
        return -(-self._size(at) // sizes.get(at, 1)) % tiles == 0

    def _has_block(self, setting: Setting) -> bool:
        """Return True if all rows of so many tiles along an axis can be computed before the next
        tiles: nothing else is blocked, and the axis is tiled and inside that of the rows."""
        at, tiles = setting["block"]
        if at < 0:
            return True
        last, columns = len(self.spatial) - 1, int(setting["vectors"]) * int(setting["lanes"])
        size = columns if at == last else self._tall(setting).get(at, 0)
        inside = 0 <= int(setting["row"]) < at and setting["strip"][0] < 0
        return inside and size > 0 and size * tiles < self._size(at) and columns <= self._size(last)

    def cycles(self, setting: Setting) -> float:
        return 2 * self._copied(setting) / int(setting["lanes"]) + cycles_of_tile(
            self.work,
            self.machine,
            self.spatial[-1],
            int(setting["vectors"]),
            int(setting["lanes"]),
            {self.spatial[at]: size for at, size in self._tall(setting).items()},
            self._unrolled(setting),
        )

    def _copied(self, setting: Setting) -> float:
        """Return how many elements are copied: once, or again in each tile of the outer loops."""
        if setting["copy"] < 0:
            return 0.0
        last = len(self.spatial) - 1
        sizes = self._tall(setting) | {last: int(setting["vectors"]) * int(setting["lanes"])}
        tiles = {
            self.spatial[at]: math.ceil(self._size(at) / sizes.get(at, 1)) for at in range(last + 1)
        }
        uneven = {self.spatial[at] for at, size in sizes.items() if self._size(at) % size}
        copy, loops = self.copies[int(setting["copy"])], int(setting["fuse"]) + 1
        return copy.copied(tiles, loops, uneven)

    def rule(self, setting: Setting) -> Rule:
        def tile(sch: Schedule, block: Block, machine: Machine, estimates: Estimates) -> None:
            store, ref = only_store(block), BlockRef(block.name)
            if store is None:
                raise ScheduleError(f"block {block.name!r} stores more than once")
            sizes = {key: int(setting[key]) for key in ("row", "rows", "near", "lines")}
            lanes, vectors = int(setting["lanes"]), int(setting["vectors"])
            width = self.work.spatial[self.spatial[-1]]
            blocked, tiles = setting["block"]
            fits = lanes * vectors <= width
            if setting["copy"] >= 0:
                self.copies[int(setting["copy"])].apply(sch, ref, lanes * vectors)
                block = sch.get(ref)
            shape = Tile(width, lanes, vectors, **sizes, fits=fits, blocked=blocked, tiles=tiles)
            apply_tile(sch, block, store, shape, merged=self.merged)
            made = sch.get(ref)
            bound = {axis.var.name: axis.binding for axis in made.axes}
            loops = sch.get_loops(ref)
            found = [
                next(loop for loop in loops if loop.var is bound[name])
                for name in self._order(setting)
            ]
            if len(found) > 1:
                sch.reorder(*found)
            reduced = {loop.var for loop in found}
            outer = loops[: [loop.var in reduced for loop in loops].index(True)]
            strip_loop(sch, outer, *setting["strip"])
            if setting["fuse"] >= 0:
                loops = sch.get_loops(ref)
                outer = loops[: [loop.var in reduced for loop in loops].index(True)]
                compute_producers_at(sch, ref, outer, int(setting["fuse"]))
            self._unroll(sch, found, setting)

        return tile

    def _unroll(self, sch: Schedule, loops: list[LoopRef], setting: Setting) -> None:
        for name, loop in zip(self._order(setting), loops, strict=True):
            times = self._unrolled(setting).get(name, 1)
            if times > 1:
                split = times < self.work.reduced[name]
                sch.unroll(sch.split(loop, [None, times])[1] if split else loop)

    def _order(self, setting: Setting) -> tuple[str, ...]:
        orders = tuple(itertools.permutations(self.reduced))
        return orders[int(setting["order"]) % len(orders)]

    def _unrolled(self, setting: Setting) -> dict[str, int]:
        """Return how many steps of which loops are unrolled together; nothing if that does not
        divide the innermost, or there are not so many loops."""
        times, order = int(setting["unroll"]), self._order(setting)
        if times < 0:
            inner = order[times:] if -times <= len(order) else ()
            return {name: self.work.reduced[name] for name in inner}
        extent = self.work.reduced[order[-1]]
        fits = times == 1 or (times < extent and extent % times == 0)
        return {order[-1]: times} if fits else {}


def tile_sketches(
    sch: Schedule, block: Block, machine: Machine, shared: int = 0
) -> list[TileSketch]:
    """Return the sketches of a reduction; none if its sizes are not constant. ``shared`` are the
    loops around those of its axes."""
    stages = [sch.get(each) for each in sch.get_producers(BlockRef(block.name))]
    produced = not shared and any(stage.init is None for stage in stages)
    found = [_tile_sketch(block, machine, merged=False, shared=shared, produced=produced)]
    store = only_store(block)
    if store is not None and not shared and is_merged(block, store):
        trial = sch.copy()
        with suppress(ScheduleError):
            merge_axes(trial, block, store)
            made = trial.get(BlockRef(block.name))
            found.insert(0, _tile_sketch(made, machine, merged=True, produced=produced))
    return [each for each in found if each is not None]


def _tile_sketch(
    block: Block, machine: Machine, *, merged: bool, shared: int = 0, produced: bool = False
) -> TileSketch | None:
    store, work = only_store(block), work_of_block(block)
    if store is None or work is None or not work.reduced or not work.spatial:
        return None
    if block.predicate is not None:
        return None
    spatial = spatial_axes(block)
    names = tuple(axis.var.name for axis in spatial)
    width = work.spatial[names[-1]]
    lanes = max(1, machine.vector_bytes // store.buffer.dtype.bytes)
    lanes = min(lanes, 1 << (width - 1).bit_length())
    if width < 2 or not _is_last(store.indices, spatial[-1]):
        return None
    orders = min(math.factorial(len(work.reduced)), _MOST_ORDERS)
    last = len(names) - 1
    wide = [at for at, name in enumerate(names[:-1]) if work.spatial[name] > 1]
    copies = () if merged or shared else copies_of(block, store)
    choices: dict[str, tuple[Any, ...]] = {
        "lanes": tuple(sorted({lanes, max(1, lanes // 2)})),
        "vectors": tuple(each for each in _VECTORS if (each - 1) * lanes < width),
        "row": (-1, *wide),
        "rows": _ROWS if wide else (1,),
        "near": (-1, *wide) if len(wide) > 1 else (-1,),
        "lines": _LINES if len(wide) > 1 else (1,),
        "order": tuple(range(orders)),
        "unroll": _UNROLLED,
        "strip": tuple(
            [at, each]
            for at in (-1, *(() if shared else wide))
            for each in STRIPS
            if (at < 0) == (each == 1)
        ),
        "block": ([-1, 0], *([at, each] for at in (*wide, last) for each in _BLOCKS)),
        "copy": (NO_COPY, *range(len(copies))),
        "fuse": (-1, *range(min(len(names), _MOST_FUSED))) if produced or copies else (-1,),
    }
    usual = None if row_axis_of(block) is not None else tile_of(block, store, machine, {})
    first = None if usual is None else _setting_of(usual)
    return TileSketch(
        work, machine, names, tuple(work.reduced), choices, merged, first, copies, produced
    )


def _setting_of(tile: Tile) -> dict[str, Any]:
    """Return the setting of a tile of the automatic schedule."""
    sizes = {
        key: getattr(tile, key) for key in ("lanes", "vectors", "row", "rows", "near", "lines")
    }
    return {
        **sizes,
        "order": 0,
        "unroll": -tile.unrolled or 1,
        "strip": [-1, 1],
        "block": [tile.blocked, tile.tiles],
        "copy": NO_COPY,
        "fuse": -1,
    }


def _is_last(indices: Any, axis: Axis) -> bool:
    return bool(indices) and indices[-1] is axis.var
