"""Passes over loops, one a file; each file opens with an example of what the pass does.

blocks: lowering of blocks; storage: buffers; loops: loops and conditions inside them; threads:
loops over the threads of a grid; cleanup: expressions and statements without effect; legalize: what
a target lacks; support: what several of them use. ``irkit.phases.default`` shows the order in which
they run.

Passes whose rewrites depend on each other are atomic; of all others, any subset of the applications
leaves a valid program, and a test holds that. Loads and stores are compared by numbers, never by
the ``==`` of expressions, which recurses. By default ``loop_partition`` splits only for guards
inside vectorized loops, which would become masks; the hint ``partition=False`` keeps a loop whole.
``storage_rewrite`` leaves buffers below 4 KiB alone, for they may become registers, and runs before
``vectorize_loops``: that two iterations never meet is shown for scalar indices. ``convert_ssa``
stands in no phase, because what it mends does not verify.
"""

from irkit.passes.loop.blocks.auto_schedule import (
    auto_schedule as auto_schedule,
)
from irkit.passes.loop.blocks.lower_blocks import (
    lower_blocks as lower_blocks,
)
from irkit.passes.loop.blocks.lower_init_blocks import (
    lower_init_blocks as lower_init_blocks,
)
from irkit.passes.loop.cleanup.convert_ssa import (
    convert_ssa as convert_ssa,
)
from irkit.passes.loop.cleanup.eliminate_common_subexpressions import (
    eliminate_common_subexpressions as eliminate_common_subexpressions,
)
from irkit.passes.loop.cleanup.narrow_indices import (
    narrow_indices as narrow_indices,
)
from irkit.passes.loop.cleanup.remove_no_ops import (
    remove_no_ops as remove_no_ops,
)
from irkit.passes.loop.cleanup.rewrite_unsafe_selects import (
    rewrite_unsafe_selects as rewrite_unsafe_selects,
)
from irkit.passes.loop.cleanup.simplify import (
    simplify as simplify,
)
from irkit.passes.loop.legalize.expand_conversions import (
    expand_conversions as expand_conversions,
)
from irkit.passes.loop.legalize.expand_functions import (
    expand_functions as expand_functions,
)
from irkit.passes.loop.legalize.narrow_addresses import (
    narrow_addresses as narrow_addresses,
)
from irkit.passes.loop.legalize.split_vectors import (
    split_vectors as split_vectors,
)
from irkit.passes.loop.legalize.widen_floats import (
    widen_floats as widen_floats,
)
from irkit.passes.loop.legalize.widen_shifts import (
    widen_shifts as widen_shifts,
)
from irkit.passes.loop.loops.canonicalize_loops import (
    canonicalize_loops as canonicalize_loops,
)
from irkit.passes.loop.loops.convert_for_loops_to_serial import (
    convert_for_loops_to_serial as convert_for_loops_to_serial,
)
from irkit.passes.loop.loops.hoist_first_iterations import (
    hoist_first_iterations as hoist_first_iterations,
)
from irkit.passes.loop.loops.hoist_if_then_else import (
    hoist_if_then_else as hoist_if_then_else,
)
from irkit.passes.loop.loops.loop_partition import (
    loop_partition as loop_partition,
)
from irkit.passes.loop.loops.serialize_inner_parallel_loops import (
    serialize_inner_parallel_loops as serialize_inner_parallel_loops,
)
from irkit.passes.loop.loops.time_loops import (
    loops_worth_timing as loops_worth_timing,
    time_loops as time_loops,
)
from irkit.passes.loop.loops.unroll_loops import (
    unroll_loops as unroll_loops,
)
from irkit.passes.loop.loops.vectorize_loops import (
    vectorize_loops as vectorize_loops,
)
from irkit.passes.loop.storage.compact_buffers import (
    compact_buffers as compact_buffers,
)
from irkit.passes.loop.storage.flatten_buffers import (
    flatten_buffers as flatten_buffers,
)
from irkit.passes.loop.storage.inject_double_buffers import (
    inject_double_buffers as inject_double_buffers,
)
from irkit.passes.loop.storage.instrument_bounds import (
    instrument_bounds as instrument_bounds,
)
from irkit.passes.loop.storage.plan_allocations import (
    plan_allocations as plan_allocations,
)
from irkit.passes.loop.storage.storage_rewrite import (
    storage_rewrite as storage_rewrite,
)
from irkit.passes.loop.threads.inject_virtual_threads import (
    inject_virtual_threads as inject_virtual_threads,
)
from irkit.passes.loop.threads.lower_cross_thread_reduction import (
    lower_cross_thread_reduction as lower_cross_thread_reduction,
)
from irkit.passes.loop.threads.lower_thread_loops import (
    lower_thread_loops as lower_thread_loops,
)
from irkit.passes.loop.threads.thread_sync import (
    thread_sync as thread_sync,
)
from irkit.passes.loop.threads.unify_thread_bindings import (
    unify_thread_bindings as unify_thread_bindings,
)
