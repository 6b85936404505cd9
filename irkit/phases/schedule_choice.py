"""Which functions get the automatic schedule: a parameter, or the environment."""

import math
import os
import warnings
from typing import Literal

import msgspec

from irkit.autoschedule import GENERIC, Machine
from irkit.codegen import complete_target
from irkit.core import IRKitError, Target
from irkit.ir import F32, PrimFunc, is_unscheduled
from irkit.passes.graph import (
    block_channels,
    fuse_attention,
    lower_to_loops,
    pack_panels,
    use_winograd,
)
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
    kernels: ScheduleChoice | None = None,
    tolerance: float = 0.0,
) -> Pipeline:
    """Return a pipeline over graphs whose layouts are chosen and whose kernels are scheduled for a
    machine, or not at all; ``kernels`` says other than ``schedule`` whether kernels are.

    Options that the pipeline sets stay; a width of vectors that it sets is that of blocks too.
    ``tolerance`` is that of ``use_winograd``.
    Raises: IRKitError for a tolerance that is negative or not finite.
    """
    if not 0 <= tolerance < math.inf:
        raise IRKitError(f"tolerance is {tolerance!r}; expected a number of at least 0")
    common = Machine.with_vectors(machine.vector_bytes)
    settings: dict[str, object] = {} if machine == common else {"machine": machine.settings}
    placed = {p.name: p for _, p in graph_pipeline.placed}
    lowering = placed.get(lower_to_loops.name)
    width = machine.vector_bytes
    asked = None if lowering is None else lowering.options.get("vector_bytes")
    lanes = (asked if isinstance(asked, int) else width) // F32.bytes
    wanted: dict[str, dict[str, object]] = {
        lower_to_loops.name: {"vector_bytes": width, **settings},
        block_channels.name: {"lanes": lanes, **settings},
        use_winograd.name: {"vector_bytes": lanes * F32.bytes, **settings},
        fuse_attention.name: {"vector_bytes": lanes * F32.bytes, **settings},
        pack_panels.name: {"vector_bytes": lanes * F32.bytes, **settings},
    }
    if tolerance:
        wanted[use_winograd.name]["tolerance"] = tolerance
    if schedule == "none":
        wanted = {lower_to_loops.name: wanted[lower_to_loops.name]}
    if (kernels or schedule) == "none":
        wanted[lower_to_loops.name] = {"schedule": "none"}
    for name, p in placed.items():
        given = wanted.get(name, {})
        options = {key: value for key, value in given.items() if key not in p.options}
        if options:
            graph_pipeline = graph_pipeline.replace(name, p.using(**options))
    return graph_pipeline


def for_target(graph_pipeline: Pipeline, target: Target) -> Pipeline:
    """Return a pipeline over graphs whose kernels are scheduled for a complete target."""
    return for_machine(graph_pipeline, Machine.of_target(target))
