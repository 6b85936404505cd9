"""The primitives of a schedule that mark loops and blocks."""

from irkit.core import AttrValue
from irkit.schedule.condition import Condition
from irkit.schedule.marks import annotate, bind, mark, pragma, unannotate
from irkit.schedule.predicates import set_store_predicate
from irkit.schedule.recording import Recording, primitive
from irkit.schedule.references import BlockRef, LoopRef
from irkit.schedule.state import find_ref


class MarkPrimitives(Recording):
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
