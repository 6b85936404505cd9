"""The primitives of a schedule that move, take apart and merge computation."""

from collections.abc import Sequence

from irkit.core import ScheduleError
from irkit.schedule.arguments.index_map import IndexMap
from irkit.schedule.checks.order import check_all_visible
from irkit.schedule.primitives.blocks.blockize import blockize
from irkit.schedule.primitives.blocks.compute_at import compute_at
from irkit.schedule.primitives.blocks.compute_inline import compute_inline
from irkit.schedule.primitives.blocks.compute_root import compute_root
from irkit.schedule.primitives.blocks.decompose_padding import decompose_padding
from irkit.schedule.primitives.blocks.decompose_reduction import decompose_reduction
from irkit.schedule.primitives.blocks.fuse_reduction_epilogue import fuse_reduction_epilogue
from irkit.schedule.primitives.blocks.overcompute import overcompute
from irkit.schedule.primitives.blocks.pad_einsum import pad_einsum
from irkit.schedule.primitives.blocks.reorder_block_iter_var import reorder_block_iter_var
from irkit.schedule.primitives.blocks.reverse_compute_at import reverse_compute_at
from irkit.schedule.primitives.blocks.reverse_compute_inline import reverse_compute_inline
from irkit.schedule.primitives.blocks.rfactor import rfactor
from irkit.schedule.primitives.blocks.tensorize import tensorize
from irkit.schedule.primitives.blocks.transform_block_layout import transform_block_layout
from irkit.schedule.state.references import BlockRef, LoopRef
from irkit.schedule.trace.traced_schedule import TracedSchedule, primitive


class BlockPrimitives(TracedSchedule):
    """Inline blocks, move them, and take reductions apart."""

    @primitive
    def compute_inline(self, block: BlockRef) -> None:
        """Compute the elements of a block where they are read."""
        self._func = compute_inline(self._func, block.name)
        check_all_visible(self._func, f"inline {block.name!r}")

    @primitive
    def reverse_compute_inline(self, block: BlockRef) -> None:
        """Let the only producer of a pointwise block store what the block makes of its elements."""
        self._func = reverse_compute_inline(self._func, block.name)

    @primitive
    def compute_at(self, block: BlockRef, loop: LoopRef) -> None:
        """Move a producer under a loop of its consumers, to compute just what is needed there."""
        self._func = compute_at(self._func, block.name, loop.var)

    @primitive
    def compute_root(self, block: BlockRef) -> None:
        """Move a block out of all loops that it shares with others."""
        self._func = compute_root(self._func, block.name)

    @primitive
    def reverse_compute_at(self, block: BlockRef, loop: LoopRef) -> None:
        """Move a consumer under a loop of its producers, to handle what they have just made."""
        self._func = reverse_compute_at(self._func, block.name, loop.var)

    @primitive
    def decompose_reduction(self, block: BlockRef, loop: LoopRef) -> BlockRef:
        """Move the initialisation of a reduction in front of a loop, as a block of its own."""
        self._func, name = decompose_reduction(self._func, block.name, loop.var)
        return BlockRef(name)

    @primitive
    def rfactor(self, loop: LoopRef, factor_axis: int = 0) -> BlockRef:
        """Reduce each iteration of a reduction loop into an element of its own, and these
        afterwards; return the block that makes the partial results."""
        self._func, name = rfactor(self._func, loop.var, factor_axis)
        return BlockRef(name)

    @primitive
    def blockize(self, loop: LoopRef) -> BlockRef:
        """Make a loop with all below it one block, over axes for the loops around it."""
        self._func, name = blockize(self._func, loop.var)
        return BlockRef(name)

    @primitive
    def tensorize(self, ref: LoopRef | BlockRef, intrin: str) -> BlockRef:
        """Compute what is below a loop, or the body of a block, by an intrinsic of that name;
        return the block that does."""
        block = self.blockize(ref) if isinstance(ref, LoopRef) else ref
        found = self._intrinsics.get(intrin)
        self._func = tensorize(self._func, block.name, found)
        return block

    @primitive
    def decompose_padding(self, block: BlockRef, loop: LoopRef) -> BlockRef:
        """Fill what a loop writes with the constant first, and then copy only what lies inside;
        return the block that fills."""
        self._func, name = decompose_padding(self._func, block.name, loop.var)
        return BlockRef(name)

    def can_decompose_padding(self, block: BlockRef, loop: LoopRef) -> bool:
        """Say whether decompose_padding would be legal."""
        try:
            decompose_padding(self._func, block.name, loop.var)
        except ScheduleError:
            return False
        return True

    @primitive
    def pad_einsum(self, block: BlockRef, padding: Sequence[int]) -> list[BlockRef]:
        """Round the extent of each axis of a sum of products up to a multiple; return the blocks
        that copy there and back."""
        self._func, names = pad_einsum(self._func, block.name, padding)
        return [BlockRef(name) for name in names]

    @primitive
    def transform_block_layout(self, block: BlockRef, index_map: IndexMap) -> None:
        """Go over the points of a block by other axes, that an index map makes of its own."""
        self._func = transform_block_layout(self._func, block.name, index_map)

    @primitive
    def reorder_block_iter_var(self, block: BlockRef, order: Sequence[int]) -> None:
        """List the axes of a block in another order."""
        self._func = reorder_block_iter_var(self._func, block.name, order)

    @primitive
    def fuse_reduction_epilogue(self, block: BlockRef, epilogue_block: BlockRef) -> None:
        """Start a sum at what a pointwise block adds to its result, and drop that block."""
        self._func = fuse_reduction_epilogue(self._func, block.name, epilogue_block.name)

    @primitive
    def overcompute(self, block: BlockRef) -> None:
        """Let a block also run where its predicate fails, on elements that nobody reads."""
        self._func = overcompute(self._func, block.name)
