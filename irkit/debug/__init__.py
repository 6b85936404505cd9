"""Debugging of passes, schedules and native code, built on the steps of a trace.

Reading order: isolation (passes and kernels in a child), execution (functions on inputs),
counterexamples (inputs on which two versions differ), check (does each step keep the meaning),
bounds (does each access stay inside its buffer), races (can iterations or threads meet), report
(what passes did), bisect (the guilty rewrite), reduce (the smallest failing case), crash (folders
that reproduce a failure), split (a test of each kernel of a model), targets (the same functions on
two targets), contracts (what every pass must keep).
"""

from irkit.debug.bisect.bisect import (
    GuiltyStep as GuiltyStep,
    bisect as bisect,
    culprit_of as culprit_of,
    find_guilty_step as find_guilty_step,
    guilty_rewrites as guilty_rewrites,
)
from irkit.debug.bisect.culprit import (
    Culprit as Culprit,
)
from irkit.debug.bisect.first_mismatch import (
    FirstMismatch as FirstMismatch,
    first_mismatch as first_mismatch,
)
from irkit.debug.bisect.rewrite_states import (
    RewriteState as RewriteState,
    RewriteStates as RewriteStates,
)
from irkit.debug.bounds.bounds_table import (
    bounds_table as bounds_table,
)
from irkit.debug.bounds.stages import (
    StageBounds as StageBounds,
    bounds_of_steps as bounds_of_steps,
)
from irkit.debug.check.check import (
    check as check,
    verdicts as verdicts,
)
from irkit.debug.check.difference import (
    Difference as Difference,
    compare as compare,
    identical as identical,
    is_float as is_float,
)
from irkit.debug.check.foreign_code import (
    check_code as check_code,
)
from irkit.debug.check.options import (
    CheckOptions as CheckOptions,
)
from irkit.debug.check.race_search import (
    RaceSearch as RaceSearch,
    is_concurrent as is_concurrent,
)
from irkit.debug.check.schedule_steps import (
    NO_SCHEDULE as NO_SCHEDULE,
    REORDERING as REORDERING,
    SCHEDULE as SCHEDULE,
    PrimitiveFailed as PrimitiveFailed,
    ScheduleGiven as ScheduleGiven,
    schedule_given as schedule_given,
    schedule_steps as schedule_steps,
    scheduled_steps as scheduled_steps,
)
from irkit.debug.check.verdict import (
    Trust as Trust,
    Verdict as Verdict,
    is_trusted as is_trusted,
)
from irkit.debug.check.well_defined import (
    is_well_defined as is_well_defined,
)
from irkit.debug.contracts.breach import (
    Breach as Breach,
)
from irkit.debug.contracts.contracts import (
    assert_contracts as assert_contracts,
    contracts as contracts,
)
from irkit.debug.contracts.hash_seeds import (
    hash_seed_differences as hash_seed_differences,
)
from irkit.debug.contracts.levels import (
    equal_structure as equal_structure,
)
from irkit.debug.contracts.process_state import (
    ProcessState as ProcessState,
)
from irkit.debug.contracts.trial import (
    ContractTrial as ContractTrial,
)
from irkit.debug.crash.explanation import (
    explain as explain,
    text_diff as text_diff,
)
from irkit.debug.crash.folder import (
    Crash as Crash,
    read_crash as read_crash,
)
from irkit.debug.crash.isolation_policy import (
    Isolated as Isolated,
    IsolationPolicy as IsolationPolicy,
)
from irkit.debug.crash.material import (
    failure_traceback as failure_traceback,
)
from irkit.debug.crash.replay import (
    ReplayResult as ReplayResult,
    crash_pipeline as crash_pipeline,
    replay as replay,
)
from irkit.debug.crash.versions import (
    versions as versions,
)
from irkit.debug.crash.writer import (
    write_crash as write_crash,
)
from irkit.debug.execution.executors import (
    MAX_SECONDS as MAX_SECONDS,
    MAX_SLOWDOWN as MAX_SLOWDOWN,
    MAX_STEPS as MAX_STEPS,
    CallOutcome as CallOutcome,
    InterpreterExecutor as InterpreterExecutor,
)
from irkit.debug.execution.guard_pages import (
    Flush as Flush,
    GuardedKernel as GuardedKernel,
    GuardedMemory as GuardedMemory,
)
from irkit.debug.execution.inputs import (
    InputKind as InputKind,
    InputSet as InputSet,
    dim_size as dim_size,
    draw_values as draw_values,
    input_sets as input_sets,
    lay_out as lay_out,
)
from irkit.debug.execution.instruction_check import (
    check_instruction as check_instruction,
)
from irkit.debug.execution.native_worker import (
    NativeWorker as NativeWorker,
)
from irkit.debug.isolation.input_digest import (
    with_untouched_input as with_untouched_input,
)
from irkit.debug.isolation.kernels import (
    KernelHalted as KernelHalted,
    run_kernel as run_kernel,
)
from irkit.debug.isolation.passes import (
    Isolation as Isolation,
    is_own as is_own,
    time_limit as time_limit,
)
from irkit.debug.isolation.trace_step import (
    func_message as func_message,
    func_of_message as func_of_message,
    trace_step as trace_step,
)
from irkit.debug.races.races_table import (
    races_table as races_table,
)
from irkit.debug.races.stages import (
    StageRaces as StageRaces,
    races_of_steps as races_of_steps,
)
from irkit.debug.reduce.case import (
    CaseSize as CaseSize,
    FailingCase as FailingCase,
    size_of_case as size_of_case,
)
from irkit.debug.reduce.failure import (
    Failure as Failure,
    case_of_guilty_step as case_of_guilty_step,
    failure_of as failure_of,
    find_case as find_case,
)
from irkit.debug.reduce.module_case import (
    ModuleCase as ModuleCase,
    failure_of_module as failure_of_module,
)
from irkit.debug.reduce.module_reduction import (
    ReducedModule as ReducedModule,
    module_case_of as module_case_of,
    reduce_module as reduce_module,
    write_module_case as write_module_case,
)
from irkit.debug.reduce.reduce import (
    ReduceResult as ReduceResult,
    reduce as reduce,
)
from irkit.debug.reduce.regression import (
    regression_test as regression_test,
    seeded_passes as seeded_passes,
    write_case as write_case,
)
from irkit.debug.reduce.search import (
    Family as Family,
    Search as Search,
    all_moves as all_moves,
)
from irkit.debug.report.golden_files import (
    golden_diff as golden_diff,
    phase_texts as phase_texts,
    write_golden as write_golden,
)
from irkit.debug.report.line_table import (
    NodeLines as NodeLines,
)
from irkit.debug.report.pass_times import (
    chrome_trace as chrome_trace,
    function_time_table as function_time_table,
    time_table as time_table,
)
from irkit.debug.report.remarks import (
    LocatedRemark as LocatedRemark,
    remarks as remarks,
)
from irkit.debug.report.step_printer import (
    StepPrinter as StepPrinter,
    file_name as file_name,
)
from irkit.debug.report.summary import (
    PassRow as PassRow,
    RuleRow as RuleRow,
    summarize as summarize,
    summarize_rules as summarize_rules,
)
from irkit.debug.report.tables import (
    pass_table as pass_table,
    rule_table as rule_table,
    verdict_table as verdict_table,
)
from irkit.debug.report.unused_passes import (
    UnusedPass as UnusedPass,
    unused_passes as unused_passes,
)
from irkit.debug.split import (
    KernelCase as KernelCase,
    check_kernel as check_kernel,
    kernel_cases as kernel_cases,
    write_kernel_tests as write_kernel_tests,
)
from irkit.debug.targets import (
    LineDifference as LineDifference,
    TargetCall as TargetCall,
    TargetComparison as TargetComparison,
    TargetExecutor as TargetExecutor,
    TargetOutcome as TargetOutcome,
    TargetVerdict as TargetVerdict,
    inputs_of as inputs_of,
    require_two as require_two,
    target_executor as target_executor,
    target_table as target_table,
)
