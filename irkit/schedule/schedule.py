"""The schedule: references to blocks and loops, and one method for each primitive."""

from copy import copy
from random import Random
from typing import overload

from irkit.core import ScheduleError, text_to_html, walk
from irkit.ir import Block, For, Store
from irkit.schedule.analysis.accesses import consumers_of, producers_of
from irkit.schedule.methods.blocks import BlockPrimitives
from irkit.schedule.methods.buffers import BufferPrimitives
from irkit.schedule.methods.loops import LoopPrimitives
from irkit.schedule.methods.marks import MarkPrimitives
from irkit.schedule.methods.sampling import SamplingPrimitives
from irkit.schedule.methods.storage import StoragePrimitives
from irkit.schedule.state.lookup import find_block, find_loop, loops_above
from irkit.schedule.state.references import BlockRef, LoopRef
from irkit.schedule.trace.traced_schedule import lookup, primitive


class Schedule(
    LoopPrimitives,
    MarkPrimitives,
    BlockPrimitives,
    BufferPrimitives,
    StoragePrimitives,
    SamplingPrimitives,
):
    """Schedule of the functions of a module, transformed primitive by primitive.

    A primitive is legal, or raises ScheduleError and changes nothing.

    The steps are data: ``trace`` prints as Python, is saved as JSON, and runs on other modules.
    """

    @lookup
    def get_block(self, name: str) -> BlockRef:
        """Return a reference to a block; raise ScheduleError if there is none of that name."""
        return BlockRef(find_block(self._func, name).name)

    @lookup
    def get_loops(self, block: BlockRef) -> list[LoopRef]:
        """List the loops around a block, outermost first."""
        found = loops_above(self._func, find_block(self._func, block.name))
        return [LoopRef(loop.var) for loop in found]

    @lookup
    def get_loop(self, block: BlockRef, at: int) -> LoopRef:
        """Return a reference to one of the loops around a block, counted from the outermost."""
        found = self.get_loops(block)
        if not -len(found) <= at < len(found):
            raise ScheduleError(f"block {block.name!r} is inside {len(found)} loops, not {at + 1}")
        return found[at]

    @lookup
    def get_child_blocks(self, outer: BlockRef | LoopRef) -> list[BlockRef]:
        """List the blocks inside a loop or block, in text order."""
        node = self.get(outer) if isinstance(outer, BlockRef) else self.loop(outer)
        return [BlockRef(block.name) for block in walk(node, on=Block) if block is not node]

    @lookup
    def get_producers(self, block: BlockRef) -> list[BlockRef]:
        """List the blocks that write what a block reads."""
        found = producers_of(self._func, find_block(self._func, block.name))
        return [BlockRef(each.name) for each in found]

    @lookup
    def get_consumers(self, block: BlockRef) -> list[BlockRef]:
        """List the blocks that read what a block writes."""
        found = consumers_of(self._func, find_block(self._func, block.name))
        return [BlockRef(each.name) for each in found]

    @lookup
    def get_output_blocks(self) -> list[BlockRef]:
        """List the blocks that write a parameter."""
        given = set(self._func.params)
        found: list[BlockRef] = []
        for block in walk(self._func, on=Block):
            stores = (getattr(node, "buffer", None) for node in walk(block, on=Store))
            if any(buffer in given for buffer in stores):
                found.append(BlockRef(block.name))
        return found

    @overload
    def get(self, ref: BlockRef) -> Block: ...
    @overload
    def get(self, ref: LoopRef) -> For: ...
    def get(self, ref: BlockRef | LoopRef) -> Block | For:
        """Return the current block or loop of a reference."""
        if isinstance(ref, BlockRef):
            return find_block(self._func, ref.name)
        return find_loop(self._func, ref.var)

    def loop(self, ref: LoopRef) -> For:
        """Return the current loop of a reference."""
        return find_loop(self._func, ref.var)

    @primitive
    def work_on(self, function: str) -> None:
        """Continue with another function of the module."""
        self._mod = self.mod
        self._work_on(function)

    @property
    def func_working_on(self) -> str:
        """The name of the function that is being scheduled."""
        return self._name

    def copy(self) -> "Schedule":
        """Return an independent copy of the schedule."""
        made = copy(self)  # Not a new one, which would verify the function once more.
        made._steps, made._encoder = list(self._steps), self._encoder.copy()
        made._differential_checks = dict(self._differential_checks)
        made._random = Random()
        made._random.setstate(self._random.getstate())
        return made

    def seed(self, seed: int) -> None:
        """Seed the random numbers of the sampling primitives."""
        self._random.seed(seed)

    def fork_seed(self) -> int:
        """Draw a seed for another schedule."""
        return self._random.getrandbits(31)

    def show(self) -> None:
        """Print the module: in colour on a terminal, as highlighted text in a notebook."""
        self.mod.show()

    def _repr_html_(self) -> str:
        return text_to_html(self.mod.script())
