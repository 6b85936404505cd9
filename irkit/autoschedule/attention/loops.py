"""Schedule attention by tiles of queries.

The keys and the values of a head are copied into panels once. For each tile of queries, the scores
of a panel are summed in registers, and all scores of the tile, or of a part of the keys, lie in the
first cache until they are multiplied by the values, again in registers.
"""

import math
from collections.abc import Sequence

from irkit.autoschedule.attention.recognise import (
    AttentionParts,
    AttentionStages,
    attention_of,
    row_and_feature,
)
from irkit.autoschedule.machine import Machine
from irkit.autoschedule.pointwise import vectorize_last
from irkit.autoschedule.rows import reduce_in_lanes
from irkit.autoschedule.structure import Estimates
from irkit.core import ScheduleError
from irkit.ir import Axis, Block, as_int
from irkit.schedule import BlockRef, LoopRef, Schedule, only_store

_AFTER_PARTS = 5
"""Axes of the second product from the parts on: rows, panels, lanes and steps come after them."""
_EVEN = 8
"""Heads that are enough to distribute evenly among threads."""


def schedule_attention(
    sch: Schedule, block: Block, machine: Machine, _estimates: Estimates
) -> None:
    """Schedule attention, or leave the schedule as it is."""
    found = attention_of(sch, block)
    axes = None if found is None else row_and_feature(found)
    if found is None or axes is None:
        return
    rows, columns = (as_int(found.mixed.axes[at].extent) for at in (-4, -2))
    if rows is None or columns is None:
        raise ScheduleError(f"the tile of block {found.mixed.name!r} is open", at=found.mixed)
    _Plan(sch, found, (rows, columns), machine).apply(axes)


class _Plan:
    """A schedule with the stages of an attention, and the sizes of its tiles."""

    def __init__(
        self, sch: Schedule, found: AttentionStages, sizes: tuple[int, int], machine: Machine
    ) -> None:
        self.sch, self.found, self.machine = sch, found, machine
        self.rows, self.columns = sizes
        store = only_store(found.scores)
        assert store is not None
        lanes = max(1, machine.vector_bytes // store.buffer.dtype.bytes)
        self.vectors = [max(1, self.columns // lanes), min(lanes, self.columns)]
        if math.prod(self.vectors) != self.columns:
            raise ScheduleError(f"{self.columns} columns are not whole vectors", at=found.mixed)

    def apply(self, axes: tuple[Axis, Axis]) -> None:
        found = self.found
        heads, tile, panel = self._order_results(axes)
        inside = (found.mixed, found.total, found.powers, found.top, found.masked)
        if found.parts is None:
            self.sch.compute_at(BlockRef(found.mixed.name), panel)
            for each in inside[1:]:
                self.sch.compute_at(BlockRef(each.name), tile)
        else:
            for each in (found.parts.joined, found.parts.whole, found.parts.weights):
                self.sch.compute_at(BlockRef(each.name), panel)
            self.sch.compute_at(BlockRef(found.parts.best.name), panel)
            for each in inside:
                self.sch.compute_at(BlockRef(each.name), tile)
            self._merge_parts(inside)
            self._join_parts(found.parts)
        self._multiply(found.mixed, in_registers=found.parts is None)
        self._multiply_keys()
        self._copy_operands(heads, tile)
        for each in (found.top, found.total):
            reduce_in_lanes(self.sch, BlockRef(each.name), self.machine)

    def _order_results(self, axes: tuple[Axis, Axis]) -> tuple[list[LoopRef], LoopRef, LoopRef]:
        """Order the loops of the results by heads, tiles of rows and panels of features; return the
        loops of the heads, and the other two."""
        sch, finish = self.sch, self.found.finish
        ref = BlockRef(finish.name)
        by_axis = list(zip(finish.axes, sch.get_loops(ref), strict=True))
        heads = [loop for axis, loop in by_axis if axis not in axes]
        row, feature = (loop for wanted in axes for axis, loop in by_axis if axis is wanted)
        tile, row = sch.split(row, [None, self.rows])
        panel, vector, lane = sch.split(feature, [None, *self.vectors])
        sch.reorder(*heads, tile, panel, row, vector, lane)
        self._mark(ref)
        return heads, tile, panel

    def _merge_parts(self, inside: Sequence[Block]) -> None:
        """Compute a part of the keys after another, from its scores to its products."""
        loops = [self._part_loop(each) for each in reversed(inside)]
        self.sch.merge(*loops)

    def _part_loop(self, block: Block) -> LoopRef:
        loops = self.sch.get_loops(BlockRef(block.name))[-len(block.axes) :]
        return loops[len(self.found.mixed.axes) - _AFTER_PARTS]

    def _multiply(self, product: Block, *, in_registers: bool = True) -> None:
        """Sum a tile of products over all steps; a panel after another."""
        sch, ref = self.sch, BlockRef(product.name)
        *_, row, panel, line, step = sch.get_loops(ref)
        vector, lane = sch.split(line, self.vectors)
        sch.reorder(panel, step, row, vector, lane)
        copied = None if in_registers else sch.write_at(panel, ref, 0, "local")
        self._sum(ref, step)
        if copied is not None:
            _, lane = sch.split(sch.get_loops(copied)[-1], [None, self.vectors[1]])
            self._mark(copied)

    def _sum(self, ref: BlockRef, step: LoopRef) -> None:
        """Begin sums before their steps, and keep them in registers."""
        first = self.sch.decompose_reduction(ref, step)
        for each in (ref, first):
            self._mark(each)
        self.sch.set_scope(ref, "local")

    def _mark(self, ref: BlockRef) -> None:
        """Unroll the two loops around the innermost one, and run that in lanes."""
        *unrolled, lane = self.sch.get_loops(ref)[-3:]
        for loop in unrolled:
            self.sch.unroll(loop)
        self.sch.vectorize(lane)

    def _multiply_keys(self) -> None:
        """Sum the scores of a panel of keys, and finish them, before those of the next panel."""
        sch, found = self.sch, self.found
        masked, ref = BlockRef(found.masked.name), BlockRef(found.scores.name)
        *_, row, line = sch.get_loops(masked)
        panel, vector, lane = sch.split(line, [None, *self.vectors])
        sch.reorder(panel, row, vector, lane)
        sch.compute_at(ref, panel)
        *_, row, line, step = sch.get_loops(ref)
        vector, lane = sch.split(line, self.vectors)
        sch.reorder(step, row, vector, lane)
        self._sum(ref, step)
        self._mark(masked)

    def _copy_operands(self, heads: list[LoopRef], tile: LoopRef) -> None:
        """Copy the queries of a tile; keys and values for each head, or for all of them first, so
        that tiles of a few heads can run on several threads."""
        sch, found = self.sch, self.found
        known = [as_int(sch.loop(loop).end) for loop in heads]
        sch.compute_at(BlockRef(found.queries.name), tile)
        for each in (found.keys, found.values):
            if heads and math.prod(size or 1 for size in known) >= _EVEN:
                sch.compute_at(BlockRef(each.name), heads[-1])
        for each in (found.queries, found.keys, found.values, found.powers):
            vectorize_last(sch, sch.get(BlockRef(each.name)), self.machine)

    def _join_parts(self, parts: AttentionParts) -> None:
        """Add up the parts of a tile in registers."""
        sch, ref = self.sch, BlockRef(parts.joined.name)
        *_, row, _, line, step = sch.get_loops(ref)
        vector, lane = sch.split(line, self.vectors)
        sch.reorder(step, row, vector, lane)
        self._sum(ref, step)
