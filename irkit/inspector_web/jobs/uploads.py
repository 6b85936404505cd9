"""Uploads: a model, IR text, a trace or a dump that the page sends becomes a new run.

The file may come from anybody, so a child with limits reads it. It is stored under a number, and
its name is only shown. No other file is read: a model with external data is refused.
"""

import os
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from irkit.core import InputError, IRKitError
from irkit.inspector_web.jobs.job import JobKind, RunSink
from irkit.inspector_web.record.progress import report_progress
from irkit.inspector_web.record.record import FileKind, record
from irkit.inspector_web.record.restore import load_trace, restore
from irkit.inspector_web.record.step_recorder import RecordedTrace, TraceRecording
from irkit.inspector_web.runs.run import Source
from irkit.inspector_web.runs.workspace import Workspace
from irkit.processes import Limits
from irkit.transform import Trace

MOST_UPLOADED = 64 << 20
"""Limit of a file. Units: bytes."""
MOST_UPLOADS = 50
MOST_NAME = 80
LIMITS = Limits(seconds=600.0, memory=8 << 30)

UploadKind = Literal["model", "text", "trace", "dump"]
SUFFIXES: Mapping[str, UploadKind] = {
    ".onnx": "model",
    ".irs": "text",
    ".trace": "trace",
    **dict.fromkeys((".txt", ".log", ".mlir", ".ll", ".jsonl"), "dump"),
}


class Upload(msgspec.Struct, frozen=True):
    """An uploaded file: where it is stored, and what it was called."""

    number: int
    name: str
    kind: UploadKind
    path: str

    @property
    def source(self) -> Source | None:
        """Return the source to make runs from again; None for a trace or a dump."""
        if self.kind in ("trace", "dump"):
            return None
        return Source(self.kind, self.path, own=False)


class Uploads:
    """The uploaded files of one page, in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.count = 0

    def keep(self, name: str, data: bytes) -> Upload:
        """Store a file.

        Raises: InputError if its kind is not accepted, if it is empty or too large, or if there
        are too many.
        """
        shown = shown_name(name)
        kind = SUFFIXES.get(os.path.splitext(shown)[1].lower())
        if kind is None:
            taken = ", ".join(SUFFIXES)
            raise InputError(
                f"{shown!r} cannot be opened; expected a file with one of the suffixes {taken}"
            )
        if not data:
            raise InputError(f"{shown!r} is empty")
        if len(data) > MOST_UPLOADED:
            raise InputError(f"{shown!r} is larger than {MOST_UPLOADED >> 20} MiB")
        if sum(1 for _ in self.folder.glob("*")) >= MOST_UPLOADS:
            raise InputError(
                f"{MOST_UPLOADS} files are the limit of uploads; restart the inspector"
            )
        self.count += 1
        path = self.folder / f"{self.count}{os.path.splitext(shown)[1].lower()}"
        path.write_bytes(data)
        return Upload(self.count, shown, kind, str(path))


def shown_name(name: str) -> str:
    """Return the name of a file for display: the last part of its path, in printable characters."""
    last = name.replace("\\", "/").rpartition("/")[2]
    plain = "".join(each for each in last if not unicodedata.category(each).startswith("C")).strip()
    stem, suffix = os.path.splitext(plain)
    return stem[: MOST_NAME - len(suffix[:10])] + suffix[:10]


class UploadName(msgspec.Struct, frozen=True):
    """Arguments of an upload job, which tell it from others."""

    upload: int
    name: str


def _find(workspace: Workspace, named: UploadName) -> Upload:
    raise IRKitError("a file is uploaded by POST to /api/upload, not requested as a job")


def _send(upload: Upload, folder: Path) -> tuple[object, ...]:
    return upload.kind, upload.path, upload.name, str(folder)


def record_upload(
    kind: FileKind | Literal["trace"], path: str, name: str, folder: str
) -> TraceRecording:
    """Record the traces of an uploaded file; the child calls this.

    Raises: IRKitError if there is nothing to show.
    """
    try:
        if kind != "trace":
            return record(kind, path, folder, own=False)
        report_progress("reading the file")
        made = load_trace(path)
        again = str(Path(folder) / "0.trace")  # Written by irkit itself.
        Trace.of(made.steps, title=name).save(again)
        return TraceRecording((RecordedTrace(again, name),), ())
    except BaseException as error:
        os.unlink(path)
        if isinstance(error, IRKitError):  # Here the file has a number for a name.
            said = str(error).replace(path, name).replace(os.path.basename(path), name)
            raise IRKitError(said) from None
        raise


def _take(sink: RunSink, upload: Upload, made: TraceRecording) -> dict[str, object]:
    number = -1
    failed = False
    for recorded in reversed(made.runs):
        run = restore(recorded, upload.source)
        number = sink.add(msgspec.structs.replace(run, title=upload.name))
        failed = run.failure is not None
    return {"run": number, "failed": failed}


UPLOAD = JobKind(UploadName, _find, _send, record_upload, _take, LIMITS)
