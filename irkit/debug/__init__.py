"""Functions over a trace. Reading order: lines (where a node is printed), summary (numbers), idle,
remarks, printing, timing, golden, table (how numbers print); inputs, compare, precision, running
(native, native_child, guarded), primitives (the steps of a schedule), check (does each step keep
the meaning), graph_check; bisect (which rewrite does not; watching), contracts (what every pass
promises; contract_child); carrying, child (child_main), isolate (alarm, isolated_pass),
isolated_kernel; explain (where), crash_file, crash, replay (a failed pass explains itself), guard;
sound, case, shrink_tree, shrink_signature, shrink_inputs, shrink_pipeline, shrink_schedule, reduce,
regression (the smallest case that fails, and a test of it); command, command_replay."""

from irkit.debug.bisect.bisect import bisect, guilty_rewrites
from irkit.debug.bisect.culprit import Culprit
from irkit.debug.check.check import check, verdicts
from irkit.debug.check.difference import Difference
from irkit.debug.check.options import CheckOptions
from irkit.debug.check.schedule_steps import (
    NO_SCHEDULE,
    PrimitiveFailed,
    schedule_steps,
    scheduled_steps,
)
from irkit.debug.check.verdict import Verdict, is_trusted
from irkit.debug.contracts.breach import Breach
from irkit.debug.contracts.contracts import assert_contracts, contracts
from irkit.debug.contracts.hash_seeds import differing_elsewhere
from irkit.debug.contracts.levels import equal_structure
from irkit.debug.crash.explanation import explain
from irkit.debug.crash.folder import Crash, read_crash
from irkit.debug.crash.isolation_policy import IsolationPolicy
from irkit.debug.crash.material import failure_traceback
from irkit.debug.crash.replay import Replayed, crash_pipeline, replay
from irkit.debug.crash.versions import versions
from irkit.debug.crash.writer import write_crash
from irkit.debug.execution.guard_pages import Flush, GuardedKernel, GuardedMemory
from irkit.debug.execution.inputs import InputSet, input_sets
from irkit.debug.execution.native_worker import NativeWorker
from irkit.debug.isolation.kernels import KernelHalted, run_kernel
from irkit.debug.isolation.passes import Isolation, time_limit
from irkit.debug.isolation.trace_step import trace_step
from irkit.debug.processes.child import Child, ChildDied, Limits
from irkit.debug.processes.isolated_call import isolate
from irkit.debug.reduce.case import CaseSize, FailingCase, size_of_case
from irkit.debug.reduce.failure import Failure, failure_of, find_case
from irkit.debug.reduce.reduce import Reduced, reduce
from irkit.debug.reduce.regression import regression_test, write_case
from irkit.debug.report.console import console
from irkit.debug.report.golden_files import golden_diff, phase_texts, write_golden
from irkit.debug.report.line_table import NodeLines
from irkit.debug.report.pass_times import chrome_trace, time_table
from irkit.debug.report.remarks import LocatedRemark, remarks
from irkit.debug.report.step_printer import StepPrinter, file_name
from irkit.debug.report.summary import PassRow, RuleRow, summarize, summarize_rules
from irkit.debug.report.tables import pass_table, rule_table, verdict_table
from irkit.debug.report.unused_passes import UnusedPass, unused_passes

__all__ = [
    "NO_SCHEDULE",
    "Breach",
    "CaseSize",
    "CheckOptions",
    "Child",
    "ChildDied",
    "Crash",
    "Culprit",
    "Difference",
    "FailingCase",
    "Failure",
    "Flush",
    "GuardedKernel",
    "GuardedMemory",
    "InputSet",
    "Isolation",
    "IsolationPolicy",
    "KernelHalted",
    "Limits",
    "LocatedRemark",
    "NativeWorker",
    "NodeLines",
    "PassRow",
    "PrimitiveFailed",
    "Reduced",
    "Replayed",
    "RuleRow",
    "StepPrinter",
    "UnusedPass",
    "Verdict",
    "assert_contracts",
    "bisect",
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
    "trace_step",
    "unused_passes",
    "verdict_table",
    "verdicts",
    "versions",
    "write_case",
    "write_crash",
    "write_golden",
]
