"""The primitives of a schedule that change loops."""

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
    """Split, fuse, reorder, cut, join and wrap loops."""

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
        """Replace a loop by a nest with these extents, outermost first; one may be None.

        ``factor`` alone is the extent of the inner of two loops, ``nparts`` that of the outer.
        Where the factors do not divide the extent, ``tail`` says what happens: "guard" tests,
        "shift" lets the last chunk begin earlier and compute again what the one before did.
        """
        if sum(given is not None for given in (factors, factor, nparts)) != 1:
            raise ScheduleError("split takes factors, or factor, or nparts: exactly one of them")
        if factors is None:
            factors = [nparts, factor]
        self._func, made = split(self._func, loop.var, factors, tail)
        return [LoopRef(var) for var in made]

    @primitive
    def tile(
        self, x: LoopRef, y: LoopRef, x_factor: int | Expr, y_factor: int | Expr
    ) -> list[LoopRef]:
        """Split two nested loops and put the parts in order: outer x, outer y, inner x, inner y."""
        x_outer, x_inner = self.split(x, [None, x_factor])
        y_outer, y_inner = self.split(y, [None, y_factor])
        self.reorder(x_outer, y_outer, x_inner, y_inner)
        return [x_outer, y_outer, x_inner, y_inner]

    @primitive
    def fuse(self, *refs: LoopRef) -> LoopRef:
        """Replace nested loops, outermost first, by one over their product."""
        self._func, made = fuse(self._func, [ref.var for ref in refs])
        return LoopRef(made)

    @primitive
    def reorder(self, *refs: LoopRef) -> None:
        """Permute loops of one nest into the order given."""
        self._func = reorder(self._func, [ref.var for ref in refs])

    @primitive
    def loop_partition(self, loop: LoopRef, factors: Sequence[Factor]) -> list[LoopRef]:
        """Replace a loop by consecutive loops over parts of its range, of these lengths; one may be
        None. The blocks of the second part are named ``NAME_1``, and so on."""
        self._func, made = loop_partition(self._func, loop.var, factors)
        return [LoopRef(var) for var in made]

    @primitive
    def cut_loop(self, loop: LoopRef, at: int | Expr) -> list[LoopRef]:
        """Replace a loop by two consecutive ones, the second beginning where its variable is
        ``at``."""
        self._func, made = cut_loop(self._func, loop.var, at)
        return [LoopRef(var) for var in made]

    @primitive
    def join_loops(self, first: LoopRef, second: LoopRef) -> LoopRef:
        """Replace two consecutive loops over adjacent ranges, with the same body, by the first."""
        self._func, made = join_loops(self._func, first.var, second.var)
        return LoopRef(made)

    @primitive
    def shift_loop(self, loop: LoopRef, begin: int | Expr = 0) -> None:
        """Let a loop begin elsewhere and run as often."""
        self._func = shift_loop(self._func, loop.var, begin)

    @primitive
    def merge(self, *refs: LoopRef) -> LoopRef:
        """Make one nest of several that stand side by side, down to these loops."""
        self._func, made = merge(self._func, [ref.var for ref in refs])
        return LoopRef(made)

    @primitive
    def fission(self, loop: LoopRef, after: BlockRef | LoopRef) -> list[LoopRef]:
        """Cut the body of a loop behind a block or loop inside it; give back the loops of the two
        parts. Loops in between are cut as well."""
        stmt = find_ref(self._func, after)
        self._func, made = fission(self._func, loop.var, stmt)
        return [LoopRef(var) for var in made]

    @primitive
    def lift_scope(self, ref: BlockRef | LoopRef) -> None:
        """Exchange a loop with the loop or ``if`` directly around it; of a block, the innermost
        ``if`` around it with the loop directly around that."""
        if isinstance(ref, LoopRef):
            self._func = lift_loop(self._func, ref.var)
        else:
            self._func = lift_if(self._func, find_block(self._func, ref.name))

    @primitive
    def add_unit_loop(self, ref: BlockRef | LoopRef) -> LoopRef:
        """Put a loop that runs once around a block or loop."""
        self._func, made = add_unit_loop(self._func, find_ref(self._func, ref))
        return LoopRef(made)

    @primitive
    def env_threads(self, block: BlockRef, axes: Sequence[tuple[str, int]]) -> list[LoopRef]:
        """Put a launch of threads around the nest of a block, of which the first alone runs it.

        ``axes`` are pairs of axis and extent, as ``("threadIdx.x", 32)``, outermost first.
        """
        found = find_block(self._func, block.name)
        self._func, made = env_threads(self._func, found, axes)
        return [LoopRef(var) for var in made]
