"""The sketch of reductions along memory: partial results in vector lanes, and one for each part."""

from typing import Any

import msgspec

from irkit.autoschedule import (
    Estimates,
    Machine,
    Rule,
    is_contiguous,
    reduce_axes,
    reduce_in_lanes,
)
from irkit.core import ScheduleError
from irkit.ir import Block
from irkit.schedule import BlockRef, Schedule, only_store
from irkit.tune.cost import TileWork, cycles_of_tile, work_of_block
from irkit.tune.space.sketch import Draws, Knobs, Setting

_FEWEST = 8
_VECTORS = (1, 2, 3, 4, 6, 8)


class LanesSketch(msgspec.Struct, frozen=True, eq=False):
    """A reduction factored into vectors along its last axis, some at a time, and before that into
    parts of its first axis, which can run on several threads."""

    work: TileWork
    machine: Machine
    lanes: int
    choices: dict[str, tuple[Any, ...]]

    @property
    def name(self) -> str:
        return "lanes"

    @property
    def knobs(self) -> Knobs:
        return self.choices

    @property
    def start(self) -> Setting | None:
        return None

    @property
    def draws(self) -> Draws:
        return Draws()

    def allows(self, setting: Setting) -> bool:
        vectors, parts = int(setting["vectors"]), int(setting["parts"])
        sizes = list(self.work.reduced.values())
        first, last = sizes[0], sizes[-1]
        if len(self.work.reduced) == 1:
            last //= parts
        return first % parts == 0 and vectors * self.lanes <= last

    def cycles(self, setting: Setting) -> float:
        vectors = int(setting["vectors"])
        *outer, last = self.work.reduced.items()
        turned = TileWork(
            self.work.operations,
            self.work.reads,
            dict([last]),
            dict([*self.work.spatial.items(), *outer]),
        )
        return cycles_of_tile(turned, self.machine, last[0], vectors, self.lanes, {})

    def rule(self, setting: Setting) -> Rule:
        def lanes(sch: Schedule, block: Block, machine: Machine, estimates: Estimates) -> None:
            ref, parts = BlockRef(block.name), int(setting["parts"])
            loops = sch.get_loops(ref)
            reduced = len(reduce_axes(block))
            if len(loops) != len(block.axes):
                raise ScheduleError(f"block {block.name!r} shares its loops with another one")
            if parts > 1:
                outer, _ = sch.split(loops[-reduced], [parts, None])
                ref = sch.rfactor(outer)
            reduce_in_lanes(sch, ref, machine, int(setting["vectors"]))

        return lanes


def lanes_sketches(block: Block, machine: Machine, threads: int) -> list[LanesSketch]:
    """Return the sketch of a reduction whose last axis is contiguous in memory; none of others."""
    store, work = only_store(block), work_of_block(block)
    reduced = reduce_axes(block)
    if store is None or work is None or not reduced or block.predicate is not None:
        return []
    if not is_contiguous(block, reduced[-1]) or work.reduced[reduced[-1].var.name] < _FEWEST:
        return []
    if [axis.kind for axis in block.axes] != sorted(
        (axis.kind for axis in block.axes), key=("spatial", "reduce").index
    ):
        return []
    lanes = max(1, machine.vector_bytes // store.buffer.dtype.bytes)
    choices: dict[str, tuple[Any, ...]] = {
        "vectors": _VECTORS,
        "parts": (1,) if threads == 1 else (1, threads, 4 * threads),
    }
    return [LanesSketch(work, machine, lanes, choices)]
