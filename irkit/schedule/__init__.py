"""Schedule primitives on loop IR with blocks, one family a file.

Reading order: references, state (finding and replacing), copies (new nests and names); loops,
tails, pieces, merging, launch, wrapping, marks, predicates, compute, reduction, cache, staging,
reindex, layout, storage, rolling, prefetch, padding (what each primitive does to a function);
domain, grid, consumed, solve, order, starts, accumulation (what that rests on), move, root,
reverse, inline, combine, rfactor, blocks, match, intrinsics, tensor, fill, einsum, iterators,
epilogue; trace, condition, index_map, argument_kinds, encode, listing, meaning, sharing, recording
(a schedule as data); on_loops, on_marks, on_blocks, on_buffers, on_storage, on_sampling (the
methods), show, and schedule, which is all of them.
"""

from irkit.schedule.analysis.accesses import only_store, reads_of, variables, writes_of
from irkit.schedule.arguments.condition import Condition
from irkit.schedule.arguments.index_map import IndexMap
from irkit.schedule.arguments.intrinsics import Intrinsics, TensorIntrin, builtin_intrinsics
from irkit.schedule.checks.block_buffers import buffer_written
from irkit.schedule.schedule import Schedule
from irkit.schedule.state.lookup import allocation
from irkit.schedule.state.references import BlockRef, Drawn, LoopRef
from irkit.schedule.trace.differential_check import Reference
from irkit.schedule.trace.schedule_trace import Ref, ScheduleTrace, TraceStep, Value
from irkit.schedule.trace.traced_schedule import PRIMITIVES, Check

__all__ = [
    "PRIMITIVES",
    "BlockRef",
    "Check",
    "Condition",
    "Drawn",
    "IndexMap",
    "Intrinsics",
    "LoopRef",
    "Ref",
    "Reference",
    "Schedule",
    "ScheduleTrace",
    "TensorIntrin",
    "TraceStep",
    "Value",
    "allocation",
    "buffer_written",
    "builtin_intrinsics",
    "only_store",
    "reads_of",
    "variables",
    "writes_of",
]
