"""Read back what a child recorded, and prepare it to be written again."""

import gc
import threading

from irkit.inspector_web.record.step_recorder import RecordedFailure, RecordedTrace, unchanged_step
from irkit.inspector_web.runs.run import LEVELS, LoadedTrace, Source
from irkit.transform import Attempt, FailureKind, PassFailed, Trace

LOADING = threading.Lock()


def load_trace(file: str) -> Trace:
    """Read a trace, without garbage collection: it would take as long as the reading and free
    nothing."""
    with LOADING:
        was = gc.isenabled()
        gc.disable()
        gc.unfreeze()  # Runs that were loaded earlier may be garbage by now.
        try:
            return Trace.load(file, LEVELS)
        finally:
            gc.freeze()
            if was:
                gc.enable()


def restore(recorded: RecordedTrace, source: Source | None = None) -> LoadedTrace:
    """Read a recorded trace, together with the pass that failed in it and its source."""
    trace = load_trace(recorded.path)
    failure = recorded.failure
    if failure is None:
        return LoadedTrace(
            trace, recorded.title, source=source, passes=recorded.passes, sources=recorded.sources
        )
    last = trace[-1]
    kind: FailureKind = failure.kind  # pyright: ignore[reportAssignmentType] -- what PassFailed said
    error = PassFailed(
        failure.what,
        name=failure.name,
        pass_text=failure.pass_text,
        phase=failure.phase,
        function=failure.function,
        before=last.before,
        kind=kind,
        # The pass itself stayed in the child; only its level is used here.
        attempt=Attempt(last.level, (), 0, last.index, failure.function, last.before, ()),
    )
    shorter = Trace(trace.steps[:-1], title=trace.title, versions=trace.versions, texts=trace.texts)
    return LoadedTrace(
        shorter,
        recorded.title,
        error,
        failure.traceback,
        failure.replay,
        source,
        recorded.passes,
        failure.left,
        sources=recorded.sources,
    )


def trace_with_failure(loaded: LoadedTrace) -> tuple[Trace, RecordedFailure | None]:
    """Return the trace from which ``restore`` makes a run again, with the pass that failed."""
    trace, failure = loaded.trace, loaded.failure
    if failure is None:
        return trace, None
    told = RecordedFailure(
        failure.what,
        failure.kind,
        failure.name,
        failure.pass_text,
        failure.phase,
        failure.function,
        loaded.traceback,
        loaded.replay,
        loaded.left,
    )
    last = unchanged_step(failure)
    return Trace((*trace, last), title=trace.title, versions=trace.versions), told
