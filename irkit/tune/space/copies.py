"""Cache stages of a tile: copies of what it reads, in some layout, and where they are made.

A copy of a whole operand costs once what its layout saves in each tile; a copy that a tile makes of
what it reads alone, like any other stage before it, stays in a cache.
"""

import math
from collections.abc import Mapping, Set
from typing import Literal

import msgspec

from irkit.autoschedule import spatial_axes
from irkit.core import ScheduleError, walk
from irkit.ir import Block, Buffer, Expr, Load, Store, as_int
from irkit.schedule import BlockRef, LoopRef, Schedule, variables

NO_COPY = -1
Layout = Literal["same", "last", "panels"]


class OperandCopy(msgspec.Struct, frozen=True):
    """A copy of an operand: in its own layout, with the dimension ``dim`` of the line last, or in
    panels as wide as a tile. ``elements`` are those of the operand, which moves along ``axes``."""

    buffer: str
    layout: Layout
    dim: int
    elements: int
    axes: tuple[str, ...]

    def copied(self, tiles: Mapping[str, int], loops: int, uneven: Set[str]) -> float:
        """Return the elements that are copied in all if that is done inside of so many of the loops
        over tiles, at best: which axis is outermost depends on the tile.

        ``tiles`` are their numbers by axis. If the last tile along an axis that moves the operand
        is not as wide (it is ``uneven``), the part that a tile reads is not known: all is copied.
        """
        apart = uneven.isdisjoint(self.axes)
        again = sorted(1 if apart and axis in self.axes else n for axis, n in tiles.items())
        return float(self.elements * math.prod(again[:loops]))

    def apply(self, sch: Schedule, ref: BlockRef, width: int) -> None:
        """Have a block read the copy. Raises: ScheduleError if it does not read the operand."""
        found = [load.buffer for load in walk(sch.get(ref).body, on=Load)]
        buffer = next((each for each in found if each.name == self.buffer), None)
        if buffer is None:
            raise ScheduleError(f"block {ref.name!r} does not read {self.buffer!r}")
        made, dim = sch.cache_read(ref, buffer), self.dim

        def last(*own: Expr) -> list[Expr]:
            return [*own[:dim], *own[dim + 1 :], own[dim]]

        def panels(*own: Expr) -> list[Expr]:
            return [own[dim] // width, *own[:dim], *own[dim + 1 :], own[dim] % width]

        if self.layout != "same":
            sch.transform_layout(made, last if self.layout == "last" else panels)


def copies_of(block: Block, store: Store) -> tuple[OperandCopy, ...]:
    """Return the copies of operands of constant size that a reduction could read instead."""
    line, found = spatial_axes(block)[-1].var, list[OperandCopy]()
    known: set[Buffer] = {store.buffer}
    for load in walk(block.body, on=Load):
        sizes = [as_int(dim) or 0 for dim in load.buffer.shape]
        if load.buffer in known or not all(sizes) or len(sizes) < 2:
            continue
        known.add(load.buffer)
        dim = next((at for at, index in enumerate(load.indices) if index is line), -1)
        ways: tuple[Layout, ...] = ("same",) if dim < 0 else ("same", "panels")
        if 0 <= dim < len(sizes) - 1:
            ways = ("last", "panels")
        used = {var for index in load.indices for var in variables(index)}
        axes = tuple(axis.var.name for axis in block.axes if axis.var in used)
        found += [OperandCopy(load.buffer.name, way, dim, math.prod(sizes), axes) for way in ways]
    return tuple(found)


def compute_producers_at(sch: Schedule, ref: BlockRef, outer: list[LoopRef], at: int) -> None:
    """Compute the pointwise stages that a block reads, and copies for it, in one of the loops
    around its tile.

    Raises: ScheduleError if there is no such loop, or if a primitive refuses.
    """
    if at >= len(outer):
        raise ScheduleError(f"block {ref.name!r} has {len(outer)} loops around its tile, not {at}")
    around = {loop.var for loop in sch.get_loops(ref)}
    stages = [
        each
        for each in sch.get_producers(ref)
        if sch.get(each).init is None
        and around.isdisjoint(loop.var for loop in sch.get_loops(each))
    ]
    if not stages:
        raise ScheduleError(f"block {ref.name!r} reads no stage that can be computed in its loops")
    for each in reversed(stages):
        sch.compute_at(each, outer[at])
