"""Run the passes of a run again in a child, with some switched off, moved or given other options.

The result is a new run on the page. It starts from the IR that the first pass was given: read from
the file if the run was made from a model, since a trace holds large constants by digest only, and
otherwise taken from the trace.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from irkit.core import Function, InputError, IRKitError, IRModule
from irkit.debug import trace_step
from irkit.graph import GRAPH_LEVEL, GraphFunc
from irkit.inspector_web.jobs.chosen_steps import refuse_text
from irkit.inspector_web.jobs.job import JobKind, RunSink
from irkit.inspector_web.record.progress import report_progress
from irkit.inspector_web.record.record import lower_all, read_module
from irkit.inspector_web.record.restore import restore
from irkit.inspector_web.record.script import passes_of_script
from irkit.inspector_web.record.step_recorder import (
    StepRecorder,
    TraceRecording,
    record_steps,
    save_traces,
)
from irkit.inspector_web.runs.pass_plan import (
    EDIT,
    PassPlacement,
    RunPlan,
    changes,
    check_known,
    describe,
    phases_of,
    placements_of_steps,
    registry,
)
from irkit.inspector_web.runs.run import LEVELS, Run, Source
from irkit.inspector_web.runs.workspace import Workspace
from irkit.ir import LOOP_LEVEL
from irkit.phases import DEFAULT, GRAPH, LEGALIZE
from irkit.processes import Limits, half_of_memory
from irkit.transform import (
    IR,
    AnyPass,
    PassFailed,
    Phase,
    Pipeline,
    Step,
    Trace,
    parse_spec,
    sub_pipeline,
)

LIMITS = Limits(seconds=3600.0, memory=half_of_memory())
"""Of a whole run. Each pass has limits of its own, so that one that hangs or leaks is named."""
MOST_TITLE = 120


class RerunRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Request to run these passes, in this order, on a function of a run.

    If the passes took whole modules, the whole run is run again.
    """

    run: int
    function: str
    passes: tuple[PassPlacement, ...]


class RerunInput(msgspec.Struct, frozen=True, eq=False):
    """What to run, with the IR that it starts from (None if that is read from the file)."""

    run: Run
    passes: tuple[PassPlacement, ...]
    phases: tuple[tuple[str, int, str], ...]
    whole: bool
    ir: IR | None
    title: str
    limits: Limits


def plan(run: Run, function: str) -> RunPlan:
    """List the passes that ran on a function, and the passes and phases that there are.

    Raises: InputError if the run has no such function.
    """
    refuse_text(run, "Running passes again")
    own = [step for step in run.trace if step.function == function]
    failure = run.loaded.failure
    failed_here = failure is not None and failure.function == function
    if not own and not failed_here:
        raise InputError(f"the run has no function {function[:80]!r}")
    level = own[0].level if own else None
    whole = function == "" or level is GRAPH_LEVEL
    passes = run.loaded.plan or placements_of_steps(run.trace if whole else own)
    if not run.loaded.plan and failed_here:
        passes += run.loaded.left
    phases = phases_of(passes, run.trace, whole)
    levels = {phase.level for phase in phases}
    takes = {"graph": ("GraphFunc", "IRModule"), "loop": ("PrimFunc", "IRModule")}
    usable = {name for level in levels for name in takes.get(level, ())}
    known = [describe(p) for p in registry()] + list(run.loaded.passes)
    chosen = tuple(each for each in known if each.takes in usable)
    return RunPlan(function, whole, tuple(passes), tuple(phases), chosen)


def find(workspace: Workspace, wanted: RerunRequest) -> RerunInput:
    """Look up the initial IR and check the passes. Raises: InputError if one cannot be used."""
    run = workspace.run(wanted.run)
    now = plan(run, wanted.function)
    check_known(wanted.passes, {each.name: each for each in run.loaded.passes})
    said = ", ".join(changes(now.passes, wanted.passes)) or "the same passes"
    title = f"{run.title}: {said}"
    title = title if len(title) <= MOST_TITLE else title[: MOST_TITLE - 1] + "…"
    phases = tuple((each.level, each.number, each.name) for each in now.phases)
    for each in wanted.passes:
        if all((each.level, each.phase) != phase[:2] for phase in phases):
            raise InputError(
                f"{each.name} cannot be in phase {each.phase}: level {each.level} has no such phase"
            )
    source = run.loaded.source
    reads = now.whole and source is not None and source.kind != "script"
    ir = None if reads else _initial_ir_of_run(run, wanted.function, now.whole)
    limits = workspace.pass_limits
    return RerunInput(run, wanted.passes, phases, now.whole, ir, title, limits)


def _initial_ir_of_run(run: Run, function: str, whole: bool) -> IR:
    """Return the IR that the first pass was given."""
    failure = run.loaded.failure
    if not whole:
        for step in run.trace:
            if step.function == function:
                # A run that begins with an edit starts from what was edited.
                return step.after if step.name == EDIT else step.before
        assert failure is not None
        return failure.before
    return _first_module(run.trace, failure)


def _first_module(steps: Iterable[Step], failure: PassFailed | None) -> IRModule:
    """Build the initial module: of each function, the IR that its first pass was given."""
    functions: dict[str, Function] = {}
    for step in steps:
        if isinstance(step.before, IRModule):
            return IRModule({**step.before.functions, **functions})
        functions.setdefault(step.function, step.before)
    before = failure.before if failure is not None else None
    if isinstance(before, IRModule):
        return IRModule({**before.functions, **functions})
    if failure is not None and before is not None:
        functions.setdefault(failure.function, before)
    return IRModule(functions)


def send(found: RerunInput, folder: Path) -> tuple[object, ...]:
    """Write the IR to a file, and return the arguments of ``rerun``."""
    path = ""
    if found.ir is not None:
        path = str(folder / "given.trace")
        graph = isinstance(found.ir, (IRModule, GraphFunc))
        Trace((trace_step(GRAPH_LEVEL if graph else LOOP_LEVEL, found.ir),)).save(path, LEVELS)
    on = tuple(each for each in found.passes if each.on)
    return path, found.run.loaded.source, on, found.phases, found.limits, str(folder)


def rerun(
    path: str,
    source: Source | None,
    passes: Sequence[PassPlacement],
    phases: Sequence[tuple[str, int, str]],
    limits: Limits,
    folder: str,
) -> TraceRecording:
    """Run passes and record them; the child calls this.

    A pass that fails is part of the recording. Raises: IRKitError if the passes cannot run in this
    order.
    """
    recorder = StepRecorder(Path(folder))
    report_progress("reading")
    loaded = load_passes(passes, source)
    ir = _initial_ir(path, source)
    try:
        with record_steps(recorder, limits):
            run_passes(ir, loaded, phases)
    except PassFailed:
        pass  # Its group holds the failure.
    if not recorder.groups:
        raise IRKitError("no pass ran", hint="Switch on at least one.")
    return TraceRecording(tuple(save_traces(recorder, "run again")), ())


PlacedPasses = Sequence[tuple[PassPlacement, AnyPass]]


def load_passes(passes: Sequence[PassPlacement], source: Source | None) -> PlacedPasses:
    """Find the passes; the script runs until it has shown all those that it defines."""
    foreign = {each.name for each in passes if each.name not in registry()}
    own: Mapping[str, AnyPass] = {}
    if foreign and source is not None and source.kind == "script":
        own = passes_of_script(source.path, foreign)
    made: list[tuple[PassPlacement, AnyPass]] = []
    for each in passes:
        spec = parse_spec(each.text)
        found = own.get(spec.name) or registry().find(spec.name, imports=False)
        made.append((each, found.with_only(**spec.options)))
    return made


def _initial_ir(path: str, source: Source | None) -> IR:
    if path:
        return Trace.load(path, LEVELS)[0].before
    assert source is not None
    return read_module(source)


def run_passes(ir: IR, loaded: PlacedPasses, phases: Sequence[tuple[str, int, str]]) -> None:
    """Run passes in their phases; on a graph, also those that the kernels made of it go through."""
    loops = DEFAULT.then(LEGALIZE)
    placed = {
        level.name: [(at.phase, p) for at, p in loaded if at.level == level.name]
        for level in LEVELS
    }
    module = ir if isinstance(ir, IRModule) else IRModule({ir.name: ir})
    is_graph = any(isinstance(func, GraphFunc) for func in module.functions.values())
    if not is_graph and any(p.on_modules for _, p in loaded):
        for _ in _pipeline(loops, placed[LOOP_LEVEL.name], phases).steps(module):
            pass
        return
    graph = _pipeline(GRAPH, placed[GRAPH_LEVEL.name], phases)
    # The phases without passes: sub_pipeline decides for each function which apply.
    empty = _pipeline(loops, [], phases)
    lower_all(module, graph, lambda func: sub_pipeline(empty, placed[LOOP_LEVEL.name], func))


def _pipeline(
    like: Pipeline, placed: Sequence[tuple[int, AnyPass]], phases: Sequence[tuple[str, int, str]]
) -> Pipeline:
    level = like.level.name
    named = {number: name for own, number, name in phases if own == level}
    made = tuple(
        Phase(number, named[number], tuple(p for phase, p in placed if phase == number))
        for number in sorted(named)
    )
    return msgspec.structs.replace(like, phases=made)


def take(sink: RunSink, found: RerunInput, made: TraceRecording) -> dict[str, object]:
    """Add the run to the page and return its number."""
    old = found.run.loaded
    (recorded,) = made.runs[:1]
    run = restore(recorded, old.source)
    new = msgspec.structs.replace(run, title=found.title, plan=found.passes, passes=old.passes)
    return {"run": sink.add(new), "failed": run.failure is not None}


RERUN = JobKind(RerunRequest, find, send, rerun, take, LIMITS)
