"""The imperative schedule: references to blocks and loops, and a method for each primitive."""

from collections.abc import Sequence

import msgspec

from irkit.core import Function, IRKitError, IRModule
from irkit.ir import Buffer, For, PrimFunc, Var
from irkit.schedule import cache, compute, layout, loops, padding, reduction
from irkit.schedule.state import find_block, find_loop, loops_above


class BlockRef(msgspec.Struct, frozen=True):
    """A block, by its name."""

    name: str


class LoopRef(msgspec.Struct, frozen=True, eq=False):
    """A loop, by its variable."""

    var: Var


class Schedule:
    """Change one function of a module, primitive by primitive; each is legal or raises
    ScheduleError and changes nothing."""

    def __init__(self, mod: IRModule | PrimFunc, function: str = "main") -> None:
        self._mod = IRModule({mod.name: mod}) if isinstance(mod, Function) else mod
        self._name = mod.name if isinstance(mod, Function) else function
        func = self._mod[self._name]
        if not isinstance(func, PrimFunc):
            raise IRKitError(f"{self._name!r} is no loop function, so it cannot be scheduled")
        self._func: PrimFunc = func

    @property
    def func(self) -> PrimFunc:
        """The function as it stands now."""
        return self._func

    @property
    def mod(self) -> IRModule:
        """The module with the function as it stands now."""
        return self._mod.with_functions({self._name: self._func})

    def get_block(self, name: str) -> BlockRef:
        """Refer to a block; raises ScheduleError if there is none of that name."""
        return BlockRef(find_block(self._func, name).name)

    def get_loops(self, block: BlockRef) -> list[LoopRef]:
        """List the loops around a block, outermost first."""
        return [
            LoopRef(loop.var)
            for loop in loops_above(self._func, find_block(self._func, block.name))
        ]

    def loop(self, ref: LoopRef) -> For:
        """Return the loop that a reference stands for now."""
        return find_loop(self._func, ref.var)

    def split(self, loop: LoopRef, factors: Sequence[loops.Factor]) -> list[LoopRef]:
        """Replace a loop by a nest with these extents, outermost first; one may be None."""
        self._func, made = loops.split(self._func, loop.var, factors)
        return [LoopRef(var) for var in made]

    def fuse(self, *refs: LoopRef) -> LoopRef:
        """Replace nested loops, outermost first, by one over their product."""
        self._func, made = loops.fuse(self._func, [ref.var for ref in refs])
        return LoopRef(made)

    def reorder(self, *refs: LoopRef) -> None:
        """Permute loops of one nest into the order given."""
        self._func = loops.reorder(self._func, [ref.var for ref in refs])

    def parallel(self, loop: LoopRef) -> None:
        """Let the iterations of a loop run at the same time."""
        self._func = loops.mark(self._func, loop.var, "parallel")

    def vectorize(self, loop: LoopRef) -> None:
        """Let the iterations of a loop become lanes of vectors."""
        self._func = loops.mark(self._func, loop.var, "vectorized")

    def unroll(self, loop: LoopRef) -> None:
        """Let the iterations of a loop become copies of its body."""
        self._func = loops.mark(self._func, loop.var, "unrolled")

    def compute_inline(self, block: BlockRef) -> None:
        """Compute the elements of a block where they are read."""
        self._func = compute.compute_inline(self._func, block.name)

    def reverse_compute_at(self, block: BlockRef, loop: LoopRef) -> None:
        """Move a consumer under a loop of its producer."""
        self._func = compute.reverse_compute_at(self._func, block.name, loop.var)

    def decompose_reduction(self, block: BlockRef, loop: LoopRef) -> BlockRef:
        """Move the initialisation of a reduction in front of a loop, as a block of its own."""
        self._func, name = reduction.decompose_reduction(self._func, block.name, loop.var)
        return BlockRef(name)

    def cache_read(self, block: BlockRef, buffer: Buffer, scope: str = "global") -> BlockRef:
        """Let a block read a copy of a buffer, and return the block that makes the copy."""
        self._func, name = cache.cache_read(self._func, block.name, buffer, scope)
        return BlockRef(name)

    def cache_write(self, block: BlockRef, scope: str = "local") -> BlockRef:
        """Let a block write a buffer in a scope, and return the block that copies it to where it
        wrote before."""
        self._func, name = cache.cache_write(self._func, block.name, scope)
        return BlockRef(name)

    def transform_layout(self, block: BlockRef, index_map: layout.IndexMap) -> None:
        """Store the buffer that a block writes in another layout."""
        self._func = layout.transform_layout(self._func, block.name, index_map)

    def overcompute(self, block: BlockRef) -> None:
        """Let a block also run where its predicate fails, on elements that nobody reads."""
        self._func = padding.overcompute(self._func, block.name)

    def set_scope(self, block: BlockRef, scope: str) -> None:
        """Keep the buffer that a block writes in another scope."""
        self._func = layout.set_scope(self._func, block.name, scope)
