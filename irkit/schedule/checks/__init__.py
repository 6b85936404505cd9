"""Preconditions that several primitives share: each check returns what it found, or raises
ScheduleError with the reason.

Reading order: plain_loop, block_buffers, pointwise, independence, order, recomputation,
reduced_loops, shifted_tail, launch, shared_memory, unordered_loops.
"""
