"""The primitives of a schedule that say where intermediate buffers lie."""

from irkit.ir import Buffer, DType, as_dtype
from irkit.schedule.checks.block_buffers import buffer_read
from irkit.schedule.primitives.buffers.double_buffer import double_buffer
from irkit.schedule.primitives.buffers.prefetch import prefetch
from irkit.schedule.primitives.buffers.reuse_buffer import reuse_buffer
from irkit.schedule.primitives.buffers.rolling_buffer import rolling_buffer
from irkit.schedule.primitives.buffers.storage_align import storage_align
from irkit.schedule.primitives.buffers.unsafe_set_dtype import unsafe_set_dtype
from irkit.schedule.state.references import BlockRef, LoopRef
from irkit.schedule.trace.traced_schedule import TracedSchedule, primitive


class StoragePrimitives(TracedSchedule):
    """Leave gaps in buffers, let them share memory, and fill them ahead."""

    @primitive
    def storage_align(
        self, block: BlockRef, buffer: Buffer | str | int, axis: int, factor: int, offset: int = 0
    ) -> None:
        """Leave gaps in a buffer that a block writes, so that its stride along an axis is
        ``offset`` more than a multiple of ``factor``.

        ``buffer`` is a buffer, its name, or its place among those that the block writes.
        """
        self._func = storage_align(self._func, block.name, buffer, axis, factor, offset)

    @primitive
    def double_buffer(self, block: BlockRef) -> None:
        """Give what a block writes two halves, to fill one while the other is used."""
        self._func = double_buffer(self._func, block.name)

    @primitive
    def reuse_buffer(self, first: BlockRef, second: BlockRef) -> None:
        """Let what a second block writes lie in the memory of what a first one writes."""
        self._func = reuse_buffer(self._func, first.name, second.name)

    @primitive
    def prefetch(
        self, block: BlockRef, buffer: Buffer | str | int, loop: LoopRef, offset: int = 1
    ) -> None:
        """In each iteration of a loop, ask for the memory that a block reads ``offset`` iterations
        later.

        ``buffer`` is a buffer, its name, or its place among those that the block reads.
        """
        found = buffer_read(self._func, block.name, buffer)
        self._func = prefetch(self._func, block.name, found, loop.var, offset)

    @primitive
    def rolling_buffer(self, block: BlockRef) -> None:
        """Keep what a block computed for one iteration of the loop that it was moved to as long as
        later ones need it."""
        self._func = rolling_buffer(self._func, block.name)

    @primitive
    def unsafe_set_dtype(self, block: BlockRef, dtype: DType | str) -> None:
        """Keep what a block writes in another type, which may change results."""
        self._func = unsafe_set_dtype(self._func, block.name, as_dtype(dtype))
