"""Schedule methods that move, decompose and merge computation."""

from collections.abc import Sequence

from irkit.core import ScheduleError
from irkit.ir import Buffer, Expr
from irkit.schedule.arguments.index_map import IndexMap
from irkit.schedule.checks.block_buffers import buffer_read
from irkit.schedule.checks.order import check_all_visible
from irkit.schedule.primitives.blocks.begin_at_first import begin_at_first
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
from irkit.schedule.primitives.blocks.shift_to_unsigned import shift_to_unsigned
from irkit.schedule.primitives.blocks.specialize import specialize
from irkit.schedule.primitives.blocks.tensorize import tensorize
from irkit.schedule.primitives.blocks.transform_block_layout import transform_block_layout
from irkit.schedule.state.references import BlockRef, LoopRef
from irkit.schedule.trace.traced_schedule import TracedSchedule, primitive


class BlockPrimitives(TracedSchedule):
    """Mixin with the primitives on blocks."""

    @primitive
    def compute_inline(self, block: BlockRef) -> None:
        """Compute the elements of a block where they are read."""
        self._func = compute_inline(self._func, block.name)
        check_all_visible(self._func, f"inline {block.name!r}")

    @primitive
    def reverse_compute_inline(self, block: BlockRef) -> None:
        """Fold a pointwise block into the only producer of its input."""
        self._func = reverse_compute_inline(self._func, block.name)

    @primitive
    def compute_at(self, block: BlockRef, loop: LoopRef) -> None:
        """Move a producer under a loop of its consumers, to compute only what is needed there."""
        self._func = compute_at(self._func, block.name, loop.var)

    @primitive
    def compute_root(self, block: BlockRef) -> None:
        """Move a block out of all loops that it shares with others."""
        self._func = compute_root(self._func, block.name)

    @primitive
    def reverse_compute_at(self, block: BlockRef, loop: LoopRef) -> None:
        """Move a consumer under a loop of its producers, to process what they just computed."""
        self._func = reverse_compute_at(self._func, block.name, loop.var)

    @primitive
    def decompose_reduction(self, block: BlockRef, loop: LoopRef) -> BlockRef:
        """Move the initialisation of a reduction into a new block before a loop."""
        self._func, name = decompose_reduction(self._func, block.name, loop.var)
        return BlockRef(name)

    @primitive
    def rfactor(self, loop: LoopRef, factor_axis: int = 0) -> BlockRef:
        """Factor a reduction loop into partial results, one per iteration, and a final reduction;
        return the block that computes the partial results."""
        self._func, name = rfactor(self._func, loop.var, factor_axis)
        return BlockRef(name)

    @primitive
    def begin_at_first(self, block: BlockRef) -> None:
        """Initialise a reduction that chooses among elements with the first one, and drop the
        comparison of positions, which rise."""
        self._func = begin_at_first(self._func, block.name)

    @primitive
    def blockize(self, loop: LoopRef) -> BlockRef:
        """Turn a loop and everything below it into one block, with axes for the loops around it."""
        self._func, name = blockize(self._func, loop.var)
        return BlockRef(name)

    @primitive
    def tensorize(self, ref: LoopRef | BlockRef, intrin: str) -> BlockRef:
        """Replace a loop or the body of a block by the tensor intrinsic of a name; return the
        block."""
        block = self.blockize(ref) if isinstance(ref, LoopRef) else ref
        found = self._intrinsics.get(intrin)
        self._func = tensorize(self._func, block.name, found)
        return block

    @primitive
    def decompose_padding(self, block: BlockRef, loop: LoopRef) -> BlockRef:
        """Split a padded copy into a block that fills with the constant and one that copies the
        interior; return the block that fills."""
        self._func, name = decompose_padding(self._func, block.name, loop.var)
        return BlockRef(name)

    def can_decompose_padding(self, block: BlockRef, loop: LoopRef) -> bool:
        """Return True if decompose_padding would be legal."""
        try:
            decompose_padding(self._func, block.name, loop.var)
        except ScheduleError:
            return False
        return True

    @primitive
    def pad_einsum(self, block: BlockRef, padding: Sequence[int]) -> list[BlockRef]:
        """Pad the extent of each axis of a sum of products up to a multiple; return the blocks that
        copy in and out."""
        self._func, names = pad_einsum(self._func, block.name, padding)
        return [BlockRef(name) for name in names]

    @primitive
    def shift_to_unsigned(self, block: BlockRef, buffer: Buffer | str | int) -> list[BlockRef]:
        """Make a signed operand of a sum of products unsigned; return the blocks that shift it, add
        the other operand up, and take the difference away."""
        found = buffer_read(self._func, block.name, buffer)
        self._func, names = shift_to_unsigned(self._func, block.name, found)
        return [BlockRef(name) for name in names]

    @primitive
    def transform_block_layout(self, block: BlockRef, index_map: IndexMap) -> None:
        """Replace the axes of a block by their image under an index map."""
        self._func = transform_block_layout(self._func, block.name, index_map)

    @primitive
    def reorder_block_iter_var(self, block: BlockRef, order: Sequence[int]) -> None:
        """List the axes of a block in another order."""
        self._func = reorder_block_iter_var(self._func, block.name, order)

    @primitive
    def fuse_reduction_epilogue(self, block: BlockRef, epilogue_block: BlockRef) -> None:
        """Initialise a sum with what a pointwise block adds to its result, and remove that
        block."""
        self._func = fuse_reduction_epilogue(self._func, block.name, epilogue_block.name)

    @primitive
    def overcompute(self, block: BlockRef, repeat: Sequence[int] = ()) -> None:
        """Drop the predicate of a block: it then also computes elements that nobody reads.

        Inputs are 0 outside; along the axes at the positions ``repeat`` the last element inside.
        """
        self._func = overcompute(self._func, block.name, repeat)

    @primitive
    def specialize(self, *conditions: Expr) -> list[BlockRef]:
        """Run a copy of the body where a condition over sizes holds, the first of several that
        does; return the blocks of all copies, in order."""
        self._func, names = specialize(self._func, conditions)
        return [BlockRef(name) for copy in names for name in copy]
