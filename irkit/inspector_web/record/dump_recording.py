"""Record what another compiler printed; this runs in a child, since a reader can be a package's."""

import os
from pathlib import Path

from irkit.debug import trace_step
from irkit.inspector_web.dumps.readers import read_dump
from irkit.inspector_web.record.progress import report_progress
from irkit.inspector_web.record.step_recorder import (
    RecordedFailure,
    RecordedTrace,
    TraceRecording,
)
from irkit.inspector_web.text.dump_text import TEXT_LEVEL
from irkit.transform import Trace


def record_dump(file: str, folder: str) -> TraceRecording:
    """Record the steps of a dump, a file or a folder of files, in a folder.

    Raises: FormatError if it is no dump that can be read.
    """
    report_progress("reading the dump")
    content = read_dump(Path(file))
    title = os.path.basename(os.path.abspath(file))
    steps, failure = list(content.found.steps), None
    if content.found.failed is not None:
        event, given = content.found.failed
        name, label = event.name, event.label or event.name
        failure = RecordedFailure(
            event.failed, "exception", name, label, event.phase, event.function, "", ""
        )
        about = {"phase": event.phase, "name": name, "pass_text": label}
        steps.append(trace_step(TEXT_LEVEL, given, phase_name=event.phase_name, **about))
    path = str(Path(folder) / "0.trace")
    report_progress(f"{len(steps)} steps of {content.reader}")
    Trace(steps, title=title).save(path)
    recorded = RecordedTrace(path, title, failure)
    return TraceRecording((recorded,), (os.path.abspath(file),), content.damage)
