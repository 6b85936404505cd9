"""Schedule methods that change buffers: caches, layouts and scopes."""

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
    """Mixin with the primitives on caches, layouts and scopes."""

    @primitive
    def cache_read(
        self,
        block: BlockRef,
        buffer: Buffer | str | int,
        scope: str = "global",
        *,
        consumers: Sequence[BlockRef] = (),
    ) -> BlockRef:
        """Make a block read a copy of a buffer, and return the block that copies.

        ``buffer`` is a buffer, its name, or its position among those that the block reads;
        ``consumers`` are further blocks that read the same copy.
        """
        found = buffer_read(self._func, block.name, buffer)
        others = [each.name for each in consumers]
        self._func, name = cache_read(self._func, block.name, found, scope, others)
        return BlockRef(name)

    @primitive
    def cache_write(self, block: BlockRef, scope: str = "local") -> BlockRef:
        """Make a block write to a new buffer in a scope, and return the block that copies it to the
        old one."""
        self._func, name = cache_write(self._func, block.name, scope)
        return BlockRef(name)

    @primitive
    def cache_inplace(
        self, block: BlockRef, buffer: Buffer | str | int, scope: str = "local"
    ) -> list[BlockRef]:
        """Make a block update a copy of a buffer instead of the buffer, and return the blocks that
        copy in and out."""
        found = buffer_read(self._func, block.name, buffer)
        self._func, names = cache_inplace(self._func, block.name, found, scope)
        return [BlockRef(name) for name in names]

    @primitive
    def cache_index(self, block: BlockRef, scope: str = "global") -> list[BlockRef]:
        """Precompute the indices of a block that contain a division, and return the blocks that
        do."""
        self._func, names = cache_index(self._func, block.name, scope)
        return [BlockRef(name) for name in names]

    @primitive
    def stage_mem(
        self, loop: LoopRef, buffer: Buffer | str, scope: str = "local"
    ) -> list[BlockRef]:
        """Make a loop work on a copy of the part of a buffer that it touches, and return the blocks
        that copy in and out, where needed."""
        found = self.buffer(buffer) if isinstance(buffer, str) else buffer
        self._func, names = stage_mem(self._func, loop.var, found, scope)
        return [BlockRef(name) for name in names]

    @primitive
    def read_at(
        self, loop: LoopRef, block: BlockRef, buffer: Buffer | str | int, scope: str = "local"
    ) -> BlockRef:
        """Make a block read a copy of the part of a buffer that it reads in each iteration of a
        loop, and return the block that copies."""
        found = buffer_read(self._func, block.name, buffer)
        self._func, (name,) = read_at(self._func, loop.var, block.name, found, scope)
        return BlockRef(name)

    @primitive
    def write_at(
        self, loop: LoopRef, block: BlockRef, buffer: Buffer | str | int, scope: str = "local"
    ) -> BlockRef:
        """Make a block write to a copy of a part of a buffer, and return the block that copies it
        back at the end of each iteration of a loop."""
        found = buffer_written(self._func, block.name, buffer)
        self._func, names = write_at(self._func, loop.var, block.name, found, scope)
        return BlockRef(names[-1])

    @primitive
    def reindex(self, block: BlockRef, buffer: Buffer | str) -> BlockRef:
        """Make a block use a copy of a buffer with one dimension for each of its axes, and return
        the block that copies."""
        found = self.buffer(buffer) if isinstance(buffer, str) else buffer
        self._func, name = reindex(self._func, block.name, found, None, "global")
        return BlockRef(name)

    @primitive
    def reindex_cache_read(
        self, block: BlockRef, buffer: Buffer | str | int, scope: str, index_map: IndexMap
    ) -> BlockRef:
        """Make a block read a copy of a buffer laid out by an index map of its axes."""
        found = buffer_read(self._func, block.name, buffer)
        self._func, name = reindex(self._func, block.name, found, index_map, scope, only_reads=True)
        return BlockRef(name)

    @primitive
    def reindex_cache_write(
        self, block: BlockRef, buffer: Buffer | str | int, scope: str, index_map: IndexMap
    ) -> BlockRef:
        """Make a block write to a copy of a buffer laid out by an index map of its axes."""
        found = buffer_written(self._func, block.name, buffer)
        self._func, name = reindex(self._func, block.name, found, index_map, scope)
        return BlockRef(name)

    @primitive
    def transform_layout(
        self, block: BlockRef, index_map: IndexMap, pad_value: int | float | None = None
    ) -> None:
        """Change the layout of the buffer that a block writes; elements without an original hold
        ``pad_value``, or are undefined without one."""
        self._func = transform_layout(self._func, block.name, index_map, pad_value)

    @primitive
    def set_scope(self, block: BlockRef, scope: str) -> None:
        """Change the scope of the buffer that a block writes."""
        self._func = set_scope(self._func, block.name, scope)
