"""Directives about stages, and how they are applied to a schedule of loops.

Users may give directives in any order, but a producer must be moved before its loops are split. So
all directives are recorded, and run again in another order if the original one is not legal.
"""

from collections.abc import Callable, Iterable
from typing import Literal, Union

import msgspec

from irkit.core import ScheduleError, walk
from irkit.ir import Axis, Store, Var
from irkit.schedule import BlockRef, LoopRef, Schedule
from irkit.te.axis import IterVar
from irkit.te.tensor import Operation, Tensor

Kind = Literal["stages", "place", "loops", "root"]


class StageLoop:
    """Handle of a loop that a directive made."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"StageLoop({self.name})"


Handle = Union[IterVar, StageLoop]


class ScheduleBuild:
    """A schedule of loops, with the blocks, buffers and loops of the user's stages, tensors and
    handles."""

    def __init__(
        self, sch: Schedule, blocks: dict[Operation, str], buffers: dict[Tensor, str]
    ) -> None:
        self.sch = sch
        self.blocks = blocks
        self.ops = set(blocks)  # Including inlined stages, which have no block any more.
        self.buffers = buffers
        self.loops: dict[Handle, LoopRef] = {}

    def copy(self) -> "ScheduleBuild":
        """Return an independent copy."""
        made = ScheduleBuild(self.sch.copy(), dict(self.blocks), dict(self.buffers))
        made.loops, made.ops = dict(self.loops), set(self.ops)
        return made

    def block(self, op: Operation) -> BlockRef:
        """Return the block of a stage."""
        if op not in self.blocks:
            raise ScheduleError(f"this schedule has no stage {op.name!r}")
        return BlockRef(self.blocks[op])

    def loop(self, handle: Handle) -> LoopRef:
        """Return the current loop of an axis or handle."""
        found = self.loops.get(handle)
        if found is None:
            raise ScheduleError(
                f"{getattr(handle, 'name', handle)!r} is not a loop of this schedule",
                hint="Axes belong to their own stage; split and fuse replace loops.",
            )
        return found

    def bind(self, op: Operation) -> None:
        """Associate the axes of a stage with the loops that its block axes are bound to
        directly."""
        around = {self.sch.loop(ref).var: ref for ref in self.sch.get_loops(self.block(op))}
        for handle, axis in self._axes_of(op):
            if isinstance(axis.binding, Var) and axis.binding in around:
                self.loops[handle] = around[axis.binding]

    def bind_below(self, op: Operation, loop: LoopRef) -> None:
        """Associate the axes of a stage that was moved under a loop with the new loops there, one
        for each block axis."""
        around = [ref.var for ref in self.sch.get_loops(self.block(op))]
        below = around[around.index(loop.var) + 1 :]
        made = dict(zip(self.sch.get(self.block(op)).axes, below, strict=True))
        for handle, axis in self._axes_of(op):
            self.loops[handle] = LoopRef(made[axis])

    def _axes_of(self, op: Operation) -> list[tuple[IterVar, Axis]]:
        """List the axes of a stage with those of its block.

        Spatial axes are in the order of the store's indices, which rfactor makes different from the
        order of the block.
        """
        block = self.sch.get(self.block(op))
        spatial = {axis.var: axis for axis in block.axes if axis.kind != "reduce"}
        reduced = [axis for axis in block.axes if axis.kind == "reduce"]
        store = next(iter(walk(block.body, on=Store)), None)
        stored = [spatial.get(at) for at in store.indices if isinstance(at, Var)] if store else []
        found = [axis for axis in stored if axis is not None]
        if len(set(found)) != len(spatial) or len(found) != len(spatial):
            found = list(spatial.values())
        return [
            *zip(op.axis, found, strict=False),
            *zip(op.reduce_axis, reduced, strict=False),
        ]


class Directive(msgspec.Struct, frozen=True, eq=False):
    """One directive about a stage: it creates stages, moves the stage, or changes its loops.

    ``beside`` is the stage that a moved stage is computed in.
    """

    op: Operation
    kind: Kind
    run: Callable[[ScheduleBuild], object]
    beside: Operation | None = None


def in_legal_order(directives: Iterable[Directive]) -> list[Directive]:
    """Return directives in an order that is legal if any is.

    Stages that stay come first, then each moved stage after the one it moves into; a stage is moved
    before its own loops are changed.
    """
    given = list(directives)
    beside = {each.op: each.beside for each in given if each.beside is not None}
    first = [each for each in given if each.op not in beside or each.kind == "stages"]
    rest = [each for each in given if each.op in beside and each.kind != "stages"]

    def depth(op: Operation) -> int:
        steps = 0
        while op in beside and steps <= len(beside):
            op, steps = beside[op], steps + 1
        return steps

    rest.sort(key=lambda each: (depth(each.op), each.kind == "loops"))
    return first + rest


def run_all(build: ScheduleBuild, directives: Iterable[Directive]) -> ScheduleBuild:
    """Run directives one after another.

    Raises: ScheduleError if one is not legal.
    """
    for each in directives:
        each.run(build)
    return build
