"""Files that the page sends: a model, IR text or a trace becomes a run beside those there are.

A stranger's file is looked at by a child with limits. It is kept under a number; its name is only
shown. What stands beside it on disk is not read: a model with data outside of itself is refused.
"""

import os
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from irkit.core import InputError, IRKitError
from irkit.debug import Limits
from irkit.inspector_web.jobs.job import JobKind, RunSink
from irkit.inspector_web.record.record import FileKind as FileKind, record
from irkit.inspector_web.record.restore import load_trace, restore
from irkit.inspector_web.record.step_recorder import RecordedTrace, StepRecorder, TraceRecording
from irkit.inspector_web.runs.run import Source
from irkit.inspector_web.runs.workspace import Workspace
from irkit.transform import Trace

MOST_UPLOADED = 64 << 20
"""Bytes of a file."""
MOST_UPLOADS = 50
MOST_NAME = 80
LIMITS = Limits(seconds=600.0, memory=8 << 30)

UploadKind = Literal["model", "text", "trace"]
SUFFIXES: Mapping[str, UploadKind] = {".onnx": "model", ".irs": "text", ".trace": "trace"}


class Upload(msgspec.Struct, frozen=True):
    """A file that was sent: where it is kept, and what it was called."""

    number: int
    name: str
    kind: UploadKind
    path: str

    @property
    def source(self) -> Source | None:
        """Return what runs are made from again."""
        return None if self.kind == "trace" else Source(self.kind, self.path, own=False)


class Uploads:
    """The files that were sent to one page, in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.count = 0

    def keep(self, name: str, data: bytes) -> Upload:
        """Write down a file.

        Raises: InputError if it is none of those that are taken, or empty, or one too many.
        """
        shown = shown_name(name)
        kind = SUFFIXES.get(os.path.splitext(shown)[1].lower())
        if kind is None:
            taken = ", ".join(SUFFIXES)
            raise InputError(f"{shown!r} is no file that is taken; there are: {taken}")
        if not data:
            raise InputError(f"{shown!r} is empty")
        if len(data) > MOST_UPLOADED:
            raise InputError(f"{shown!r} is larger than {MOST_UPLOADED >> 20} MiB")
        if sum(1 for _ in self.folder.glob("*")) >= MOST_UPLOADS:
            raise InputError(f"{MOST_UPLOADS} files were sent already; start the inspector anew")
        self.count += 1
        path = self.folder / f"{self.count}{os.path.splitext(shown)[1].lower()}"
        path.write_bytes(data)
        return Upload(self.count, shown, kind, str(path))


def shown_name(name: str) -> str:
    """Make what a file is called fit to be shown: the last part of a path, in plain characters."""
    last = name.replace("\\", "/").rpartition("/")[2]
    plain = "".join(each for each in last if not unicodedata.category(each).startswith("C")).strip()
    stem, suffix = os.path.splitext(plain)
    return stem[: MOST_NAME - len(suffix[:10])] + suffix[:10]


class UploadName(msgspec.Struct, frozen=True):
    """What a job about an upload is known by."""

    upload: int
    name: str


def _find(workspace: Workspace, named: UploadName) -> Upload:
    raise IRKitError("a file is sent, and not asked for")


def _send(upload: Upload, folder: Path) -> tuple[object, ...]:
    return upload.kind, upload.path, upload.name, str(folder)


def record_upload(
    kind: FileKind | Literal["trace"], path: str, name: str, folder: str
) -> TraceRecording:
    """Make the traces of a file that was sent; what the child does.

    Raises: IRKitError if there is nothing to show.
    """
    try:
        if kind != "trace":
            return record(kind, path, folder, own=False)
        StepRecorder(Path(folder)).tell("reading the file")
        made = load_trace(path)
        again = str(Path(folder) / "0.trace")  # As irkit writes it.
        Trace.of(made.steps, title=name).save(again)
        return TraceRecording((RecordedTrace(again, name),), ())
    except BaseException as error:
        os.unlink(path)
        if isinstance(error, IRKitError):  # It was known here by a number.
            said = str(error).replace(path, name).replace(os.path.basename(path), name)
            raise IRKitError(said) from None
        raise


def _take(desk: RunSink, upload: Upload, made: TraceRecording) -> dict[str, object]:
    number = -1
    failed = False
    for recorded in reversed(made.runs):
        run = restore(recorded, upload.source)
        number = desk.add(msgspec.structs.replace(run, title=upload.name))
        failed = run.failure is not None
    return {"run": number, "failed": failed}


UPLOAD = JobKind(UploadName, _find, _send, record_upload, _take, LIMITS)
