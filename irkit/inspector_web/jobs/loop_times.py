"""Time the loops of a finished kernel by clocks in its native code, and tell what the clocks cost.

The kind of job is at the end of the module.
"""

from pathlib import Path
from typing import Any

import msgspec

from irkit.core import InputError, IRKitError
from irkit.debug import func_message, func_of_message, trace_step
from irkit.inspector_web.jobs.chosen_steps import (
    RUN_JOB_LIMITS,
    ChosenSteps,
    keep_result,
    refuse_text,
)
from irkit.inspector_web.jobs.costs import LIMITS, sizes_of, timing_arguments
from irkit.inspector_web.jobs.job import JobKind
from irkit.inspector_web.record.progress import report_progress
from irkit.inspector_web.runs.run import LEVELS
from irkit.inspector_web.runs.workspace import Workspace
from irkit.ir import LOOP_LEVEL, PrimFunc
from irkit.phases import LoopProfile, LoopTime, profile_loops
from irkit.processes import Child, ChildDied
from irkit.transform import Step, Trace

SECONDS = 1.0


class LoopTimes(msgspec.Struct, frozen=True, omit_defaults=True):
    """Times of the loops of a kernel after ``step``, the last on it; lines are those of its text.

    ``message`` says why there are none. Units: seconds of one call; ``plain`` is without clocks.
    """

    function: str
    step: int
    plain: float = 0.0
    timed: float = 0.0
    calls: int = 0
    loops: tuple[LoopTime, ...] = ()
    sizes: str = ""
    message: str = ""


class LoopTimesRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Request to time the loops of a function of a run."""

    run: int
    function: str


def _find(workspace: Workspace, asked: LoopTimesRequest) -> ChosenSteps:
    run = workspace.run(asked.run)
    refuse_text(run, "Running a program")
    return ChosenSteps(run, (_last_step(run.trace, asked.function),), function=asked.function)


def _last_step(trace: Trace, function: str) -> Step:
    own = (step for step in reversed(trace) if step.function == function)
    found = next((step for step in own if isinstance(step.after, PrimFunc)), None)
    if found is None:
        raise InputError(
            f"the trace has no loop function {function[:80]!r}; only one of those can be timed",
            hint="irkit trace lists them, and the page has them as kernels.",
        )
    return found


def _send(chosen: ChosenSteps, folder: Path) -> tuple[Any, ...]:
    (step,) = chosen.steps
    # Only the result is needed.
    made = ChosenSteps(chosen.run, (trace_step(LOOP_LEVEL, step.after),))
    return made.save(folder), step.index, step.function


def run_loop_times(path: str, number: int, name: str) -> LoopTimes:
    """Time the loops of the function of a trace file; the child calls this, and has one of its own,
    because native code can crash."""
    func = Trace.load(path, LEVELS)[0].after
    assert isinstance(func, PrimFunc), "only loop functions are sent"
    report_progress("timing loops")
    return _timed(func, number, name)


def time_loops_of(trace: Trace, function: str) -> LoopProfile:
    """Time the loops of a function of a trace, after its last step, in a child.

    Raises: IRKitError if there is no such function, or it cannot be timed.
    """
    step = _last_step(trace, function)
    assert isinstance(step.after, PrimFunc)
    made = _timed(step.after, step.index, function)
    if made.message:
        raise IRKitError(made.message.rstrip("."))
    return LoopProfile(function, made.plain, made.timed, made.calls, made.loops)


def _timed(func: PrimFunc, number: int, name: str) -> LoopTimes:
    try:
        with Child(LIMITS) as child:
            made = child.call(_profiled, func_message(func))
    except (ChildDied, IRKitError) as error:
        return LoopTimes(name, number, message=f"It cannot be timed: {error.message}.")
    return msgspec.structs.replace(made, function=name, step=number)


def _profiled(message: bytes) -> LoopTimes:
    func = func_of_message(message)
    made = profile_loops(func, timing_arguments(func), seconds=SECONDS)
    return LoopTimes("", 0, made.plain, made.timed, made.calls, made.loops, sizes_of(func))


LOOP_TIMES = JobKind(LoopTimesRequest, _find, _send, run_loop_times, keep_result, RUN_JOB_LIMITS)
