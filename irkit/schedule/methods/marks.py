"""Schedule methods that mark loops and blocks."""

from irkit.core import AttrValue
from irkit.schedule.arguments.condition import Condition
from irkit.schedule.primitives.blocks.set_store_predicate import set_store_predicate
from irkit.schedule.primitives.loops.annotate import annotate
from irkit.schedule.primitives.loops.mark import mark
from irkit.schedule.primitives.loops.pragma import pragma
from irkit.schedule.primitives.loops.unannotate import unannotate
from irkit.schedule.primitives.threads.bind import bind
from irkit.schedule.state.lookup import find_ref
from irkit.schedule.state.references import BlockRef, LoopRef
from irkit.schedule.trace.traced_schedule import TracedSchedule, primitive


class MarkPrimitives(TracedSchedule):
    """Mixin with the primitives that decide how loops run and give hints to passes."""

    @primitive
    def parallel(self, loop: LoopRef) -> None:
        """Run the iterations of a loop in parallel."""
        self._func = mark(self._func, loop.var, "parallel")

    @primitive
    def vectorize(self, loop: LoopRef) -> None:
        """Turn the iterations of a loop into vector lanes."""
        self._func = mark(self._func, loop.var, "vectorized")

    @primitive
    def unroll(self, loop: LoopRef) -> None:
        """Unroll a loop into copies of its body."""
        self._func = mark(self._func, loop.var, "unrolled")

    @primitive
    def bind(self, loop: LoopRef, axis: str) -> None:
        """Bind the iterations of a loop to the blocks (``blockIdx.x``, also y and z), threads
        (``threadIdx.x``) or virtual threads (``vthread``, ``vthread.x``) of a launch."""
        self._func = bind(self._func, loop.var, axis)

    @primitive
    def annotate(self, ref: BlockRef | LoopRef, key: str, value: AttrValue) -> None:
        """Add a hint to a loop or block, replacing any with the same key."""
        self._func = annotate(self._func, find_ref(self._func, ref), key, value)

    @primitive
    def unannotate(self, ref: BlockRef | LoopRef, key: str) -> None:
        """Remove a hint from a loop or block."""
        self._func = unannotate(self._func, find_ref(self._func, ref), key)

    @primitive
    def pragma(self, loop: LoopRef, key: str, value: int | bool) -> None:
        """Add a hint that lowering honours to a loop.

        ``auto_unroll_max_step`` is the largest number of statements that unrolling may produce;
        ``unroll_explicit`` is whether to unroll here or leave it to the compiler behind;
        ``parallel_chunks`` is the largest number of chunks per thread of a parallel loop: with 1
        each thread gets one; ``parallel_least`` is the least number of values that a parallel loop
        must store, by an estimate when it runs, to run on more than one thread.
        """
        self._func = pragma(self._func, loop.var, key, value)

    @primitive
    def set_store_predicate(self, block: BlockRef, predicate: Condition) -> None:
        """Run a block only where a condition over its axes holds, as in
        ``lambda i, j: (i < 4) & (j != 0)``."""
        self._func = set_store_predicate(self._func, block.name, predicate)
