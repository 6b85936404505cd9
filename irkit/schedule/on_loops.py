"""The primitives of a schedule that change loops."""

from collections.abc import Sequence

from irkit.schedule import loops
from irkit.schedule.recording import Recording, primitive
from irkit.schedule.references import LoopRef


class LoopPrimitives(Recording):
    """Split, fuse, reorder and mark loops."""

    @primitive
    def split(self, loop: LoopRef, factors: Sequence[loops.Factor]) -> list[LoopRef]:
        """Replace a loop by a nest with these extents, outermost first; one may be None."""
        self._func, made = loops.split(self._func, loop.var, factors)
        return [LoopRef(var) for var in made]

    @primitive
    def fuse(self, *refs: LoopRef) -> LoopRef:
        """Replace nested loops, outermost first, by one over their product."""
        self._func, made = loops.fuse(self._func, [ref.var for ref in refs])
        return LoopRef(made)

    @primitive
    def reorder(self, *refs: LoopRef) -> None:
        """Permute loops of one nest into the order given."""
        self._func = loops.reorder(self._func, [ref.var for ref in refs])

    @primitive
    def parallel(self, loop: LoopRef) -> None:
        """Let the iterations of a loop run at the same time."""
        self._func = loops.mark(self._func, loop.var, "parallel")

    @primitive
    def vectorize(self, loop: LoopRef) -> None:
        """Let the iterations of a loop become lanes of vectors."""
        self._func = loops.mark(self._func, loop.var, "vectorized")

    @primitive
    def unroll(self, loop: LoopRef) -> None:
        """Let the iterations of a loop become copies of its body."""
        self._func = loops.mark(self._func, loop.var, "unrolled")
