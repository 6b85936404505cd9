"""Edit the IR after a step, or the schedule that a step chose, and run the rest of the passes on
it.

The text comes from the page, so a child with limits reads it; it is IR text or a list of schedule
primitives, never code. The result is a new run whose first step is the edit: a verdict on that step
compares the edited program with the one that it replaces.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from irkit.core import Function, InputError, IRModule
from irkit.debug import remarks, trace_step
from irkit.graph import GRAPH_LEVEL, GraphFunc
from irkit.inspector_web.jobs.chosen_steps import refuse_text
from irkit.inspector_web.jobs.edits.edited_text import (
    is_editable,
    level_of,
    read_text,
    scheduled,
)
from irkit.inspector_web.jobs.job import JobKind, RunSink
from irkit.inspector_web.jobs.rerun import LIMITS, PlacedPasses, load_passes, run_passes
from irkit.inspector_web.record.absent_constants import fill_constants
from irkit.inspector_web.record.progress import report_progress
from irkit.inspector_web.record.restore import restore
from irkit.inspector_web.record.step_recorder import (
    StepGroup,
    StepRecorder,
    TraceRecording,
    record_steps,
    save_traces,
)
from irkit.inspector_web.runs.pass_plan import (
    EDIT,
    PassPlacement,
    phases_of,
    placement_of_step,
    placements_of_steps,
)
from irkit.inspector_web.runs.run import LEVELS, Run, Source
from irkit.inspector_web.runs.workspace import Workspace
from irkit.ir import PrimFunc
from irkit.processes import Limits
from irkit.transform import IR, PassFailed, Step, Trace

MOST_TEXT = 1 << 19
"""Of an edited function. Units: characters."""
_SCHEDULE = "the schedule, over sch = irkit.Schedule(func):\n"

EditKind = Literal["ir", "schedule"]


class EditRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Request to replace the IR after a step by a text, or to schedule the IR before it anew; with
    ``go``, also to run the passes after it."""

    run: int
    step: int
    text: str
    kind: EditKind = "ir"
    go: bool = False


class EditInput(msgspec.Struct, frozen=True, eq=False):
    """What is edited: the step, what a graph stands in a module with, and the passes after it."""

    run: Run
    step: Step
    module: tuple[Function, ...]
    asked: EditRequest
    left: tuple[PassPlacement, ...]
    phases: tuple[tuple[str, int, str], ...]
    limits: Limits


class EditableText(msgspec.Struct, frozen=True):
    """The text of a stage that can be edited, and the schedule that the step chose, if it did."""

    text: str
    schedule: str = ""


def editable(run: Run, number: int) -> EditableText:
    """Return the IR after a step as text. Raises: InputError with the reason why it cannot be
    edited."""
    step = _editable_step(run, number)
    lines = run.texts.lines(number)
    found = [each.text for each in remarks([step]) if each.text.startswith(_SCHEDULE)]
    return EditableText("\n".join(lines) + "\n", found[0][len(_SCHEDULE) :] if found else "")


def _editable_step(run: Run, number: int) -> Step:
    refuse_text(run, "Editing")
    if not 0 <= number < len(run.trace):
        raise InputError(
            "this pass failed, so there is no IR after it; edit that after an earlier one"
        )
    step = run.trace[number]
    if not is_editable(step.after):
        raise InputError("only graphs and loop functions can be edited")
    return step


def find(workspace: Workspace, asked: EditRequest) -> EditInput:
    """Look up the step, and the passes that ran after it. Raises: InputError if there is none."""
    run = workspace.run(asked.run)
    step = _editable_step(run, asked.step)
    if len(asked.text) > MOST_TEXT:
        raise InputError(
            f"the text has {len(asked.text):,} characters; at most {MOST_TEXT:,} are read"
        )
    whole = not isinstance(step.after, PrimFunc)
    own = [each for each in run.trace if whole or each.function == step.function]
    left = list(placements_of_steps(each for each in own if each.index > step.index))
    failure = run.loaded.failure
    if failure is not None and (whole or failure.function == step.function):
        left += run.loaded.left
    phases = phases_of((placement_of_step(step), *left), own, whole)
    named = tuple((each.level, each.number, each.name) for each in phases)
    module = _module_at(run.trace, step) if isinstance(step.after, GraphFunc) else ()
    return EditInput(run, step, module, asked, tuple(left), named, workspace.pass_limits)


def _module_at(trace: Trace, step: Step) -> tuple[Function, ...]:
    """Return the functions of the module after a step on one of its graphs."""
    found: dict[str, Callable[[], Function]] = {}
    for each in trace:
        if each.level is not GRAPH_LEVEL:
            continue
        for state in each.states("before"):
            found.setdefault(state.name, state.read)
        if each.index <= step.index:
            after = {state.name: state.read for state in each.states("after")}
            found = found | after if each.function else after
        elif not each.function:
            break  # Other functions appear there.
    return tuple(read() for read in found.values())


def send(found: EditInput, folder: Path) -> tuple[object, ...]:
    """Write the step to a file, and return the arguments of ``edit``."""
    path = str(folder / "given.trace")
    module = [trace_step(level_of(func), func) for func in found.module]
    Trace((found.step, *module)).save(path, LEVELS)
    left = found.left if found.asked.go else ()
    source = found.run.loaded.source
    return path, found.asked, source, left, found.phases, found.limits, str(folder)


def edit(
    path: str,
    asked: EditRequest,
    source: Source | None,
    left: Sequence[PassPlacement],
    phases: Sequence[tuple[str, int, str]],
    limits: Limits,
    folder: str,
) -> TraceRecording | None:
    """Read and verify the text, and with ``go`` run the passes; the child calls this.

    Raises: IRKitError that says where the text is wrong, or why a primitive is refused.
    """
    report_progress("reading the text")
    step, *others = Trace.load(path, LEVELS)
    old = step.after
    if asked.kind == "schedule":
        if not isinstance(step.before, PrimFunc):
            raise InputError("only the schedule of a loop function can be edited")
        made: IR = scheduled(step.before, asked.text)
    else:
        # The numbers of large constants are needed to run, and not to read.
        if asked.go and source is not None:
            fill_constants((step, *others), source)
        made = read_text(asked.text, old)
    if not asked.go:
        return None
    recorder = StepRecorder(Path(folder))
    what = "edited schedule" if asked.kind == "schedule" else "edited IR"
    about = {"phase": step.phase, "phase_name": step.phase_name, "function": step.function}
    first = trace_step(step.level, old, name=EDIT, pass_text=what, after=made, **about)
    recorder.groups.append(StepGroup([first], set()))
    given = made
    if others and isinstance(made, Function):
        module = {each.function: each.after for each in others if isinstance(each.after, Function)}
        given = IRModule(module | {made.name: made})
    loaded: PlacedPasses = load_passes(left, source)
    if loaded:
        try:
            with record_steps(recorder, limits):
                run_passes(given, loaded, phases)
        except PassFailed:
            pass  # Its group holds the failure.
    return TraceRecording(tuple(save_traces(recorder, "edited")), ())


def take(sink: RunSink, found: EditInput, made: TraceRecording | None) -> dict[str, object]:
    """Add the run to the page, if passes ran, and return its number."""
    if made is None:
        return {"run": None, "failed": False}
    old = found.run.loaded
    (recorded,) = made.runs[:1]
    run = restore(recorded, old.source)
    title = f"{found.run.title}: edited after {found.step.name}"
    new = msgspec.structs.replace(run, title=title[:120], plan=found.left, passes=old.passes)
    return {"run": sink.add(new), "failed": run.failure is not None}


EDITED = JobKind(EditRequest, find, send, edit, take, LIMITS)
