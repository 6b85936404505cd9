"""Run the passes of a run again, with some switched off, moved or given other options: a new run
beside the old one, made in a child.

It begins with what the first pass was given: from the file, if the run was made from a model,
because a trace holds large constants by their digest only; else from the trace.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from irkit.core import Function, InputError, IRKitError, IRModule
from irkit.debug import Limits, trace_step
from irkit.graph import GRAPH_LEVEL, GraphFunc
from irkit.inspector_web.jobs.job import JobKind, RunSink
from irkit.inspector_web.record.record import lower_all, read_module
from irkit.inspector_web.record.restore import LEVELS, restore
from irkit.inspector_web.record.script import passes_of_script
from irkit.inspector_web.record.step_recorder import (
    StepRecorder,
    TraceRecording,
    record_steps,
    save_traces,
)
from irkit.inspector_web.runs.pass_plan import (
    PassPlacement,
    RunPlan,
    changes,
    check_known,
    describe,
    phases_of,
    registry,
    steps_as_placed,
)
from irkit.inspector_web.runs.run import Run, Source
from irkit.inspector_web.runs.workspace import Workspace
from irkit.ir import LOOP_LEVEL
from irkit.phases import DEFAULT, GRAPH, LEGALIZE
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

LIMITS = Limits(seconds=600.0, memory=16 << 30)
MOST_TITLE = 120


class RerunRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to run again: a function of a run, or all of it where passes took whole modules, with
    these passes in this order."""

    run: int
    function: str
    passes: tuple[PassPlacement, ...]


class RerunInput(msgspec.Struct, frozen=True, eq=False):
    """What is wanted, with the IR it begins with (None if that is read from the file)."""

    run: Run
    passes: tuple[PassPlacement, ...]
    phases: tuple[tuple[str, int, str], ...]
    whole: bool
    ir: IR | None
    title: str


def plan(run: Run, function: str) -> RunPlan:
    """List the passes that ran on a function, and what can be changed about that.

    Raises: InputError if the run has no such function.
    """
    own = [step for step in run.trace if step.function == function]
    failure = run.opened.failure
    failed_here = failure is not None and failure.function == function
    if not own and not failed_here:
        raise InputError(f"the run has no function {function[:80]!r}")
    level = own[0].level if own else None
    whole = function == "" or level is GRAPH_LEVEL
    passes = run.opened.plan or steps_as_placed(run.trace if whole else own)
    if not run.opened.plan and failed_here:
        passes += run.opened.left
    phases = phases_of(passes, run.trace, whole)
    levels = {phase.level for phase in phases}
    takes = {"graph": ("GraphFunc", "IRModule"), "loop": ("PrimFunc", "IRModule")}
    usable = {name for level in levels for name in takes.get(level, ())}
    known = [describe(p) for p in registry()] + list(run.opened.passes)
    chosen = tuple(each for each in known if each.takes in usable)
    return RunPlan(function, whole, tuple(passes), tuple(phases), chosen)


def find(workspace: Workspace, wanted: RerunRequest) -> RerunInput:
    """Find what to begin with, and make sure of the passes."""
    run = workspace.run(wanted.run)
    now = plan(run, wanted.function)
    check_known(wanted.passes, {each.name: each for each in run.opened.passes})
    said = ", ".join(changes(now.passes, wanted.passes)) or "the same passes"
    title = f"{run.title}: {said}"
    title = title if len(title) <= MOST_TITLE else title[: MOST_TITLE - 1] + "…"
    phases = tuple((each.level, each.number, each.name) for each in now.phases)
    for each in wanted.passes:
        if all((each.level, each.phase) != phase[:2] for phase in phases):
            raise InputError(
                f"there is no phase {each.phase} of level {each.level} for {each.name}"
            )
    source = run.opened.source
    reads = now.whole and source is not None and source.kind != "script"
    ir = None if reads else _first(run, wanted.function, now.whole)
    return RerunInput(run, wanted.passes, phases, now.whole, ir, title)


def _first(run: Run, function: str, whole: bool) -> IR:
    """Find what the first pass was given."""
    failure = run.opened.failure
    if not whole:
        for step in run.trace:
            if step.function == function:
                return step.before
        assert failure is not None
        return failure.before
    return _first_module(run.trace, failure)


def _first_module(steps: Iterable[Step], failure: PassFailed | None) -> IRModule:
    """Put together the module at the start: of each function what its first pass was given."""
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
    """Write the IR to a file."""
    path = ""
    if found.ir is not None:
        path = str(folder / "given.trace")
        graph = isinstance(found.ir, (IRModule, GraphFunc))
        Trace((trace_step(GRAPH_LEVEL if graph else LOOP_LEVEL, found.ir),)).save(path)
    on = tuple(each for each in found.passes if each.on)
    return path, found.run.opened.source, on, found.phases, str(folder)


def rerun(
    path: str,
    source: Source | None,
    passes: Sequence[PassPlacement],
    phases: Sequence[tuple[str, int, str]],
    folder: str,
) -> TraceRecording:
    """Run passes; what the child does.

    Raises: IRKitError if they cannot run in this order; a pass that fails is part of the recording.
    """
    collector = StepRecorder(Path(folder))
    collector.tell("reading")
    loaded = _loaded(passes, source)
    ir = _given(path, source, collector)
    try:
        with record_steps(collector):
            _run(collector, ir, loaded, phases)
    except PassFailed:
        pass  # It stands in its group.
    if not collector.groups:
        raise IRKitError("no pass ran", hint="Switch some on.")
    return TraceRecording(tuple(save_traces(collector, "run again")), ())


_Loaded = Sequence[tuple[PassPlacement, AnyPass]]


def _loaded(passes: Sequence[PassPlacement], source: Source | None) -> _Loaded:
    """Find the passes; those of a script by running it until all have been seen."""
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


def _given(path: str, source: Source | None, collector: StepRecorder) -> IR:
    if path:
        return Trace.load(path, LEVELS)[0].before
    assert source is not None
    return read_module(source, collector)


def _run(
    collector: StepRecorder, ir: IR, loaded: _Loaded, phases: Sequence[tuple[str, int, str]]
) -> None:
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
    # Their phases only: for each function it is seen what holds of it already.
    empty = _pipeline(loops, [], phases)
    lower_all(
        collector, module, graph, lambda func: sub_pipeline(empty, placed[LOOP_LEVEL.name], func)
    )


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


def take(desk: RunSink, found: RerunInput, made: TraceRecording) -> dict[str, object]:
    """Add the run, and say which it is."""
    opened = found.run.opened
    (recorded,) = made.runs[:1]
    run = restore(recorded, opened.source)
    new = msgspec.structs.replace(run, title=found.title, plan=found.passes, passes=opened.passes)
    return {"run": desk.add(new), "failed": run.failure is not None}


RERUN = JobKind(RerunRequest, find, send, rerun, take, LIMITS)
