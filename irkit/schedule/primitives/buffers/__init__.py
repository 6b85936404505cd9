"""Primitives on buffers.

Copies: cache_read, cache_write, cache_inplace, cache_index, stage_mem, read_at, write_at, reindex
(also reindex_cache_read and reindex_cache_write). Layout: transform_layout, storage_align,
set_scope, unsafe_set_dtype. Memory: double_buffer, reuse_buffer, rolling_buffer, prefetch."""
