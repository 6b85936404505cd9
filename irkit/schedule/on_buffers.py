"""The primitives of a schedule that change buffers: caches, layouts and scopes."""

from collections.abc import Sequence

from irkit.ir import Buffer
from irkit.schedule import cache, layout
from irkit.schedule.index_map import IndexMap
from irkit.schedule.recording import Recording, primitive
from irkit.schedule.references import BlockRef


class BufferPrimitives(Recording):
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
        found = cache.buffer_read(self._func, block.name, buffer)
        others = [each.name for each in consumers]
        self._func, name = cache.cache_read(self._func, block.name, found, scope, others)
        return BlockRef(name)

    @primitive
    def cache_write(self, block: BlockRef, scope: str = "local") -> BlockRef:
        """Let a block write a buffer in a scope, and return the block that copies it to where it
        wrote before."""
        self._func, name = cache.cache_write(self._func, block.name, scope)
        return BlockRef(name)

    @primitive
    def transform_layout(self, block: BlockRef, index_map: IndexMap) -> None:
        """Store the buffer that a block writes in another layout."""
        self._func = layout.transform_layout(self._func, block.name, index_map)

    @primitive
    def set_scope(self, block: BlockRef, scope: str) -> None:
        """Keep the buffer that a block writes in another scope."""
        self._func = layout.set_scope(self._func, block.name, scope)
