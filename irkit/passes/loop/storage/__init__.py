"""Passes over buffers: where they are allocated, how large they are, how they are indexed, and
which share memory.

Reading order, that of the phases: plan_allocations, instrument_bounds (optional), compact_buffers,
flatten_buffers; inject_double_buffers, storage_rewrite.
"""
