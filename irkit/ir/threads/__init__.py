"""Thread loops and barriers: what a nest is, which threads conflict, and how a nest is split at its
barriers.

Reading order: nest, private (memory of each thread), split (one thread at a time), digits (of a
thread's number), conflicts (which threads touch the same element), barriers (where a nest needs
them), guarded_conflicts (iterations under conditions), independence (of all loops without an
order).

After a split, each piece has thread loops of its own, and what a thread keeps has a place for every
thread. Loops and conditions around a barrier go around the thread loops, so threads must agree on
them, or it is an error with the line. ``lower_thread_loops`` and the LLVM emitter call the same
function, so any stage runs as native code. ``conflicts`` asks, loop by loop from the outside in,
whether two threads may touch the same element; ``thread_sync`` puts barriers by that, and
``independence`` tells checks which loops can run in any order.
"""

from irkit.ir.build import (
    is_block_loop as is_block_loop,
    is_thread_loop as is_thread_loop,
)
from irkit.ir.threads.barriers import (
    BarrierFinder as BarrierFinder,
    outermost_nests as outermost_nests,
    stands_twice as stands_twice,
)
from irkit.ir.threads.conflicts import (
    AccessPlace as AccessPlace,
    Path as Path,
    ThreadConflicts as ThreadConflicts,
    common_path as common_path,
)
from irkit.ir.threads.independence import (
    LoopIndependence as LoopIndependence,
    independence as independence,
    met_memory as met_memory,
)
from irkit.ir.threads.nest import (
    BARRIER as BARRIER,
    UniformityInfo as UniformityInfo,
    extent_of as extent_of,
    holding as holding,
    is_barrier as is_barrier,
)
from irkit.ir.threads.private import (
    element_reach as element_reach,
    thread_number as thread_number,
    with_own_memory as with_own_memory,
)
from irkit.ir.threads.split import (
    split_threads as split_threads,
)
