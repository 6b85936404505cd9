"""Which functions get the automatic schedule: a parameter, or the environment."""

import os
from typing import Literal

import msgspec

from irkit.autoschedule import GENERIC, Machine
from irkit.codegen import complete_target
from irkit.core import IRKitError, Target
from irkit.passes.graph import lower_to_loops
from irkit.passes.loop import auto_schedule
from irkit.transform import Pipeline
from irkit.tune import machine_here

ScheduleChoice = Literal["auto", "none"]
MachineChoice = Literal["host", "generic"] | Machine
VARIABLE = "IRKIT_SCHEDULE"
FEWEST = 1 << 10
"""Operations of a function below which it is compiled as written.

Such a function takes a microsecond or two, and scheduling it takes longer than its other phases.
"""


def schedule_choice(given: ScheduleChoice | None, default: ScheduleChoice) -> ScheduleChoice:
    """Return what is given, or else what ``IRKIT_SCHEDULE`` says, or else the default.

    Raises: IRKitError if it is neither "auto" nor "none".
    """
    if given is None:
        chosen, where = os.environ.get(VARIABLE) or default, f"the environment has {VARIABLE}="
    else:
        chosen, where = given, "schedule is "
    if chosen not in ("auto", "none"):
        raise IRKitError(f"{where}{chosen!r}; expected 'auto' or 'none'")
    return chosen


def machine_of(chosen: MachineChoice, target: Target) -> Machine:
    """Return the machine that a schedule is chosen for: that of the target, with what
    ``irkit machine --measure`` found, or another.

    Raises: IRKitError for a word that names no machine.
    """
    if isinstance(chosen, Machine):
        return chosen
    if chosen not in ("host", "generic"):
        raise IRKitError(f"machine is {chosen!r}; expected 'host', 'generic' or a Machine")
    return GENERIC if chosen == "generic" else machine_here(complete_target(target))


def with_auto_schedule(
    pipeline: Pipeline, machine: Machine = GENERIC, *, check_bounds: bool = False
) -> Pipeline:
    """Return a pipeline over loops that begins with the automatic schedule.

    With ``check_bounds``, each function also runs as written, for its checks, and the schedule and
    the results are still the same.
    """
    if auto_schedule.name in pipeline.names or not pipeline.phases:
        return pipeline
    first = auto_schedule.using(fewest=FEWEST)
    if machine != GENERIC:
        first = first.using(machine=machine.settings)
    if check_bounds:
        first = first.using(written_first=True)
    head, *others = pipeline.phases
    head = msgspec.structs.replace(head, passes=(first, *head.passes))
    return msgspec.structs.replace(pipeline, phases=(head, *others))


def for_machine(
    graph_pipeline: Pipeline, machine: Machine, schedule: ScheduleChoice = "auto"
) -> Pipeline:
    """Return a pipeline over graphs whose kernels are scheduled for a machine, or not at all.

    Options that the pipeline sets stay.
    """
    common = Machine.with_vectors(machine.vector_bytes)
    wanted: dict[str, object] = {"vector_bytes": machine.vector_bytes}
    if machine != common:
        wanted["machine"] = machine.settings
    if schedule == "none":
        wanted = {"schedule": schedule}
    for _, p in graph_pipeline.placed:
        if p.name == lower_to_loops.name:
            options = {key: value for key, value in wanted.items() if key not in p.options}
            if options:
                graph_pipeline = graph_pipeline.replace(p.name, p.using(**options))
    return graph_pipeline


def for_target(graph_pipeline: Pipeline, target: Target) -> Pipeline:
    """Return a pipeline over graphs whose kernels are scheduled for a complete target."""
    return for_machine(graph_pipeline, Machine.of_target(target))
