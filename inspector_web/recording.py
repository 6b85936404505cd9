"""What a child process runs to make a trace: a model, IR text, or a script of the user's.

Passes, models and scripts may take the process with them, so all of this happens in a child, which
leaves trace files in a folder and says on the way how far it is.
"""

import os
import runpy
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

import msgspec

from irkit.codegen import complete
from irkit.core import Function, IRKitError, IRModule, as_target
from irkit.debug import failure_traceback, write_crash
from irkit.frontend.onnx import import_onnx
from irkit.graph import GraphFunc, parse_module
from irkit.inspector_web.progress import tell
from irkit.ir import PrimFunc
from irkit.phases import DEFAULT, GRAPH, LEGALIZE, for_target
from irkit.transform import IR, PassFailed, Pipeline, Step, Trace

Kind = Literal["model", "text", "script"]
KINDS: dict[str, Kind] = {".onnx": "model", ".irs": "text", ".py": "script"}
MOST_RUNS = 20
MOST_STEPS = 20_000


class Failure(msgspec.Struct, frozen=True):
    """A pass that failed, without its IR: that is the last step of the trace, which did nothing."""

    what: str
    kind: str
    name: str
    pass_text: str
    phase: int
    function: str
    traceback: str
    replay: str


class Recorded(msgspec.Struct, frozen=True):
    """One trace file that the child wrote. ``files`` are what a change of should run it anew."""

    path: str
    title: str
    failure: Failure | None = None


class Recording(msgspec.Struct, frozen=True):
    """All that the child has to say; ``message`` is why it stopped early, if it did."""

    runs: tuple[Recorded, ...]
    files: tuple[str, ...]
    message: str = ""


class _Group(msgspec.Struct):
    """Steps of one run: no pass at one place runs twice on a function."""

    steps: list[Step]
    places: set[tuple[str, int, str, str]]
    failure: Failure | None = None


class _Collector:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.groups: list[_Group] = []
        self.count = 0

    def tell(self, what: str, done: int = 0, total: int = 0) -> None:
        tell(self.folder, what, done, total)

    def follow(
        self, pipeline: Pipeline, steps: Generator[Step, None, IR]
    ) -> Generator[Step, Any, IR]:
        """Pass the steps of a pipeline on, and keep them."""
        group: _Group | None = None
        try:
            while True:
                try:
                    step = next(steps)
                except StopIteration as stop:
                    return stop.value
                group = self._keep(step, group)
                yield step
        except PassFailed as error:
            self._fail(error, group or self._group_for(error))
            raise

    def _keep(self, step: Step, group: _Group | None) -> _Group:
        place = step.level.name, step.phase, step.name, step.function
        if group is None:
            last = self.groups[-1] if self.groups else None
            if last is None or place in last.places or last.failure is not None:
                last = self._new()
            group = last
        if self.count < MOST_STEPS:
            self.count += 1
            group.steps.append(step)
            group.places.add(place)
        return group

    def _new(self) -> _Group:
        if len(self.groups) >= MOST_RUNS:
            raise IRKitError(f"the script runs pipelines on more than {MOST_RUNS} programs")
        self.groups.append(_Group([], set()))
        return self.groups[-1]

    def _group_for(self, error: PassFailed) -> _Group:
        return self.groups[-1] if self.groups and self.groups[-1].failure is None else self._new()

    def _fail(self, error: PassFailed, group: _Group) -> None:
        attempt = error.attempt
        assert attempt is not None
        replay = ""
        with suppress(OSError, IRKitError):
            replay = f"irkit replay {write_crash(error)}"
        group.failure = Failure(
            error.message if not error.what else error.what,
            error.kind,
            error.name,
            error.pass_text,
            error.phase,
            error.function,
            failure_traceback(error),
            replay,
        )
        group.steps.append(_idle(error))


def _idle(error: PassFailed) -> Step:
    """Make a step that holds the IR which a failed pass was given."""
    attempt = error.attempt
    assert attempt is not None
    return Step(
        index=0,
        level=attempt.level,
        phase=error.phase,
        phase_name=attempt.passes[attempt.at][1],
        name=error.name,
        pass_text=error.pass_text,
        options={},
        function=error.function,
        before=error.before,
        after=error.before,
        seconds=0.0,
    )


def record(kind: Kind, file: str, folder: str) -> Recording:
    """Make the traces of a file in a folder.

    Raises: IRKitError if there is nothing to show; a pass that fails is part of the recording.
    """
    collector = _Collector(Path(folder))
    message = ""
    try:
        with _kept(collector):
            if kind == "script":
                _run_script(file)
            else:
                _lower_all(collector, _module(kind, file, collector))
    except PassFailed:
        pass  # It stands in its group.
    except IRKitError as error:
        if not collector.groups:
            raise
        message = str(error)
    if not collector.groups and not message:
        raise IRKitError(
            f"{os.path.basename(file)}: no pass ran",
            hint="A script is seen where it calls irkit.lower, build, compile or a pipeline.",
        )
    return Recording(tuple(_saved(collector, file)), _files(file, collector), message)


@contextmanager
def _kept(collector: _Collector) -> Generator[None]:
    """See the steps of every pipeline that runs in this process."""
    original = Pipeline.steps

    def steps(self: Pipeline, ir: IR, **options: Any) -> Generator[Step, None, IR]:
        return collector.follow(self, original(self, ir, **options))

    setattr(Pipeline, "steps", steps)
    try:
        yield
    finally:
        setattr(Pipeline, "steps", original)


def _module(kind: Kind, file: str, collector: _Collector) -> IRModule:
    collector.tell("reading the file")
    if kind == "model":
        return import_onnx(file)
    data = Path(file).read_bytes()
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise IRKitError(f"{file} is no text: {error}", hint="IR text is UTF-8.") from None
    return parse_module(text, file=os.path.basename(file))


def _lower_all(collector: _Collector, module: IRModule) -> None:
    if any(isinstance(func, GraphFunc) for func in module.functions.values()):
        machine = complete(as_target("llvm"))
        for step in for_target(GRAPH, machine).steps(module):
            lowered = step.applied_to(module)
            assert isinstance(lowered, IRModule)
            module = lowered
            collector.tell(f"graph: {step.name}")
    kernels = {name: f for name, f in module.functions.items() if isinstance(f, PrimFunc)}
    lowering = DEFAULT.then(LEGALIZE)
    for done, (name, func) in enumerate(kernels.items()):
        collector.tell(name, done, len(kernels))
        for _ in lowering.steps(func.replace(name=name)):
            pass


def _run_script(file: str) -> None:
    sys.argv = [file]
    sys.path.insert(0, os.path.dirname(os.path.abspath(file)))
    try:
        runpy.run_path(file, run_name="__main__")
    except SystemExit as stop:
        if stop.code not in (None, 0):
            raise IRKitError(f"the script ended with {stop.code}") from None
    except IRKitError:
        raise
    except Exception as error:
        where = _line_in(error, file)
        raise IRKitError(
            f"{os.path.basename(file)}{where}: {type(error).__name__}: {error}"
        ) from error


def _line_in(error: BaseException, file: str) -> str:
    line, at = "", error.__traceback__
    while at is not None:
        if at.tb_frame.f_code.co_filename == file:
            line = f":{at.tb_lineno}"
        at = at.tb_next
    return line


def _saved(collector: _Collector, file: str) -> Iterable[Recorded]:
    title = os.path.basename(file)
    several = len(collector.groups) > 1
    for at, group in enumerate(collector.groups):
        path = str(collector.folder / f"{at}.trace")
        name = f"{title} {at + 1}: {_about(group)}" if several else title
        Trace.of(group.steps, title=name).save(path)
        yield Recorded(path, name, group.failure)


def _about(group: _Group) -> str:
    names = dict.fromkeys(
        step.function or (step.before.name if isinstance(step.before, Function) else "module")
        for step in group.steps
    )
    first, *others = names or ["nothing"]
    return f"{first} and {len(others)} more" if others else first


def _files(file: str, collector: _Collector) -> tuple[str, ...]:
    """List the file and the modules of the user's that were loaded: a change of any counts."""
    found = {os.path.abspath(file)}
    inside = (sys.prefix, sys.base_prefix)
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None)
        if isinstance(path, str) and path.endswith(".py") and not path.startswith(inside):
            found.add(os.path.abspath(path))
    return tuple(sorted(found))
