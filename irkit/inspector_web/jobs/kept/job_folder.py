"""A failed job in a folder of its own, from which it runs again: ``irkit replay`` does that.

The folder holds the arguments and the run that the job was about: its trace, whose last step is the
pass that failed, if one did, and the values that inputs are fixed to. Jobs that the child refused
with a reason are not kept: the reason tells all.
"""

import hashlib
import os
import secrets
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from irkit.core import FormatError, IRKitError
from irkit.inspector_web.jobs.job import JobKind
from irkit.inspector_web.jobs.kept.fixed_values import KeptValue, read_values, write_values
from irkit.inspector_web.record.restore import restore, trace_with_failure
from irkit.inspector_web.record.step_recorder import (
    RecordedFailure,
    RecordedTrace,
    TraceRecording,
)
from irkit.inspector_web.record.tempdirs import make_tempdir
from irkit.inspector_web.runs.pass_plan import PassInfo, PassPlacement
from irkit.inspector_web.runs.run import LEVELS, LoadedTrace, Run, Source
from irkit.inspector_web.runs.workspace import Workspace
from irkit.processes import Child, ChildDied, Limits

PREFIX = "irkit-job-"
JSON_NAME, TRACE_NAME = "job.json", "run.trace"
MOST_JSON = 4 << 20
"""Of the description in a folder. Units: bytes."""

Outcome = Literal["same", "gone", "different"]


class JobSource(msgspec.Struct, frozen=True):
    """The file that the run of a job was made from, and what is fixed of its inputs."""

    kind: Literal["model", "text", "script", "dump"]
    path: str
    shapes: dict[str, list[int | str]]
    converters: list[str]
    values: list[KeptValue] = []


class KeptJob(msgspec.Struct, frozen=True):
    """A job that failed, and how; its run is number 0. ``failure`` is that of the run's last pass,
    ``passes`` and ``plan`` as in LoadedTrace."""

    kind: str
    arguments: dict[str, Any]
    message: str
    seconds: float | None
    memory: int | None
    source: JobSource | None = None
    failure: RecordedFailure | None = None
    passes: tuple[PassInfo, ...] = ()
    plan: tuple[PassPlacement, ...] = ()
    format: int = 2


class ReplayedJob(msgspec.Struct, frozen=True):
    """How a job ended that ran again, and what it said then and now."""

    outcome: Outcome
    expected: str
    found: str


def keep_job(
    kind: str, arguments: bytes, workspace: Workspace, limits: Limits, message: str
) -> str:
    """Write a job into a folder below the current one, and return the command that runs it again;
    an empty string if it is about no run."""
    given: dict[str, Any] = msgspec.json.decode(arguments)
    found = _run_of(given, workspace)
    if found is None:
        return ""
    loaded = found.loaded
    partial = Path(f".{PREFIX}{secrets.token_hex(8)}.partial")
    try:
        partial.mkdir()
        trace, failure = trace_with_failure(loaded)
        kept = KeptJob(
            kind,
            given,
            message,
            limits.seconds,
            limits.memory,
            _source_of(loaded.source, partial) if loaded.source else None,
            failure,
            loaded.passes,
            loaded.plan,
        )
        text = msgspec.json.format(msgspec.json.encode(kept), indent=2)
        final = Path(PREFIX + hashlib.sha256(text).hexdigest()[:12])
        if not final.exists():
            (partial / JSON_NAME).write_bytes(text)
            trace.save(partial / TRACE_NAME, LEVELS)
            partial.rename(final)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return f"irkit replay {shlex.quote(str(final.absolute()))}"


def _run_of(given: dict[str, Any], workspace: Workspace) -> Run | None:
    """Return the run that arguments are about, and make them say that it is number 0."""
    if isinstance(given.get("run"), int):
        number, given["run"] = given["run"], 0
    elif isinstance(given.get("state"), str):
        first, _, rest = given["state"].partition(".")
        number, given["state"] = int(first), f"0.{rest}"
    else:
        return None
    return workspace.run(number)


def _source_of(source: Source, folder: Path) -> JobSource:
    shapes = {name: list(shape) for name, shape in source.shapes.items()}
    values = write_values(source.values, folder)
    path, converters = os.path.abspath(source.path), list(source.converters)
    return JobSource(source.kind, path, shapes, converters, values)


def failed_pass(made: object) -> RecordedFailure | None:
    """Return the failure of the last pass of the run that a job made, unless the pass can be run
    again alone."""
    if not isinstance(made, TraceRecording) or not made.runs:
        return None
    failure = made.runs[0].failure
    return None if failure is None or failure.replay else failure


def failed_pass_text(failure: RecordedFailure) -> str:
    """Return what is said of a job whose run ends with a failed pass."""
    return f"Pass {failure.name!r} on {failure.function or 'the module'}: {failure.what}"


def is_job_folder(folder: str | os.PathLike[str]) -> bool:
    """Return True if a folder holds a job."""
    return (Path(folder) / JSON_NAME).is_file()


def replay_job(
    folder: str | os.PathLike[str],
    kinds: Mapping[str, JobKind],
    *,
    seconds: float | None = None,
    memory: int | None = None,
) -> ReplayedJob:
    """Run the job of a folder again in a child, under the limits with which it failed.

    Raises: FormatError if the folder is damaged; IRKitError if the job is refused.
    """
    kept = _read(Path(folder))
    kind = kinds.get(kept.kind)
    if kind is None:
        raise FormatError(f"{folder} holds a job of the unknown kind {kept.kind[:40]!r}")
    limits = Limits(seconds or kept.seconds, memory or kept.memory)
    run = _run_in(Path(folder), kept)
    given = msgspec.convert(kept.arguments, kind.arguments)
    found = kind.find(Workspace([run]), given)
    with Child(limits) as child:
        error = _error_of(child, kind, found)
    said = "" if error is None else error
    outcome: Outcome = "gone" if error is None else "same" if said == kept.message else "different"
    return ReplayedJob(outcome, kept.message, said)


def _error_of(child: Child, kind: JobKind, found: object) -> str | None:
    folder = make_tempdir(child, "replay")
    try:
        failure = failed_pass(child.call(kind.run, *kind.send(found, folder)))
        return None if failure is None else failed_pass_text(failure)
    except ChildDied as error:
        return f"The job {error.message}"
    except IRKitError as error:
        return str(error)
    except Exception as error:  # What a job of the page says of it too: it is to be found again.
        return bug_text(error)


def bug_text(error: Exception) -> str:
    """Return what is said of an error that a job must not raise."""
    return f"This is a bug in irkit: {type(error).__name__}: {error}"


def _run_in(folder: Path, kept: KeptJob) -> LoadedTrace:
    source = None if kept.source is None else _restored(kept.source, folder)
    recorded = RecordedTrace(str(folder / TRACE_NAME), "", kept.failure, kept.passes)
    return msgspec.structs.replace(restore(recorded, source), plan=kept.plan)


def _restored(source: JobSource, folder: Path) -> Source:
    return Source(
        source.kind,
        source.path,
        shapes=source.shapes,
        values=read_values(source.values, folder),
        converters=tuple(source.converters),
    )


def _read(folder: Path) -> KeptJob:
    try:
        data = (folder / JSON_NAME).read_bytes()
        if len(data) > MOST_JSON:
            raise FormatError(f"{folder / JSON_NAME} has {len(data)} bytes; at most {MOST_JSON}")
        return msgspec.json.decode(data, type=KeptJob)
    except OSError as error:
        raise FormatError(f"{folder / JSON_NAME} cannot be read: {error.strerror}") from error
    except msgspec.DecodeError as error:
        raise FormatError(f"{folder / JSON_NAME} is damaged: {error}") from error
