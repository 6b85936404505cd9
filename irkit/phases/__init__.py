"""Which passes run, in which order, and why.

Reading order: default (loops), graph, legalize; placement, resume, bounds_checks, schedule_choice
(pipelines with changes); lower, build (kernels); executor (the plan of a model), compile (models);
candidates (for tuning).

The graph pipeline has two phases: 0 on operators, 1 makes kernels; so the end of ``graph`` is a
place where operators are still there. ``placement.Flow`` holds the three pipelines (graph, loops,
legalize); the command line edits that value. ``executor.kernel_calls`` holds each kernel to its
call before an executor is planned, because native code checks nothing. With ``--pipeline``, a fact
that a pass needs is in force at the start if the input has it.
"""

from irkit.phases.backends.backend import (
    Backend as Backend,
    define_backend as define_backend,
    load_backend as load_backend,
)
from irkit.phases.backends.claim_check import (
    check_backend as check_backend,
)
from irkit.phases.backends.claims import (
    BackendClaim as BackendClaim,
    ClaimRule as ClaimRule,
    ForeignCode as ForeignCode,
    claim_rule as claim_rule,
)
from irkit.phases.build import (
    build as build,
)
from irkit.phases.candidates import (
    lowering_trace as lowering_trace,
    model_tasks as model_tasks,
)
from irkit.phases.compile import (
    compile as compile,
)
from irkit.phases.default import (
    DEFAULT as DEFAULT,
    ORDER as ORDER,
)
from irkit.phases.executor.kernel_calls import (
    check_calls as check_calls,
)
from irkit.phases.executor.planner import (
    executor_plan as executor_plan,
)
from irkit.phases.executor.state_names import (
    StateNames as StateNames,
    in_place as in_place,
)
from irkit.phases.executor.tensor_specs import (
    input_specs as input_specs,
)
from irkit.phases.graph import (
    GRAPH as GRAPH,
)
from irkit.phases.legalize import (
    LEGALIZE as LEGALIZE,
)
from irkit.phases.loop_profile import (
    LoopProfile as LoopProfile,
    LoopTime as LoopTime,
    profile_loops as profile_loops,
)
from irkit.phases.lower import (
    lower as lower,
    trace as trace,
)
from irkit.phases.placement import (
    Flow as Flow,
)
from irkit.phases.resume import (
    pipeline_for as pipeline_for,
)
from irkit.phases.schedule_choice import (
    VARIABLE as VARIABLE,
    MachineChoice as MachineChoice,
    RecordsChoice as RecordsChoice,
    ScheduleChoice as ScheduleChoice,
    for_machine as for_machine,
    for_target as for_target,
    machine_of as machine_of,
    schedule_choice as schedule_choice,
    with_auto_schedule as with_auto_schedule,
)
from irkit.phases.target_phases import phases_of as phases_of
