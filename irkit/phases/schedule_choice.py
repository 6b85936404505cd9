"""Which functions get the automatic schedule: a parameter, or the environment."""

import os
import warnings
from collections.abc import Mapping
from typing import Literal

import msgspec

from irkit.autoschedule import GENERIC, Machine
from irkit.codegen import complete_target
from irkit.core import IRKitError, Target
from irkit.ir import PrimFunc, is_unscheduled
from irkit.passes.graph import lower_to_loops, pack_panels
from irkit.passes.loop import auto_schedule
from irkit.transform import Pipeline
from irkit.tune import Chosen, chosen_schedules, hash_of, machine_here

ScheduleChoice = Literal["auto", "none"]
MachineChoice = Literal["host", "generic"] | Machine
RecordsChoice = str | os.PathLike[str] | Chosen
"""A file of records, or what was chosen from one."""
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


def schedules_of(records: RecordsChoice | None, target: Target, foreign: bool = False) -> Chosen:
    """Return the schedules that records have for a target; what is not used is a warning.

    Raises: IRKitError if the file cannot be read.
    """
    if isinstance(records, Chosen):
        return records
    if records is None:
        return Chosen()
    found = chosen_schedules(records, complete_target(target), foreign=foreign)
    for note in found.notes:
        warnings.warn(note, stacklevel=3)
    return found


def trace_for(func: object, chosen: Chosen) -> str:
    """Return the steps that were recorded for a function nobody has scheduled; else an empty
    text."""
    if not chosen.traces or not isinstance(func, PrimFunc) or not is_unscheduled(func):
        return ""
    return chosen.traces.get(hash_of(func), "")


def with_auto_schedule(
    pipeline: Pipeline,
    machine: Machine = GENERIC,
    *,
    check_bounds: bool = False,
    fewest: int = FEWEST,
    trace: str = "",
) -> Pipeline:
    """Return a pipeline over loops that begins with the automatic schedule, or with the steps of
    ``trace``.

    With ``check_bounds``, each function also runs as written, for its checks, and the schedule and
    the results are still the same.
    """
    if auto_schedule.name in pipeline.names or not pipeline.phases:
        return pipeline
    first = auto_schedule.using(fewest=fewest) if fewest else auto_schedule
    if trace:
        first = first.using(trace=trace)
    if machine != GENERIC:
        first = first.using(machine=machine.settings)
    if check_bounds:
        first = first.using(written_first=True)
    head, *others = pipeline.phases
    head = msgspec.structs.replace(head, passes=(first, *head.passes))
    return msgspec.structs.replace(pipeline, phases=(head, *others))


def for_machine(
    graph_pipeline: Pipeline,
    machine: Machine,
    schedule: ScheduleChoice = "auto",
    *,
    layouts: ScheduleChoice | None = None,
) -> Pipeline:
    """Return a pipeline over graphs whose kernels are scheduled for a machine, or not at all.

    Constants are laid out for the machine if the kernels are scheduled, or as ``layouts`` says:
    kernels that are scheduled later need the same. Options that the pipeline sets stay.
    """
    common = Machine.with_vectors(machine.vector_bytes)
    wanted: dict[str, object] = {"vector_bytes": machine.vector_bytes}
    if machine != common:
        wanted["machine"] = machine.settings
    sizes = dict(wanted)
    if (schedule if layouts is None else layouts) == "auto":
        graph_pipeline = _with_layouts(graph_pipeline, sizes)
    if schedule == "none":
        wanted = {"schedule": schedule}
    for _, p in graph_pipeline.placed:
        if p.name == lower_to_loops.name:
            options = {key: value for key, value in wanted.items() if key not in p.options}
            if options:
                graph_pipeline = graph_pipeline.replace(p.name, p.using(**options))
    return graph_pipeline


def _with_layouts(graph_pipeline: Pipeline, sizes: Mapping[str, object]) -> Pipeline:
    """Return a pipeline whose pass that packs constants does so for the sizes of a machine, unless
    the pipeline sets the sizes that kernels are scheduled for."""
    placed = [p for _, p in graph_pipeline.placed]
    if any(p.name == lower_to_loops.name and "vector_bytes" in p.options for p in placed):
        return graph_pipeline
    for p in placed:
        if p.name == pack_panels.name and p.options.get("vector_bytes") == 0:
            graph_pipeline = graph_pipeline.replace(p.name, p.using(**sizes))
    return graph_pipeline


def for_target(graph_pipeline: Pipeline, target: Target) -> Pipeline:
    """Return a pipeline over graphs whose kernels are scheduled for a complete target."""
    return for_machine(graph_pipeline, Machine.of_target(target))
