"""Functions over a trace. Reading order: lines (where a node is printed), summary (numbers), idle,
remarks, printing, timing, golden, table (how numbers print); inputs, compare, precision, running
(native, native_child, guarded), primitives (the steps of a schedule), check (does each step keep
the meaning), graph_check; bisect (which rewrite does not; watching), contracts (what every pass
promises; contract_child); carrying, child (child_main), isolate (alarm, isolated_pass),
isolated_kernel; explain (where), crash_file, crash, replay (a failed pass explains itself), guard;
sound, case, shrink_tree, shrink_signature, shrink_inputs, shrink_pipeline, shrink_schedule, reduce,
regression (the smallest case that fails, and a test of it); command, command_replay."""

from irkit.debug.bisect import Culprit, bisect, guilty_rewrites
from irkit.debug.carrying import carrying_step
from irkit.debug.case import Case, Failure, Size, failure_of, find_case, size_of_case
from irkit.debug.check import Options, Verdict, check, is_trusted, verdicts
from irkit.debug.child import Child, ChildDied, Limits
from irkit.debug.compare import Difference
from irkit.debug.contracts import (
    Breach,
    assert_contracts,
    contracts,
    differing_elsewhere,
    equal_structure,
)
from irkit.debug.crash import failure_traceback, versions, write_crash
from irkit.debug.crash_file import Crash, read_crash
from irkit.debug.explain import explain
from irkit.debug.golden import golden_diff, phase_texts, write_golden
from irkit.debug.guard import Guard, with_guard
from irkit.debug.guarded import Flush, GuardedKernel, Yard
from irkit.debug.idle import Idle, idle_passes
from irkit.debug.inputs import InputSet, input_sets
from irkit.debug.isolate import Isolation, isolate, time_limit
from irkit.debug.isolated_kernel import KernelHalted, run_kernel
from irkit.debug.lines import Lines
from irkit.debug.native import NativeWorker
from irkit.debug.primitives import (
    NO_SCHEDULE,
    PrimitiveFailed,
    schedule_steps,
    scheduled_steps,
)
from irkit.debug.printing import Printing, file_name
from irkit.debug.reduce import Reduced, reduce
from irkit.debug.regression import regression_test, write_case
from irkit.debug.remarks import Said, remarks
from irkit.debug.replay import Replayed, crash_pipeline, replay
from irkit.debug.summary import PassRow, RuleRow, summarize, summarize_rules
from irkit.debug.table import console, pass_table, rule_table, verdict_table
from irkit.debug.timing import chrome_trace, time_table

__all__ = [
    "NO_SCHEDULE",
    "Breach",
    "Case",
    "Child",
    "ChildDied",
    "Crash",
    "Culprit",
    "Difference",
    "Failure",
    "Flush",
    "Guard",
    "GuardedKernel",
    "Idle",
    "InputSet",
    "Isolation",
    "KernelHalted",
    "Limits",
    "Lines",
    "NativeWorker",
    "Options",
    "PassRow",
    "PrimitiveFailed",
    "Printing",
    "Reduced",
    "Replayed",
    "RuleRow",
    "Said",
    "Size",
    "Verdict",
    "Yard",
    "assert_contracts",
    "bisect",
    "carrying_step",
    "check",
    "chrome_trace",
    "console",
    "contracts",
    "crash_pipeline",
    "differing_elsewhere",
    "equal_structure",
    "explain",
    "failure_of",
    "failure_traceback",
    "file_name",
    "find_case",
    "golden_diff",
    "guilty_rewrites",
    "idle_passes",
    "input_sets",
    "is_trusted",
    "isolate",
    "pass_table",
    "phase_texts",
    "read_crash",
    "reduce",
    "regression_test",
    "remarks",
    "replay",
    "rule_table",
    "run_kernel",
    "schedule_steps",
    "scheduled_steps",
    "size_of_case",
    "summarize",
    "summarize_rules",
    "time_limit",
    "time_table",
    "verdict_table",
    "verdicts",
    "versions",
    "with_guard",
    "write_case",
    "write_crash",
    "write_golden",
]
