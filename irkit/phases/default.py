"""The pipeline from scheduled loops to loops that are ready for a target."""

from irkit.ir import LOOP_LEVEL
from irkit.passes.loop import (
    canonicalize_loops,
    compact_buffers,
    eliminate_common_subexpressions,
    flatten_buffers,
    hoist_first_iterations,
    hoist_if_then_else,
    inject_double_buffers,
    inject_virtual_threads,
    loop_partition,
    lower_blocks,
    lower_cross_thread_reduction,
    lower_init_blocks,
    lower_thread_loops,
    narrow_indices,
    plan_allocations,
    remove_no_ops,
    rewrite_unsafe_selects,
    serialize_inner_parallel_loops,
    simplify,
    storage_rewrite,
    thread_sync,
    unify_thread_bindings,
    unroll_loops,
    vectorize_loops,
)
from irkit.transform import Order, Phase, Pipeline

ORDER = (
    Order(
        "canonicalize-loops",
        "compact-buffers",
        "it moves the begin of a loop into the indices, which decide what part of a buffer is used",
    ),
    Order(
        "plan-allocations",
        "lower-init-blocks",
        "the init of a block shows that the block reads nothing from an earlier iteration",
    ),
    Order(
        "plan-allocations",
        "compact-buffers",
        "a buffer shrinks to what is accessed in its scope, so its scope must be inside the loops",
    ),
    Order(
        "lower-init-blocks",
        "lower-blocks",
        "only the axes of its block tell which step of a reduction is the first",
    ),
    Order(
        "instrument-bounds",
        "compact-buffers",
        "an index outside a buffer can be inside the box of all accesses",
    ),
    Order(
        "instrument-bounds",
        "flatten-buffers",
        "an index out of bounds can give an offset in bounds, and the message names indices",
    ),
    Order(
        "compact-buffers",
        "flatten-buffers",
        "a box has sides only while there is one index for each dimension",
    ),
    Order(
        "flatten-buffers",
        "narrow-indices",
        "the offset in memory has to fit the type, not each index",
    ),
    Order(
        "loop-partition",
        "hoist-first-iterations",
        "under a guard, a body does not begin with its first iteration",
    ),
    Order(
        "loop-partition",
        "vectorize-loops",
        "a guard left in the body would become a mask on every vector",
    ),
    Order(
        "hoist-first-iterations",
        "vectorize-loops",
        "the init of a reduction would become part of a mask",
    ),
    Order(
        "hoist-first-iterations",
        "unroll-loops",
        "every copy of a body would test for the first iteration",
    ),
    Order(
        "hoist-first-iterations",
        "lower-thread-loops",
        "the init of a reduction is at the head of its loop until threads are split inside it",
    ),
    Order(
        "lower-cross-thread-reduction",
        "plan-allocations",
        "the partial results of a reduction are buffers that need a place",
    ),
    Order(
        "lower-cross-thread-reduction",
        "lower-init-blocks",
        "the init of its block tells how a reduction starts",
    ),
    Order(
        "plan-allocations",
        "unify-thread-bindings",
        "where a buffer is allocated shows whether it is private to a thread",
    ),
    Order(
        "unify-thread-bindings",
        "compact-buffers",
        "threads that divide a loop among them share the memory that it fills",
    ),
    Order(
        "hoist-first-iterations",
        "thread-sync",
        "a statement moved in front of a loop can need a barrier there",
    ),
    Order(
        "unify-thread-bindings",
        "thread-sync",
        "only in one launch is it visible which statements run in different threads",
    ),
    Order(
        "inject-virtual-threads",
        "thread-sync",
        "virtual threads that have become one thread do not wait for each other",
    ),
    Order(
        "thread-sync",
        "lower-thread-loops",
        "threads are split at their barriers",
    ),
    Order(
        "lower-thread-loops",
        "serialize-inner-parallel-loops",
        "loops over thread blocks become parallel loops, perhaps nested ones",
    ),
    Order(
        "lower-thread-loops",
        "storage-rewrite",
        "values that threads hold over a barrier become one buffer with room for all threads",
    ),
    Order(
        "inject-double-buffers",
        "storage-rewrite",
        "a buffer that shares its memory has no room for a second half",
    ),
    Order(
        "storage-rewrite",
        "vectorize-loops",
        "iterations are proved independent for scalar indices only",
    ),
    Order(
        "vectorize-loops",
        "unroll-loops",
        "a body is vectorized once, and its vectors are copied",
    ),
    Order(
        "vectorize-loops",
        "hoist-if-then-else",
        "the part of a condition that all lanes share is a branch by then, not part of a mask",
    ),
    Order(
        "hoist-if-then-else",
        "unroll-loops",
        "every copy of an unrolled body would repeat the branch",
    ),
    Order(
        "unroll-loops",
        "eliminate-common-subexpressions",
        "the copies share most of their indices",
    ),
    Order(
        "remove-no-ops",
        "eliminate-common-subexpressions",
        "a shared value must not be computed in a statement that is removed",
    ),
)

DEFAULT = Pipeline(
    LOOP_LEVEL,
    (
        Phase(0, "raw"),
        Phase(
            1,
            "flat",
            (
                canonicalize_loops,
                lower_cross_thread_reduction,
                plan_allocations,
                lower_init_blocks,
                lower_blocks,
                unify_thread_bindings,
                compact_buffers,
                flatten_buffers,
                narrow_indices,
                simplify,
            ),
        ),
        Phase(
            2,
            "loops",
            (
                loop_partition,
                hoist_first_iterations,
                inject_virtual_threads,
                thread_sync,
                lower_thread_loops,
                serialize_inner_parallel_loops,
                inject_double_buffers,
                storage_rewrite,
                vectorize_loops,
                hoist_if_then_else,
                unroll_loops,
            ),
        ),
        Phase(
            3,
            "cleanup",
            (
                simplify,
                remove_no_ops,
                rewrite_unsafe_selects,
                eliminate_common_subexpressions,
            ),
        ),
    ),
    order=ORDER,
)
