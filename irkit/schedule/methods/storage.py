"""Schedule methods that decide how intermediate buffers are stored."""

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
    """Mixin with the primitives on the memory of buffers."""

    @primitive
    def storage_align(
        self, block: BlockRef, buffer: Buffer | str | int, axis: int, factor: int, offset: int = 0
    ) -> None:
        """Pad the strides of a buffer that a block writes, so that the stride along an axis is
        ``offset`` more than a multiple of ``factor``.

        ``buffer`` is a buffer, its name, or its position among those that the block writes.
        """
        self._func = storage_align(self._func, block.name, buffer, axis, factor, offset)

    @primitive
    def double_buffer(self, block: BlockRef) -> None:
        """Double the buffer that a block writes, so that one half is filled while the other is
        used."""
        self._func = double_buffer(self._func, block.name)

    @primitive
    def reuse_buffer(self, first: BlockRef, second: BlockRef) -> None:
        """Reuse the memory of the buffer that the first block writes for what the second block
        writes."""
        self._func = reuse_buffer(self._func, first.name, second.name)

    @primitive
    def prefetch(
        self,
        block: BlockRef,
        buffer: Buffer | str | int,
        loop: LoopRef,
        offset: int = 1,
        *,
        inside: LoopRef | None = None,
        among: LoopRef | None = None,
    ) -> None:
        """Prefetch, in each iteration of a loop, the memory that a block reads ``offset``
        iterations later.

        ``buffer`` is a buffer, its name, or its position among those that the block reads. With a
        loop ``inside``, each iteration of that one prefetches what the same iteration reads then;
        with a loop ``among``, each of its iterations prefetches a part of it.
        """
        found = buffer_read(self._func, block.name, buffer)
        self._func = prefetch(
            self._func,
            block.name,
            found,
            loop.var,
            offset,
            inside=None if inside is None else inside.var,
            among=None if among is None else among.var,
        )

    @primitive
    def rolling_buffer(self, block: BlockRef) -> None:
        """Turn the buffer of a block moved under a loop into a circular one, so that later
        iterations reuse what earlier ones computed."""
        self._func = rolling_buffer(self._func, block.name)

    @primitive
    def unsafe_set_dtype(
        self, block: BlockRef, dtype: DType | str, buffer: Buffer | str | int = 0
    ) -> None:
        """Change the type of a buffer that a block writes, which may change results."""
        self._func = unsafe_set_dtype(self._func, block.name, as_dtype(dtype), buffer)
