"""Thread loops and barriers: what a nest is, which threads conflict, and how a nest is split at its
barriers.

Reading order: nest, split (one thread at a time), conflicts (which threads touch the same element).
"""

from irkit.ir.threads.conflicts import (
    Path as Path,
    ThreadConflicts as ThreadConflicts,
)
from irkit.ir.threads.nest import (
    BARRIER as BARRIER,
    UniformityInfo as UniformityInfo,
    extent_of as extent_of,
    holding as holding,
    is_barrier as is_barrier,
    is_block_loop as is_block_loop,
    is_thread_loop as is_thread_loop,
)
from irkit.ir.threads.split import (
    split_threads as split_threads,
)
