"""Record the steps of every pipeline that runs in a process.

``Pipeline.steps`` is replaced for a while, so a script needs no change to be recorded. If a pass
fails, the last recorded step holds the IR that it was given.
"""

import os
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from irkit.core import Function, IRKitError, Recorder
from irkit.debug import (
    Isolation,
    failure_traceback,
    is_own,
    read_crash,
    trace_step,
    write_crash,
)
from irkit.inspector_web.record.progress import report_progress
from irkit.inspector_web.runs.pass_plan import (
    PassInfo,
    PassPlacement,
    describe,
    placements_left,
    registry,
)
from irkit.inspector_web.runs.pass_source import PassSource, source_of
from irkit.inspector_web.runs.run import LEVELS
from irkit.processes import Limits, half_of_memory
from irkit.transform import (
    IR,
    AnyPass,
    Apply,
    Attempt,
    PassFailed,
    Pipeline,
    Step,
    Trace,
    apply_here,
)

NO_TIME_LIMIT = Limits(seconds=None, memory=half_of_memory())
MOST_RUNS = 20
MOST_STEPS = 20_000


class RecordedFailure(msgspec.Struct, frozen=True):
    """A pass that failed. Its IR is that of the last step of the trace, which changes nothing."""

    what: str
    kind: str
    name: str
    pass_text: str
    phase: int
    function: str
    traceback: str
    replay: str
    left: tuple[PassPlacement, ...] = ()


class RecordedTrace(msgspec.Struct, frozen=True):
    """A trace file that the child wrote. ``passes`` are those that the script defines, and
    ``sources`` what is written there."""

    path: str
    title: str
    failure: RecordedFailure | None = None
    passes: tuple[PassInfo, ...] = ()
    sources: tuple[PassSource, ...] = ()


class TraceRecording(msgspec.Struct, frozen=True):
    """Result of a recording: its traces, the ``files`` whose change calls for a new one, and a
    ``message`` if it stopped early."""

    runs: tuple[RecordedTrace, ...]
    files: tuple[str, ...]
    message: str = ""


class StepGroup(msgspec.Struct):
    """The steps of one run: no placement of a pass occurs twice for a function."""

    steps: list[Step]
    places: set[tuple[str, int, str, str]]
    failure: RecordedFailure | None = None


class StepRecorder:
    """Recorder of steps, in groups that become runs. ``again`` is the command that repeats the
    whole recording."""

    def __init__(self, folder: Path, again: str = "") -> None:
        self.folder, self.again = folder, again
        self.groups: list[StepGroup] = []
        self.own: dict[str, AnyPass] = {}
        self.count = 0

    def follow(
        self, pipeline: Pipeline, steps: Generator[Step, None, IR]
    ) -> Generator[Step, Any, IR]:
        """Yield the steps of a pipeline, recording each."""
        group: StepGroup | None = None
        self.own.update((p.name, p) for _, p in pipeline.placed if p.name not in registry())
        try:
            while True:
                try:
                    step = next(steps)
                except StopIteration as stop:
                    return stop.value
                group = self._keep(step, group)
                yield step
        except PassFailed as error:
            self._record_failure(error, group or self._group_for(error))
            raise

    def _keep(self, step: Step, group: StepGroup | None) -> StepGroup:
        place = step.level.name, step.phase, step.name, step.function
        if group is None:
            last = self.groups[-1] if self.groups else None
            if last is None or place in last.places or last.failure is not None:
                last = self._new_group()
            group = last
        if self.count < MOST_STEPS:
            self.count += 1
            group.steps.append(step)
            group.places.add(place)
        return group

    def _new_group(self) -> StepGroup:
        if len(self.groups) >= MOST_RUNS:
            raise IRKitError(
                f"the script runs pipelines on more than {MOST_RUNS} programs, which is the limit"
            )
        self.groups.append(StepGroup([], set()))
        return self.groups[-1]

    def _group_for(self, error: PassFailed) -> StepGroup:
        return (
            self.groups[-1]
            if self.groups and self.groups[-1].failure is None
            else self._new_group()
        )

    def _record_failure(self, error: PassFailed, group: StepGroup) -> None:
        attempt = error.attempt
        assert attempt is not None
        replay = ""
        with suppress(OSError, IRKitError):
            # Stays empty if the pass cannot run alone, such as one defined in the script itself.
            replay = read_crash(write_crash(error)).command
        group.failure = RecordedFailure(
            error.message if not error.what else error.what,
            error.kind,
            error.name,
            error.pass_text,
            error.phase,
            error.function,
            failure_traceback(error),
            replay or self.again,
            placements_left(attempt),
        )
        group.steps.append(unchanged_step(error))


def unchanged_step(error: PassFailed) -> Step:
    """Return a step that holds the IR that a failed pass was given."""
    attempt = error.attempt
    assert attempt is not None
    return trace_step(
        attempt.level,
        error.before,
        phase=error.phase,
        phase_name=attempt.passes[attempt.at][1] if attempt.passes else "",
        name=error.name,
        pass_text=error.pass_text,
        function=error.function,
    )


@contextmanager
def record_steps(recorder: StepRecorder, limits: Limits = NO_TIME_LIMIT) -> Generator[None]:
    """Record the steps of every pipeline that runs in this process; ``limits`` are those of each
    pass.

    Passes that are not irkit's run in another process, so that one that crashes is part of the
    recording. One that cannot be imported there runs in a fork, and is in the last report of this
    process besides.
    """
    original = Pipeline.steps
    isolation = Isolation(
        seconds=limits.seconds, memory=limits.memory, own=False, fork=True, watch=_reported
    )

    def steps(
        self: Pipeline,
        ir: IR,
        *,
        time_rules: bool = True,
        apply: Apply = apply_here,
        **options: Any,
    ) -> Generator[Step, None, IR]:
        apply = isolation.apply if apply is apply_here else apply
        made = original(self, ir, time_rules=time_rules, apply=apply, **options)
        return recorder.follow(self, made)

    with isolation, _replace_steps(steps):
        yield


def _reported(apply: Apply) -> Apply:
    def run(attempt: Attempt, recorder: Recorder) -> object:
        if not is_own(attempt.p):
            report_progress(f"pass {attempt.p.name!r} on {attempt.function or 'the module'}")
        return apply(attempt, recorder)

    return run


@contextmanager
def watch_pipelines(see: Callable[[Pipeline], object]) -> Generator[None]:
    """Call ``see`` with every pipeline of this process before it runs."""
    original = Pipeline.steps

    def steps(self: Pipeline, ir: IR, **options: Any) -> Generator[Step, None, IR]:
        see(self)
        return original(self, ir, **options)

    with _replace_steps(steps):
        yield


@contextmanager
def _replace_steps(steps: Callable[..., Generator[Step, None, IR]]) -> Generator[None]:
    original = Pipeline.steps
    setattr(Pipeline, "steps", steps)
    try:
        yield
    finally:
        setattr(Pipeline, "steps", original)


def save_traces(recorder: StepRecorder, file: str) -> Iterable[RecordedTrace]:
    """Write each run to a trace file, and yield what was written."""
    title = os.path.basename(file)
    several = len(recorder.groups) > 1
    own = tuple(describe(p) for p in recorder.own.values())
    sources = tuple(source_of(p) for p in recorder.own.values())
    for at, group in enumerate(recorder.groups):
        path = str(recorder.folder / f"{at}.trace")
        name = f"{title} {at + 1}: {_functions_text(group)}" if several else title
        Trace.of(group.steps, title=name).save(path, LEVELS)
        yield RecordedTrace(path, name, group.failure, own, sources)


def _functions_text(group: StepGroup) -> str:
    names = dict.fromkeys(
        step.function or (step.before.name if isinstance(step.before, Function) else "module")
        for step in group.steps
    )
    first, *others = names or ["nothing"]
    return f"{first} and {len(others)} more" if others else first
