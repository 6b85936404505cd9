"""What a user said about stages, in order, and how it becomes a scheduled function.

Directives of a stage may come in any order: before its loops can be split a producer is moved to
where it is computed, whenever that was said. So directives are kept, and run anew where the order
in which they were said does not work.
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
    """A loop that a directive made."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"StageLoop({self.name})"


Handle = Union[IterVar, StageLoop]


class Build:
    """A schedule of loops, and what stages, tensors and loops of the user are in it."""

    def __init__(
        self, sch: Schedule, blocks: dict[Operation, str], buffers: dict[Tensor, str]
    ) -> None:
        self.sch = sch
        self.blocks = blocks
        self.ops = set(blocks)  # Also those that were inlined, and so have no block any more.
        self.buffers = buffers
        self.loops: dict[Handle, LoopRef] = {}

    def copy(self) -> "Build":
        """Make one that goes on from here on its own."""
        made = Build(self.sch.copy(), dict(self.blocks), dict(self.buffers))
        made.loops, made.ops = dict(self.loops), set(self.ops)
        return made

    def block(self, op: Operation) -> BlockRef:
        """Refer to the block of a stage."""
        if op not in self.blocks:
            raise ScheduleError(f"this schedule has no stage {op.name!r}")
        return BlockRef(self.blocks[op])

    def loop(self, handle: Handle) -> LoopRef:
        """Refer to the loop that stands for an axis or a loop of the user now."""
        found = self.loops.get(handle)
        if found is None:
            raise ScheduleError(
                f"{getattr(handle, 'name', handle)!r} is no loop of this schedule now",
                hint="An axis belongs to its own stage; what was split or fused is replaced.",
            )
        return found

    def bind(self, op: Operation) -> None:
        """Let the axes of a stage stand for the loops that its block is bound to one for one."""
        around = {self.sch.loop(ref).var: ref for ref in self.sch.get_loops(self.block(op))}
        for handle, axis in self._axes_of(op):
            if isinstance(axis.binding, Var) and axis.binding in around:
                self.loops[handle] = around[axis.binding]

    def bind_below(self, op: Operation, loop: LoopRef) -> None:
        """Let the axes of a stage that was moved under a loop stand for the loops made for it
        there: one for each axis of its block."""
        around = [ref.var for ref in self.sch.get_loops(self.block(op))]
        below = around[around.index(loop.var) + 1 :]
        made = dict(zip(self.sch.get(self.block(op)).axes, below, strict=True))
        for handle, axis in self._axes_of(op):
            self.loops[handle] = LoopRef(made[axis])

    def _axes_of(self, op: Operation) -> list[tuple[IterVar, Axis]]:
        """List the axes of a stage with those of its block: spatial ones in the order in which it
        stores, which after rfactor is another than that of the block."""
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
    """One thing that was said about a stage: it makes other stages, moves it, or changes its loops.

    ``beside`` is the stage that a moved one is computed in.
    """

    op: Operation
    kind: Kind
    run: Callable[[Build], object]
    beside: Operation | None = None


def reordered(directives: Iterable[Directive]) -> list[Directive]:
    """Put directives into the order that always works: stages that stay where they are first, then
    each moved one after the one it moves into, moved before its own loops are changed."""
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


def run_all(build: Build, directives: Iterable[Directive]) -> Build:
    """Run directives one after the other.

    Raises: ScheduleError if one is not legal.
    """
    for each in directives:
        each.run(build)
    return build
