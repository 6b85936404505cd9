"""The pipeline that takes loops as they were scheduled to loops that are ready for a target."""

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
        "it moves what loops begin at into the indices, which decide how much of a buffer is used",
    ),
    Order(
        "plan-allocations",
        "lower-init-blocks",
        "a block that says how it starts shows that it reads nothing from an earlier iteration",
    ),
    Order(
        "plan-allocations",
        "compact-buffers",
        "a buffer shrinks to what is touched where it lives, so it must live inside its loops",
    ),
    Order(
        "lower-init-blocks",
        "lower-blocks",
        "the first step of a reduction is told by the axes of its block",
    ),
    Order(
        "instrument-bounds",
        "compact-buffers",
        "what is outside of a buffer may be inside of the box of all accesses",
    ),
    Order(
        "instrument-bounds",
        "flatten-buffers",
        "an index that is outside may be an offset that is inside, and the message names indices",
    ),
    Order(
        "compact-buffers",
        "flatten-buffers",
        "a box has sides only while the indices are apart",
    ),
    Order(
        "flatten-buffers",
        "narrow-indices",
        "it is the offset in memory that has to fit, not each index",
    ),
    Order(
        "loop-partition",
        "hoist-first-iterations",
        "behind a guard, the first iteration is not what the body begins with",
    ),
    Order(
        "loop-partition",
        "vectorize-loops",
        "what guards a lane would be a mask on every vector",
    ),
    Order(
        "hoist-first-iterations",
        "vectorize-loops",
        "the start of a reduction would become part of a mask",
    ),
    Order(
        "hoist-first-iterations",
        "unroll-loops",
        "every copy of a body would test for the first iteration",
    ),
    Order(
        "hoist-first-iterations",
        "lower-thread-loops",
        "the start of a reduction stands at the head of its loop until threads are split inside it",
    ),
    Order(
        "lower-cross-thread-reduction",
        "plan-allocations",
        "the parts of a reduction are buffers that need a place",
    ),
    Order(
        "lower-cross-thread-reduction",
        "lower-init-blocks",
        "how a reduction starts is told by the init of its block",
    ),
    Order(
        "plan-allocations",
        "unify-thread-bindings",
        "what a thread has to itself shows in where it is allocated",
    ),
    Order(
        "unify-thread-bindings",
        "compact-buffers",
        "threads that share out a loop share the memory that it fills",
    ),
    Order(
        "hoist-first-iterations",
        "thread-sync",
        "what is moved to the front of a loop may need a barrier there",
    ),
    Order(
        "unify-thread-bindings",
        "thread-sync",
        "which statements are of different threads shows in one launch",
    ),
    Order(
        "inject-virtual-threads",
        "thread-sync",
        "virtual threads that became one thread do not wait for each other",
    ),
    Order(
        "thread-sync",
        "lower-thread-loops",
        "threads are split at their barriers",
    ),
    Order(
        "lower-thread-loops",
        "serialize-inner-parallel-loops",
        "loops over blocks become parallel loops, perhaps inside each other",
    ),
    Order(
        "lower-thread-loops",
        "storage-rewrite",
        "what each thread of a nest holds over a barrier becomes one buffer with room for all",
    ),
    Order(
        "inject-double-buffers",
        "storage-rewrite",
        "memory that others share has no room for a second half",
    ),
    Order(
        "storage-rewrite",
        "vectorize-loops",
        "that two iterations never meet is shown for scalar indices",
    ),
    Order(
        "vectorize-loops",
        "unroll-loops",
        "a body is made of vectors once, and copied then",
    ),
    Order(
        "vectorize-loops",
        "hoist-if-then-else",
        "what all lanes share of a condition is a branch by then, and no longer part of a mask",
    ),
    Order(
        "hoist-if-then-else",
        "unroll-loops",
        "a branch in the body of an unrolled loop would stand in every copy",
    ),
    Order(
        "unroll-loops",
        "eliminate-common-subexpressions",
        "the copies share most of their indices",
    ),
    Order(
        "remove-no-ops",
        "eliminate-common-subexpressions",
        "what is removed should not be the first to compute something",
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
