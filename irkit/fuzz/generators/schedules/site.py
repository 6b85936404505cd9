"""The loops, blocks, buffers and numbers that primitives are tried on; the numbers mostly suit
them."""

from collections.abc import Callable, Sequence
from typing import Any

from irkit.core import ScheduleError, walk
from irkit.fuzz.picks import Picks
from irkit.ir import Block, Buffer, For, Load, Store, Var, as_int, shape_vars
from irkit.schedule import BlockRef, IndexMap, LoopRef, Schedule

SCOPES = ("global", "local", "shared")
AXES = ("threadIdx.x", "blockIdx.x", "threadIdx.y", "vthread", "blockIdx.y", "vthread.x", "warp")


class Site:
    """A schedule, and random choices on it."""

    def __init__(self, sch: Schedule, picks: Picks) -> None:
        self.sch = sch
        self.picks = picks
        self.loops = [LoopRef(loop.var) for loop in walk(sch.func, on=For)]
        self.blocks = [BlockRef(block.name) for block in walk(sch.func, on=Block)]

    def loop(self) -> LoopRef:
        """Pick any loop."""
        return self.picks.pick(self.loops)

    def block(self) -> BlockRef:
        """Pick any block."""
        return self.picks.pick(self.blocks)

    def loop_of(self, block: BlockRef) -> LoopRef:
        """Pick a loop around a block, or any loop if there is none."""
        return self.picks.pick(self.around(block) or self.loops)

    def around(self, block: BlockRef) -> list[LoopRef]:
        """List the loops around a block, without a step in the trace."""
        node = self.sch.get(block)
        return [
            LoopRef(loop.var)
            for loop in walk(self.sch.func, on=For)
            if any(inner is node for inner in walk(loop, on=Block))
        ]

    def inside(self, loop: LoopRef) -> list[BlockRef]:
        """List the blocks inside a loop, without a step in the trace."""
        return [BlockRef(block.name) for block in walk(self.sch.loop(loop), on=Block)]

    def shared_loops(self) -> list[LoopRef]:
        """List the loops around several blocks."""
        return [loop for loop in self.loops if len(self.inside(loop)) > 1]

    def nested(self, most: int) -> list[LoopRef]:
        """List some loops of one nest, mostly directly nested, outermost first."""
        loops = self.around(self.block()) or self.loops
        first, count = self.picks.below(len(loops)), 2 + self.picks.below(most - 1)
        found = loops[first : first + count]
        return self.picks.some(loops, most) if self.picks.one_in(6) else found

    def near(self, block: BlockRef) -> BlockRef:
        """Pick a block that mostly reads or writes a buffer of another."""
        mine = {*self.reads(block), *self.writes(block)}
        near = [
            other
            for other in self.blocks
            if other != block and mine & {*self.reads(other), *self.writes(other)}
        ]
        return self.picks.pick(near) if near and self.picks.below(6) else self.block()

    def reduction(self) -> BlockRef:
        """Pick a block that reduces, if there is one."""
        found = [
            each
            for each in self.blocks
            if any(axis.kind == "reduce" for axis in self.sch.get(each).axes)
        ]
        return self.picks.pick(found or self.blocks)

    def temporary(self) -> BlockRef:
        """Pick a block that mostly writes an internal buffer of the function."""
        given = {*self.sch.func.params}
        found = [each for each in self.blocks if not given & {*self.writes(each)}]
        return self.picks.pick(found) if found and self.picks.below(6) else self.block()

    def next_to(self, loop: LoopRef) -> LoopRef:
        """Pick a loop soon after another."""
        at = self.loops.index(loop)
        return self.loops[(at + 1 + self.picks.below(3)) % len(self.loops)]

    def extent(self, loop: LoopRef) -> int:
        """Return the extent of a loop, or a number near it."""
        node = self.sch.loop(loop)
        end, begin = as_int(node.end), as_int(node.begin)
        return 6 if end is None or begin is None else end - begin

    def seek(self, tries: Sequence[Callable[[Schedule], object]]) -> object:
        """Perform the first action that a copy of the schedule accepts, or else the last."""
        for attempt in tries[:-1]:
            try:
                attempt(self.sch.copy())
            except ScheduleError:
                continue
            return attempt(self.sch)
        return tries[-1](self.sch)

    def factor(self, loop: LoopRef) -> int:
        """Pick a number to split by: a divisor, a number that does not divide, or nonsense."""
        extent = self.extent(loop)
        divisors = [n for n in range(1, min(extent, 64) + 1) if extent % n == 0] or [1]
        return self.picks.pick((2, 3, self.picks.pick(divisors), 4, extent, 1, 5, extent + 1, 0))

    def reads(self, block: BlockRef) -> list[Buffer]:
        """List the buffers that a block reads."""
        return list(dict.fromkeys(n.buffer for n in walk(self.sch.get(block), on=Load)))

    def writes(self, block: BlockRef) -> list[Buffer]:
        """List the buffers that a block writes."""
        return list(dict.fromkeys(n.buffer for n in walk(self.sch.get(block), on=Store)))

    def reference(self, buffer: Buffer | int) -> Buffer | str | int:
        """Refer to a buffer as users do: by itself, by the schedule's look-up of its name, or by
        its name."""
        if isinstance(buffer, int) or self.picks.below(4):
            return buffer
        if self.picks.one_in(4):
            return self.sch.buffer("nothing")
        found, at = self._named(buffer.name), 0
        while found is not buffer:
            at += 1
            found = self._named(buffer.name, at)
        return found if at or self.picks.below(2) else buffer.name

    def _named(self, *name: Any) -> Buffer:
        """Look up an existing buffer of the function."""
        try:
            return self.sch.buffer(*name)
        except ScheduleError as error:
            raise AssertionError(
                f"the schedule does not find an existing buffer: {error}"
            ) from error

    def symbols(self) -> list[Var]:
        """List the variables that shapes use."""
        return list(shape_vars(self.sch.func))

    def index_map(self, block: BlockRef) -> IndexMap:
        """Pick an index map for the buffer that a block writes."""
        written = self.writes(block)
        return self.map_of(written[0].rank if written else 1)

    def map_of(self, rank: int) -> IndexMap:
        """Pick an index map over some indices; seldom over another number of them, or not one to
        one."""
        n = 1 + self.picks.below(4)
        if self.picks.one_in(12):
            rank = 2
        if rank == 0:
            return self.picks.pick((lambda: (), lambda: (0,)))
        if self.picks.below(3) or rank > 3:
            return _of_any_rank(self.picks.below(3))
        return (_of_one, _of_two, _of_three)[rank - 1](self.picks.below(6), n)


def _of_any_rank(which: int) -> IndexMap:
    def mapped(*at: Any) -> tuple[Any, ...]:
        return (at[::-1], (*at, 0), (*(i + 1 for i in at[:1]), *at[1:]))[which]

    return mapped


def _of_one(which: int, n: int) -> IndexMap:
    def mapped(i: Any) -> tuple[Any, ...]:
        return ((i // n, i % n), (i % n, i // n), (i * n,), (7 - i,), (i // n,), (i + n,))[which]

    return mapped


def _of_two(which: int, n: int) -> IndexMap:
    def mapped(i: Any, j: Any) -> tuple[Any, ...]:
        return (
            (j // n, i, j % n),
            (i * 8 + j,),
            (i + j, j),
            (i // n, j // 2, i % n, j % 2),
            (j,),
            (i, (i + j) % 8),
        )[which]

    return mapped


def _of_three(which: int, n: int) -> IndexMap:
    def mapped(i: Any, j: Any, k: Any) -> tuple[Any, ...]:
        tiled, flat = (i, k // n, j, k % n), (i * 8 + j, k)
        return (tiled, flat, (k, i + j, j), (i, j), tiled, flat)[which]

    return mapped
