"""Sketches of pointwise stages: vectors along the last axis, several at a time, by several rows."""

from contextlib import suppress
from typing import Any

import msgspec

from irkit.autoschedule import Estimates, Machine, Rule, row_works, spatial_axes
from irkit.core import ScheduleError
from irkit.ir import Block
from irkit.schedule import BlockRef, LoopRef, Schedule, only_store
from irkit.tune.cost import TileWork, cycles_of_pointwise, work_of_block
from irkit.tune.space.sketch import Draws, Knobs, Setting

_MOST_COPIES = 32


class PointwiseSketch(msgspec.Struct, frozen=True, eq=False):
    """A tile of some vectors along the last axis by some rows of the one before.

    ``distinct`` is, of so many rows together, the share of operations that are computed once.
    """

    work: TileWork
    machine: Machine
    spatial: tuple[str, ...]
    choices: dict[str, tuple[Any, ...]]
    distinct: dict[int, float]

    @property
    def name(self) -> str:
        return "pointwise"

    @property
    def knobs(self) -> Knobs:
        return self.choices

    @property
    def start(self) -> Setting | None:
        return {"rows": 1, "vectors": 1, "lanes": max(self.choices["lanes"])}

    @property
    def draws(self) -> Draws:
        return Draws({"lanes": max(self.choices["lanes"])})

    def allows(self, setting: Setting) -> bool:
        rows, vectors, lanes = (int(setting[key]) for key in ("rows", "vectors", "lanes"))
        last = list(self.work.spatial.values())[-1]
        height = self.work.spatial[self.spatial[-2]] if len(self.spatial) > 1 else 1
        return rows <= height and (vectors - 1) * lanes < last and rows * vectors <= _MOST_COPIES

    def cycles(self, setting: Setting) -> float:
        rows, vectors, lanes = (int(setting[key]) for key in ("rows", "vectors", "lanes"))
        *outer, last = self.work.spatial
        by = {outer[-1]: rows} if outer else {}
        operations = self.work.operations * self.distinct.get(rows, 1.0)
        work = msgspec.structs.replace(self.work, operations=operations)
        return cycles_of_pointwise(work, self.machine, last, vectors, lanes, by)

    def rule(self, setting: Setting) -> Rule:
        def pointwise(sch: Schedule, block: Block, machine: Machine, estimates: Estimates) -> None:
            rows, vectors, lanes = (int(setting[key]) for key in ("rows", "vectors", "lanes"))
            loops = sch.get_loops(BlockRef(block.name))
            if not loops or len(sch.get_child_blocks(loops[-1])) != 1:
                raise ScheduleError(f"block {block.name!r} shares its loop with another one")
            split = split_shifted if rows == 1 else Schedule.split
            far, near, lane = split(sch, loops[-1], [None, vectors, lanes])
            unrolled = [near]
            if rows > 1:
                if len(loops) < 2:
                    raise ScheduleError(f"block {block.name!r} is inside one loop only")
                _, low = sch.split(loops[-2], [None, rows])
                sch.reorder(far, low)
                unrolled.insert(0, low)
            for loop in unrolled:
                sch.unroll(loop)
            sch.vectorize(lane)

        return pointwise


def split_shifted(sch: Schedule, loop: LoopRef, factors: list[int | None]) -> list[LoopRef]:
    """Split a loop; a last tile overlaps the one before it where that is legal: such tiles stay in
    order."""
    with suppress(ScheduleError):
        return sch.split(loop, factors, tail="shift")
    return sch.split(loop, factors)


def pointwise_sketches(block: Block, machine: Machine, shared: int = 0) -> list[PointwiseSketch]:
    """Return the sketch of a pointwise stage; none if it does not store neighbours, or sizes are
    not constant. ``shared`` are the loops around it that other stages have, too."""
    store, work = only_store(block), work_of_block(block)
    if store is None or work is None or work.reduced or not work.spatial:
        return []
    spatial = spatial_axes(block)
    last_index = store.indices[-1] if store.indices else None
    if block.predicate is not None or last_index is not spatial[-1].var:
        return []
    names = tuple(axis.var.name for axis in spatial)
    if shared >= len(names):
        return []
    last = work.spatial[names[-1]]
    lanes = max(1, machine.vector_bytes // store.buffer.dtype.bytes)
    lanes = min(lanes, 1 << (last - 1).bit_length())
    choices: dict[str, tuple[Any, ...]] = {
        "lanes": tuple(sorted({lanes, max(1, lanes // 2)})),
        "vectors": tuple(each for each in (1, 2, 3, 4, 8) if (each - 1) * lanes < last),
        "rows": (1, 2, 3, 4, 6, 8) if len(names) > 1 + shared else (1,),
    }
    rows = row_works(block)
    distinct = {each.rows: each.operations / (each.rows * rows[0].operations) for each in rows}
    return [PointwiseSketch(work, machine, names, choices, distinct)]
