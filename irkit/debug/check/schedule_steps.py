"""Primitives of a schedule as steps, so that checks of passes cover primitives too."""

from collections.abc import Generator, Sequence
from time import perf_counter
from typing import Literal

from irkit.autoschedule import Machine, automatic_schedule
from irkit.codegen import host_target
from irkit.core import IRKitError, IRModule
from irkit.ir import LOOP_LEVEL, PrimFunc, verify
from irkit.schedule import Schedule, ScheduleTrace, TraceStep
from irkit.transform import IR, Apply, PassFailed, Pipeline, Step, apply_here, chain_steps

SCHEDULE = -1
"""Phase number of the steps of a schedule."""
NO_SCHEDULE = ScheduleTrace()
ScheduleGiven = ScheduleTrace | Literal["auto", "none"]
"""The steps of a schedule, or "auto" for those that are chosen for this processor."""
REORDERING = frozenset(
    (
        "fuse_reduction_epilogue",
        "pad_einsum",
        "reorder",
        "reorder_block_iter_var",
        "rfactor",
        "tensorize",
        "tile",
        "transform_block_layout",
        "unsafe_set_dtype",
    )
)
"""Primitives that may round otherwise: they reorder a reduction, or compute in another type."""


class PrimitiveFailed(PassFailed):
    """Raised when a primitive is at fault: invalid IR, or an unexpected exception.

    A ScheduleError, by contrast, means that the schedule is not legal.
    """


def phase_label(phase: int) -> str:
    """Return the name of a phase for messages."""
    return "schedule" if phase == SCHEDULE else f"phase {phase}"


def schedule_given(ir: IR, schedule: ScheduleGiven) -> ScheduleTrace:
    """Return the steps of a schedule that is given or, for "auto", of the one for this processor;
    there are none if somebody has scheduled the function, or no rule applies.

    Raises: IRKitError for another word, or if the program is no loop function.
    """
    if isinstance(schedule, ScheduleTrace):
        return schedule
    if schedule == "none":
        return NO_SCHEDULE
    if schedule != "auto":
        raise IRKitError(f"schedule is {schedule!r}; expected 'auto', 'none' or a ScheduleTrace")
    func = _function(ir)
    made = automatic_schedule(func, Machine.of_target(host_target()))
    return NO_SCHEDULE if made is None else made.trace


def scheduled_steps(
    ir: IR,
    schedule: ScheduleGiven,
    pipelines: Pipeline | Sequence[Pipeline],
    *,
    apply: Apply = apply_here,
) -> Generator[Step]:
    """Run a schedule, then a pipeline or several, one step at a time; "auto" is the schedule that
    is chosen for a function nobody has scheduled.

    Raises: PassFailed, PrimitiveFailed; ScheduleError if the schedule does not fit the function.
    """
    start = 0
    trace = schedule_given(ir, schedule)
    if trace.steps:
        steps = schedule_steps(ir, trace)
        while True:
            try:
                yield next(steps)
            except StopIteration as stop:
                ir = stop.value
                break
            start += 1
    if isinstance(pipelines, Pipeline):
        yield from pipelines.steps(ir, start=start, apply=apply)
    else:
        yield from chain_steps(pipelines, ir, start=start, apply=apply)


def schedule_steps(ir: IR, schedule: ScheduleTrace) -> Generator[Step, None, IR]:
    """Run a schedule on a function, or on the only loop function or ``main`` of a module.

    Look-ups are not steps. Raises: PrimitiveFailed; ScheduleError, which names the step, if one is
    not legal.
    """
    program = _schedulable(ir)
    sch = Schedule(program, _function_name(program), check="off")
    replaying = sch.replaying(schedule)
    index = 0
    for number, traced in enumerate(schedule.steps, 1):
        name, before = sch.func_working_on, sch.func
        started = perf_counter()
        try:
            next(replaying)
        except IRKitError:
            raise
        except (Exception, SystemExit) as error:
            what = f"it raised {type(error).__name__}: {error}"
            raise _failed(number, traced, before, what) from error
        if sch.func_working_on != name or sch.func is before:
            continue
        problems = verify(sch.func)
        if problems:
            raise _failed(number, traced, before, "its result does not verify", sch.func)
        yield _step(index, number, traced, before, sch.func, perf_counter() - started)
        index += 1
    return sch.mod if isinstance(program, IRModule) else sch.func


def _schedulable(ir: IR) -> IRModule | PrimFunc:
    if not isinstance(ir, (IRModule, PrimFunc)):
        raise IRKitError(f"{ir.name!r} is not a loop function, so it cannot be scheduled")
    return ir


def _function(ir: IR) -> PrimFunc:
    program = _schedulable(ir)
    return (
        program
        if isinstance(program, PrimFunc)
        else Schedule(program, _function_name(program), check="off").func
    )


def _function_name(ir: IRModule | PrimFunc) -> str:
    if isinstance(ir, PrimFunc):
        return ir.name
    names = [name for name, func in ir.functions.items() if isinstance(func, PrimFunc)]
    if len(names) == 1:
        return names[0]
    if names and "main" not in names:
        raise IRKitError(
            f"the module has several functions to schedule: {', '.join(names)}",
            hint="Name the one to schedule 'main', or put it into its own file.",
        )
    return "main"


def step_of(schedule: ScheduleTrace, text: str) -> TraceStep:
    """Return the step of a schedule that has the text of a verdict."""
    numbered = enumerate(schedule.steps, 1)
    return next(step for number, step in numbered if _text(number, step) == text)


def _text(number: int, step: TraceStep) -> str:
    return f"step {number}: {step}"


def _step(
    index: int, number: int, traced: TraceStep, before: PrimFunc, after: PrimFunc, seconds: float
) -> Step:
    return Step(
        index,
        LOOP_LEVEL,
        SCHEDULE,
        "schedule",
        f"sch.{traced.primitive}",
        _text(number, traced),
        {},
        before.name,
        before,
        after,
        seconds,
        changes_rounding=traced.primitive in REORDERING,
    )


def _failed(
    number: int,
    traced: TraceStep,
    before: PrimFunc,
    what: str,
    after: PrimFunc | None = None,
) -> PrimitiveFailed:
    problems = () if after is None else tuple(verify(after))
    text = _text(number, traced)
    error = PrimitiveFailed(
        what,
        name=f"sch.{traced.primitive}",
        pass_text=text,
        phase=SCHEDULE,
        function=before.name,
        before=before,
        after=after,
        problems=problems,
        kind="problems" if after is not None else "exception",
    )
    error.message = f"schedule: '{text}' on function {before.name!r}: {what}"
    return error
