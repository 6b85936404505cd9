"""Schedules of loop IR: primitives that transform one function step by step, each legal or refused.

Reading order: state (references; finding and replacing statements), arguments (conditions, index
maps, intrinsics), analysis (facts about blocks and loops), checks (preconditions), rewrite (IR that
several primitives build), primitives (one a file), trace (a schedule as data), methods (what users
call), schedule (the class ``Schedule``).

A loop is known by its variable and a block by its name, which outlive every rewrite, so references
need no forwarding. What moves between loops stands on four questions: at which points of its axes a
block runs (``domain``), which part of a buffer a loop touches (``ir.analysis.boxes``), which part
of the axes makes that part (``solve_axes``), and whether anything then reads other values
(``order``).
An inexact split guards the blocks inside by their predicate. A reduction whose range is cut starts
in the first part only. ``compute_at`` allocates what it moves inside of the loop, so iterations
share nothing. ``transform_layout`` does not simplify: ``(y * 55 + x) % 32`` would lose its 55
before ``y`` and ``x`` become ``p // 55`` and ``p % 55``.
"""

from irkit.schedule.analysis.accesses import (
    only_store as only_store,
    reads_of as reads_of,
    variables as variables,
    writes_of as writes_of,
)
from irkit.schedule.arguments.builtin_intrinsics import (
    builtin_intrinsics as builtin_intrinsics,
)
from irkit.schedule.arguments.condition import (
    Condition as Condition,
)
from irkit.schedule.arguments.dot_intrinsics import (
    pack_name as pack_name,
)
from irkit.schedule.arguments.index_map import (
    IndexMap as IndexMap,
)
from irkit.schedule.arguments.intrinsics import (
    Intrinsics as Intrinsics,
    TensorIntrin as TensorIntrin,
)
from irkit.schedule.checks.block_buffers import (
    buffer_written as buffer_written,
)
from irkit.schedule.schedule import (
    Schedule as Schedule,
)
from irkit.schedule.state.lookup import (
    allocation as allocation,
)
from irkit.schedule.state.references import (
    BlockRef as BlockRef,
    Drawn as Drawn,
    LoopRef as LoopRef,
)
from irkit.schedule.trace.differential_check import (
    Reference as Reference,
)
from irkit.schedule.trace.python_text import (
    read_schedule as read_schedule,
)
from irkit.schedule.trace.schedule_trace import (
    Ref as Ref,
    ScheduleTrace as ScheduleTrace,
    TraceStep as TraceStep,
    Value as Value,
)
from irkit.schedule.trace.traced_schedule import (
    PRIMITIVES as PRIMITIVES,
    Check as Check,
)
