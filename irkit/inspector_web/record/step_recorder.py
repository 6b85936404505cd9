"""Keep the steps of every pipeline that runs in a process: what a child does to make a trace.

``Pipeline.steps`` is replaced for a while, so a script needs no change to be seen, and a pass that
fails is part of what is kept: the last step holds the IR it was given.
"""

import os
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from irkit.core import Function, IRKitError
from irkit.debug import failure_traceback, read_crash, write_crash
from irkit.inspector_web.record.progress import write_progress
from irkit.inspector_web.runs.pass_plan import (
    PassInfo,
    PassPlacement,
    describe,
    left_of,
    registry,
)
from irkit.transform import IR, AnyPass, PassFailed, Pipeline, Step, Trace

MOST_RUNS = 20
MOST_STEPS = 20_000


class RecordedFailure(msgspec.Struct, frozen=True):
    """A pass that failed, without its IR: that is the last step of the trace, which did nothing."""

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
    """One trace file that the child wrote. ``passes`` are those that only a script knows."""

    path: str
    title: str
    failure: RecordedFailure | None = None
    passes: tuple[PassInfo, ...] = ()


class TraceRecording(msgspec.Struct, frozen=True):
    """All that the child has to say. ``files`` are what a change of should run it anew;
    ``message`` is why it stopped early, if it did."""

    runs: tuple[RecordedTrace, ...]
    files: tuple[str, ...]
    message: str = ""


class StepGroup(msgspec.Struct):
    """Steps of one run: no pass at one place runs twice on a function."""

    steps: list[Step]
    places: set[tuple[str, int, str, str]]
    failure: RecordedFailure | None = None


class StepRecorder:
    """Keep steps as they happen, in groups that become runs. ``again`` is the command that makes
    all of them once more."""

    def __init__(self, folder: Path, again: str = "") -> None:
        self.folder, self.again = folder, again
        self.groups: list[StepGroup] = []
        self.own: dict[str, AnyPass] = {}
        self.count = 0

    def tell(self, what: str, done: int = 0, total: int = 0) -> None:
        """Say how far it is."""
        write_progress(self.folder, what, done, total)

    def follow(
        self, pipeline: Pipeline, steps: Generator[Step, None, IR]
    ) -> Generator[Step, Any, IR]:
        """Pass the steps of a pipeline on, and keep them."""
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
            self._fail(error, group or self._group_for(error))
            raise

    def _keep(self, step: Step, group: StepGroup | None) -> StepGroup:
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

    def _new(self) -> StepGroup:
        if len(self.groups) >= MOST_RUNS:
            raise IRKitError(f"the script runs pipelines on more than {MOST_RUNS} programs")
        self.groups.append(StepGroup([], set()))
        return self.groups[-1]

    def _group_for(self, error: PassFailed) -> StepGroup:
        return self.groups[-1] if self.groups and self.groups[-1].failure is None else self._new()

    def _fail(self, error: PassFailed, group: StepGroup) -> None:
        attempt = error.attempt
        assert attempt is not None
        replay = ""
        with suppress(OSError, IRKitError):
            # Nothing if it cannot be run alone, such as a pass that stands in the script itself.
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
            left_of(attempt),
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


@contextmanager
def record_steps(collector: StepRecorder) -> Generator[None]:
    """See the steps of every pipeline that runs in this process."""
    original = Pipeline.steps

    def steps(self: Pipeline, ir: IR, **options: Any) -> Generator[Step, None, IR]:
        return collector.follow(self, original(self, ir, **options))

    with _instead(steps):
        yield


@contextmanager
def watch_pipelines(see: Callable[[Pipeline], object]) -> Generator[None]:
    """See every pipeline before it runs."""
    original = Pipeline.steps

    def steps(self: Pipeline, ir: IR, **options: Any) -> Generator[Step, None, IR]:
        see(self)
        return original(self, ir, **options)

    with _instead(steps):
        yield


@contextmanager
def _instead(steps: Callable[..., Generator[Step, None, IR]]) -> Generator[None]:
    original = Pipeline.steps
    setattr(Pipeline, "steps", steps)
    try:
        yield
    finally:
        setattr(Pipeline, "steps", original)


def save_traces(collector: StepRecorder, file: str) -> Iterable[RecordedTrace]:
    """Write each run to a file."""
    title = os.path.basename(file)
    several = len(collector.groups) > 1
    own = tuple(describe(p) for p in collector.own.values())
    for at, group in enumerate(collector.groups):
        path = str(collector.folder / f"{at}.trace")
        name = f"{title} {at + 1}: {_about(group)}" if several else title
        Trace.of(group.steps, title=name).save(path)
        yield RecordedTrace(path, name, group.failure, own)


def _about(group: StepGroup) -> str:
    names = dict.fromkeys(
        step.function or (step.before.name if isinstance(step.before, Function) else "module")
        for step in group.steps
    )
    first, *others = names or ["nothing"]
    return f"{first} and {len(others)} more" if others else first
