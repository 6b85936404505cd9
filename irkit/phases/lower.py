"""The phases run on a function or a module."""

from collections.abc import Sequence
from typing import TypeVar, overload

from irkit.core import IRKitError, IRModule, Target
from irkit.ir import LOOP_LEVEL, PrimFunc, Var
from irkit.phases.default import DEFAULT
from irkit.phases.schedule_choice import (
    MachineChoice,
    ScheduleChoice,
    machine_of,
    schedule_choice,
    with_auto_schedule,
)
from irkit.te import StageSchedule, Tensor
from irkit.transform import Apply, Pipeline, Trace, apply_here, recorded, run_recorded

_IR = TypeVar("_IR", PrimFunc, IRModule)
Args = Sequence[Tensor | Var]


@overload
def lower(
    ir: _IR,
    args: None = ...,
    name: None = ...,
    *,
    pipeline: Pipeline = ...,
    stop_after: int | None = ...,
    apply: Apply = ...,
    schedule: ScheduleChoice | None = ...,
    machine: MachineChoice = ...,
) -> _IR: ...
@overload
def lower(
    ir: StageSchedule,
    args: Args,
    name: str | None = ...,
    *,
    pipeline: Pipeline = ...,
    stop_after: int | None = ...,
    apply: Apply = ...,
    schedule: ScheduleChoice | None = ...,
    machine: MachineChoice = ...,
) -> IRModule: ...
def lower(
    ir: PrimFunc | IRModule | StageSchedule,
    args: Args | None = None,
    name: str | None = None,
    *,
    pipeline: Pipeline = DEFAULT,
    stop_after: int | None = None,
    apply: Apply = apply_here,
    schedule: ScheduleChoice | None = None,
    machine: MachineChoice = "host",
) -> PrimFunc | IRModule:
    """Lower a function to a function, or a module to a module, by all phases or those up to
    ``stop_after``.

    A schedule of tensors gives a module: ``args`` are the parameters of its one function, inputs
    and results in any order, and ``name`` is its name. ``apply`` runs each pass, for example
    :class:`irkit.debug.Isolation` in a separate process. Loops stay as written, unless ``schedule``
    (or, without it, the environment's ``IRKIT_SCHEDULE``) is "auto": then functions that nobody has
    scheduled get the schedule that :func:`irkit.build` gives them for a ``machine``.
    Raises: PassFailed, which names the pass, if a pass breaks the program.
    """
    chosen = _chosen(pipeline, stop_after, schedule, machine)
    if isinstance(ir, StageSchedule):
        func = scheduled(ir, args, name)
        ir = IRModule({func.name: func})
        return run_recorded(chosen, ir, type(ir), (LOOP_LEVEL,), apply=apply)
    if args is not None or name is not None:
        raise IRKitError(
            "a function has its parameters and its name already",
            hint="Pass args and name with a schedule of tensors only.",
        )
    return run_recorded(chosen, ir, type(ir), (LOOP_LEVEL,), apply=apply)


def scheduled(ir: StageSchedule, args: Args | None, name: str | None) -> PrimFunc:
    """Return the function of a schedule of tensors, with these parameters.

    Raises: IRKitError if the parameters are missing.
    """
    if args is None:
        raise IRKitError(
            "a schedule of tensors needs the parameters of its function",
            hint="Write lower(s, [A, B, C]): the inputs and the results, in order.",
        )
    return ir.lower(args, name or "main")


def trace(
    ir: _IR,
    *,
    pipeline: Pipeline = DEFAULT,
    stop_after: int | None = None,
    schedule: ScheduleChoice | None = None,
    machine: MachineChoice = "host",
) -> Trace:
    """Run the phases as :func:`lower` does, and return every step, with the time in each rule."""
    title = ir.name if isinstance(ir, PrimFunc) else ""
    chosen = _chosen(pipeline, stop_after, schedule, machine)
    steps = recorded(chosen.steps(ir, time_rules=True), (LOOP_LEVEL,))
    return Trace.of(steps, title=title)


def _chosen(
    pipeline: Pipeline,
    stop_after: int | None,
    schedule: ScheduleChoice | None,
    machine: MachineChoice,
) -> Pipeline:
    pipeline = pipeline if stop_after is None else pipeline.stop_after(stop_after)
    if schedule_choice(schedule, "none") == "none":
        return pipeline
    return with_auto_schedule(pipeline, machine_of(machine, Target()))
