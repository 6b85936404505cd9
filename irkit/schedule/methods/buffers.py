"""The primitives of a schedule that change buffers: caches, layouts and scopes."""

from collections.abc import Sequence

from irkit.ir import Buffer
from irkit.schedule.arguments.index_map import IndexMap
from irkit.schedule.checks.block_buffers import buffer_read, buffer_written
from irkit.schedule.primitives.buffers.cache_index import cache_index
from irkit.schedule.primitives.buffers.cache_inplace import cache_inplace
from irkit.schedule.primitives.buffers.cache_read import cache_read
from irkit.schedule.primitives.buffers.cache_write import cache_write
from irkit.schedule.primitives.buffers.read_at import read_at
from irkit.schedule.primitives.buffers.reindex import reindex
from irkit.schedule.primitives.buffers.set_scope import set_scope
from irkit.schedule.primitives.buffers.stage_mem import stage_mem
from irkit.schedule.primitives.buffers.transform_layout import transform_layout
from irkit.schedule.primitives.buffers.write_at import write_at
from irkit.schedule.state.references import BlockRef, LoopRef
from irkit.schedule.trace.traced_schedule import TracedSchedule, primitive


class BufferPrimitives(TracedSchedule):
    """Put buffers between computation and memory, and change how they are laid out."""

    @primitive
    def cache_read(
        self,
        block: BlockRef,
        buffer: Buffer | str | int,
        scope: str = "global",
        *,
        consumers: Sequence[BlockRef] = (),
    ) -> BlockRef:
        """Let a block read a copy of a buffer, and return the block that makes the copy.

        ``buffer`` is a buffer, its name, or its place among those that the block reads;
        ``consumers`` are other blocks that read the same copy.
        """
        found = buffer_read(self._func, block.name, buffer)
        others = [each.name for each in consumers]
        self._func, name = cache_read(self._func, block.name, found, scope, others)
        return BlockRef(name)

    @primitive
    def cache_write(self, block: BlockRef, scope: str = "local") -> BlockRef:
        """Let a block write a buffer in a scope, and return the block that copies it to where it
        wrote before."""
        self._func, name = cache_write(self._func, block.name, scope)
        return BlockRef(name)

    @primitive
    def cache_inplace(
        self, block: BlockRef, buffer: Buffer | str | int, scope: str = "local"
    ) -> list[BlockRef]:
        """Let a block change a copy of a buffer that it changes in place, and return the blocks
        that copy it in and back."""
        found = buffer_read(self._func, block.name, buffer)
        self._func, names = cache_inplace(self._func, block.name, found, scope)
        return [BlockRef(name) for name in names]

    @primitive
    def cache_index(self, block: BlockRef, scope: str = "global") -> list[BlockRef]:
        """Compute the indices of a block that take a division ahead, and return the blocks that
        do."""
        self._func, names = cache_index(self._func, block.name, scope)
        return [BlockRef(name) for name in names]

    @primitive
    def stage_mem(
        self, loop: LoopRef, buffer: Buffer | str, scope: str = "local"
    ) -> list[BlockRef]:
        """Let a loop work on a copy of the part of a buffer that it touches, and return the blocks
        that copy it in and back, as far as they are needed."""
        found = self.buffer(buffer) if isinstance(buffer, str) else buffer
        self._func, names = stage_mem(self._func, loop.var, found, scope)
        return [BlockRef(name) for name in names]

    @primitive
    def read_at(
        self, loop: LoopRef, block: BlockRef, buffer: Buffer | str | int, scope: str = "local"
    ) -> BlockRef:
        """Let a block read a copy, made in each iteration of a loop, of the part that it reads, and
        return the block that makes it."""
        found = buffer_read(self._func, block.name, buffer)
        self._func, (name,) = read_at(self._func, loop.var, block.name, found, scope)
        return BlockRef(name)

    @primitive
    def write_at(
        self, loop: LoopRef, block: BlockRef, buffer: Buffer | str | int, scope: str = "local"
    ) -> BlockRef:
        """Let a block write a copy of a part of a buffer, and return the block that copies it back
        at the end of each iteration of a loop."""
        found = buffer_written(self._func, block.name, buffer)
        self._func, names = write_at(self._func, loop.var, block.name, found, scope)
        return BlockRef(names[-1])

    @primitive
    def reindex(self, block: BlockRef, buffer: Buffer | str) -> BlockRef:
        """Let a block use a copy of a buffer that is laid out by its axes, and return the block
        that copies."""
        found = self.buffer(buffer) if isinstance(buffer, str) else buffer
        self._func, name = reindex(self._func, block.name, found, None, "global")
        return BlockRef(name)

    @primitive
    def reindex_cache_read(
        self, block: BlockRef, buffer: Buffer | str | int, scope: str, index_map: IndexMap
    ) -> BlockRef:
        """Let a block read a copy of a buffer that is laid out by a map of its axes."""
        found = buffer_read(self._func, block.name, buffer)
        self._func, name = reindex(self._func, block.name, found, index_map, scope, only_reads=True)
        return BlockRef(name)

    @primitive
    def reindex_cache_write(
        self, block: BlockRef, buffer: Buffer | str | int, scope: str, index_map: IndexMap
    ) -> BlockRef:
        """Let a block write a copy of a buffer that is laid out by a map of its axes."""
        found = buffer_written(self._func, block.name, buffer)
        self._func, name = reindex(self._func, block.name, found, index_map, scope)
        return BlockRef(name)

    @primitive
    def transform_layout(
        self, block: BlockRef, index_map: IndexMap, pad_value: int | float | None = None
    ) -> None:
        """Store the buffer that a block writes in another layout; where that has elements more,
        they hold ``pad_value``, or nothing."""
        self._func = transform_layout(self._func, block.name, index_map, pad_value)

    @primitive
    def set_scope(self, block: BlockRef, scope: str) -> None:
        """Keep the buffer that a block writes in another scope."""
        self._func = set_scope(self._func, block.name, scope)
