"""The primitives of a schedule that mark loops and blocks."""

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
    """Say how the iterations of loops run, and give hints to passes."""

    @primitive
    def parallel(self, loop: LoopRef) -> None:
        """Let the iterations of a loop run at the same time."""
        self._func = mark(self._func, loop.var, "parallel")

    @primitive
    def vectorize(self, loop: LoopRef) -> None:
        """Let the iterations of a loop become lanes of vectors."""
        self._func = mark(self._func, loop.var, "vectorized")

    @primitive
    def unroll(self, loop: LoopRef) -> None:
        """Let the iterations of a loop become copies of its body."""
        self._func = mark(self._func, loop.var, "unrolled")

    @primitive
    def bind(self, loop: LoopRef, axis: str) -> None:
        """Let the iterations of a loop be the blocks (``blockIdx.x``, also y and z), threads
        (``threadIdx.x``) or virtual threads (``vthread``, ``vthread.x``) of a launch."""
        self._func = bind(self._func, loop.var, axis)

    @primitive
    def annotate(self, ref: BlockRef | LoopRef, key: str, value: AttrValue) -> None:
        """Give a loop or block a hint; it replaces one with the same key."""
        self._func = annotate(self._func, find_ref(self._func, ref), key, value)

    @primitive
    def unannotate(self, ref: BlockRef | LoopRef, key: str) -> None:
        """Take a hint away from a loop or block."""
        self._func = unannotate(self._func, find_ref(self._func, ref), key)

    @primitive
    def pragma(self, loop: LoopRef, key: str, value: int | bool) -> None:
        """Give a loop a hint that is honoured.

        ``auto_unroll_max_step`` is the most statements that it may become; ``unroll_explicit`` says
        whether to unroll it here at all or leave that to the compiler behind; ``parallel_chunks``
        into how many chunks a thread a parallel loop is cut at most: 1 gives each thread one part.
        """
        self._func = pragma(self._func, loop.var, key, value)

    @primitive
    def set_store_predicate(self, block: BlockRef, predicate: Condition) -> None:
        """Let a block run only where a condition over its axes holds, as in
        ``lambda i, j: (i < 4) & (j != 0)``."""
        self._func = set_store_predicate(self._func, block.name, predicate)
