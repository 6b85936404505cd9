"""Thread loops and barriers: what a nest is, whether threads disturb each other, and how a nest is
taken apart at its barriers.

Reading order: nest, split (one thread at a time), conflicts (who touches what another touches).
"""

from irkit.ir.threads.conflicts import Path, ThreadConflicts
from irkit.ir.threads.nest import (
    BARRIER,
    Uniform,
    extent_of,
    holding,
    is_barrier,
    is_block_loop,
    is_thread_loop,
)
from irkit.ir.threads.split import split_threads

__all__ = [
    "BARRIER",
    "Path",
    "ThreadConflicts",
    "Uniform",
    "extent_of",
    "holding",
    "is_barrier",
    "is_block_loop",
    "is_thread_loop",
    "split_threads",
]
