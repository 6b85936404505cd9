"""Schedule methods that change loops."""

from collections.abc import Sequence

from irkit.core import ScheduleError
from irkit.ir import Expr
from irkit.schedule.primitives.loops.add_unit_loop import add_unit_loop
from irkit.schedule.primitives.loops.cut_loop import cut_loop
from irkit.schedule.primitives.loops.fission import fission
from irkit.schedule.primitives.loops.fuse import fuse
from irkit.schedule.primitives.loops.join_loops import join_loops
from irkit.schedule.primitives.loops.lift_scope import lift_if, lift_loop
from irkit.schedule.primitives.loops.loop_partition import loop_partition
from irkit.schedule.primitives.loops.merge import merge
from irkit.schedule.primitives.loops.reorder import reorder
from irkit.schedule.primitives.loops.shift_loop import shift_loop
from irkit.schedule.primitives.loops.split import Factor, Tail, split
from irkit.schedule.primitives.threads.env_threads import env_threads
from irkit.schedule.state.lookup import find_block, find_ref
from irkit.schedule.state.references import BlockRef, LoopRef
from irkit.schedule.trace.traced_schedule import TracedSchedule, primitive


class LoopPrimitives(TracedSchedule):
    """Mixin with the primitives on loops."""

    @primitive
    def split(
        self,
        loop: LoopRef,
        factors: Sequence[Factor] | None = None,
        *,
        factor: int | Expr | None = None,
        nparts: int | Expr | None = None,
        tail: Tail = "guard",
    ) -> list[LoopRef]:
        """Split a loop into a nest with the given extents, outermost first; one can be None.

        ``factor`` alone is the extent of the inner of two loops, ``nparts`` that of the outer.
        ``tail`` decides what happens if the factors do not divide the extent: "guard" adds a
        predicate, "shift" makes the last chunk begin earlier and overlap the one before it.
        """
        if sum(given is not None for given in (factors, factor, nparts)) != 1:
            raise ScheduleError("split takes exactly one of factors, factor and nparts")
        if factors is None:
            factors = [nparts, factor]
        self._func, made = split(self._func, loop.var, factors, tail)
        return [LoopRef(var) for var in made]

    @primitive
    def tile(
        self, x: LoopRef, y: LoopRef, x_factor: int | Expr, y_factor: int | Expr
    ) -> list[LoopRef]:
        """Split two nested loops and order the parts: outer x, outer y, inner x, inner y."""
        x_outer, x_inner = self.split(x, [None, x_factor])
        y_outer, y_inner = self.split(y, [None, y_factor])
        self.reorder(x_outer, y_outer, x_inner, y_inner)
        return [x_outer, y_outer, x_inner, y_inner]

    @primitive
    def fuse(self, *refs: LoopRef) -> LoopRef:
        """Fuse nested loops, outermost first, into one over their product."""
        self._func, made = fuse(self._func, [ref.var for ref in refs])
        return LoopRef(made)

    @primitive
    def reorder(self, *refs: LoopRef) -> None:
        """Permute loops of one nest into the given order."""
        self._func = reorder(self._func, [ref.var for ref in refs])

    @primitive
    def loop_partition(self, loop: LoopRef, factors: Sequence[Factor]) -> list[LoopRef]:
        """Partition a loop into consecutive loops of the given lengths; one can be None. Copies of
        a block ``NAME`` are named ``NAME_1`` and so on."""
        self._func, made = loop_partition(self._func, loop.var, factors)
        return [LoopRef(var) for var in made]

    @primitive
    def cut_loop(self, loop: LoopRef, at: int | Expr) -> list[LoopRef]:
        """Cut a loop into two consecutive ones, the second beginning where the variable is
        ``at``."""
        self._func, made = cut_loop(self._func, loop.var, at)
        return [LoopRef(var) for var in made]

    @primitive
    def join_loops(self, first: LoopRef, second: LoopRef) -> LoopRef:
        """Join two consecutive loops over adjacent ranges, with the same body, into the first."""
        self._func, made = join_loops(self._func, first.var, second.var)
        return LoopRef(made)

    @primitive
    def shift_loop(self, loop: LoopRef, begin: int | Expr = 0) -> None:
        """Shift the range of a loop to another begin."""
        self._func = shift_loop(self._func, loop.var, begin)

    @primitive
    def merge(self, *refs: LoopRef) -> LoopRef:
        """Merge adjacent nests into one, from the outermost loops down to the given ones."""
        self._func, made = merge(self._func, [ref.var for ref in refs])
        return LoopRef(made)

    @primitive
    def fission(self, loop: LoopRef, after: BlockRef | LoopRef) -> list[LoopRef]:
        """Split the body of a loop after a block or loop inside it; return the loops of the two
        parts.

        Loops in between are split as well.
        """
        stmt = find_ref(self._func, after)
        self._func, made = fission(self._func, loop.var, stmt)
        return [LoopRef(var) for var in made]

    @primitive
    def lift_scope(self, ref: BlockRef | LoopRef) -> None:
        """Interchange a loop with the loop or ``if`` directly around it; for a block, the innermost
        ``if`` around it with the loop directly around that."""
        if isinstance(ref, LoopRef):
            self._func = lift_loop(self._func, ref.var)
        else:
            self._func = lift_if(self._func, find_block(self._func, ref.name))

    @primitive
    def add_unit_loop(self, ref: BlockRef | LoopRef) -> LoopRef:
        """Add a loop that runs once around a block or loop."""
        self._func, made = add_unit_loop(self._func, find_ref(self._func, ref))
        return LoopRef(made)

    @primitive
    def env_threads(self, block: BlockRef, axes: Sequence[tuple[str, int]]) -> list[LoopRef]:
        """Launch threads around the nest of a block; only the first thread runs it.

        ``axes`` are pairs of axis and extent such as ``("threadIdx.x", 32)``, outermost first.
        """
        found = find_block(self._func, block.name)
        self._func, made = env_threads(self._func, found, axes)
        return [LoopRef(var) for var in made]
