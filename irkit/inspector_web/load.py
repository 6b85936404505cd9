"""Open the files that the user names, and open them again when they change.

Traces are read here; models, IR text and scripts are run, and dumps of other compilers are read, in
a child with limits of time and memory.
"""

import os
import shutil
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Literal

import msgspec

from irkit.core import IRKitError
from irkit.frontend.onnx import Shapes
from irkit.inspector_web.api.native_views import NativeViews
from irkit.inspector_web.jobs.queue import JobQueue
from irkit.inspector_web.jobs.uploads import Uploads
from irkit.inspector_web.limits import (
    LOAD_LIMITS,
    MOST_ADDED,
    PASS_LIMITS as PASS_LIMITS,
)
from irkit.inspector_web.record.progress import progress_of
from irkit.inspector_web.record.record import NOTHING, FileKind, file_kind, record, warm_up
from irkit.inspector_web.record.restore import load_trace, restore
from irkit.inspector_web.record.tempdirs import make_tempdir
from irkit.inspector_web.runs.run import LoadedTrace, Source
from irkit.inspector_web.runs.workspace import Workspace
from irkit.phases import VARIABLE, ScheduleChoice
from irkit.processes import Child, ChildDied, Limits

WATCH_INTERVAL = 0.2
"""Seconds between two looks at the watched files."""


class Status(msgspec.Struct, frozen=True, omit_defaults=False):
    """State of the page's files. ``revision`` grows each time the files have been opened. ``runs``
    if the page can ask for jobs, and ``edits`` if it can also send IR that it has changed.
    ``stale`` if the files could not be opened again, so that older runs are shown."""

    state: Literal["working", "ready", "failed"]
    title: str
    revision: int = 0
    what: str = ""
    done: int = 0
    total: int = 0
    seconds: float = 0.0
    message: str = ""
    watching: bool = False
    runs: bool = True
    edits: bool = True
    stale: bool = False


class Inspection:
    """The files on one page, and the runs made from them. Safe to use from several threads."""

    def __init__(
        self,
        files: Sequence[str],
        *,
        watch: bool = False,
        limits: Limits = LOAD_LIMITS,
        shapes: Shapes = NOTHING,
        values: Mapping[str, Any] = NOTHING,
        converters: Sequence[str] = (),
        schedule: ScheduleChoice | None = None,
        runs: bool = True,
        edits: bool = True,
        pass_limits: Limits = PASS_LIMITS,
    ) -> None:
        self._env = {} if schedule is None else {VARIABLE: schedule}
        self.model_options: dict[str, Any] = {
            "shapes": shapes,
            "values": values,
            "converters": tuple(converters),
        }
        self.files, self.watch, self.limits = tuple(files), watch, limits
        self.pass_limits = pass_limits
        self.runs, self.edits = runs, runs and edits
        self.title = ", ".join(os.path.basename(os.path.abspath(file)) for file in files)
        self.lock = threading.RLock()
        self.workspace: Workspace | None = None
        self.message = ""
        self.revision = 0
        self._stale = False
        self._working = False
        self._begun = 0.0
        self._watched: tuple[str, ...] = tuple(os.path.abspath(file) for file in files)
        self._ended = threading.Event()
        self._folder = str(make_tempdir(self, "opened"))
        self._child: Child | None = None
        self._next: Child | None = None
        self.native = NativeViews()
        self.jobs = JobQueue(self)
        self._added: list[LoadedTrace] = []
        self._notes: list[str] = []
        self.uploads = Uploads(Path(self._folder) / "uploads")
        self.uploads.folder.mkdir()

    def start(self) -> None:
        """Start to open the files, and to watch them if ``watch`` is set."""
        self.reload()
        if self.watch:
            threading.Thread(target=self._watch_files, name="irkit-watch", daemon=True).start()

    def reload(self) -> bool:
        """Open the files again and return True, or return False if that is already under way.

        The old runs stay on the page until the new ones are ready.
        """
        with self.lock:
            if self._working:
                return False
            self._working, self._begun = True, time.monotonic()
        threading.Thread(target=self._open_and_prepare, name="irkit-open", daemon=True).start()
        return True

    def open(self) -> None:
        """Open the files; an error in them becomes the page's message."""
        added = tuple(self._added)
        self._notes.clear()
        try:
            loaded = [each for file in self.files for each in self._load(file)]
            made: Workspace | None = Workspace([*loaded, *added], self.pass_limits)
            message = "\n".join(self._notes)
        except (IRKitError, OSError, MemoryError) as error:
            made, message = None, _error_text(error)
        except Exception as error:
            # A bug of ours must not leave the page waiting for ever.
            made, message = None, f"this is a bug in irkit: {type(error).__name__}: {error}"
        with self.lock:
            for late in self._added[len(added) :]:
                _ = None if made is None else made.add(late)
            self._working, self.message, self._stale = False, message, made is None
            self.workspace = made if made is not None else self.workspace
            self.revision += 1
        if made is not None:
            self.jobs.forget()

    def _make_ready(self) -> None:
        """Start the next child in advance: starting it takes longer than most programs do."""
        if not any(file_kind(file) for file in self.files if os.path.exists(file)):
            return
        child = Child(self.limits, env=self._env)
        with self.lock:
            if self._next is not None or self._ended.is_set():
                return
            self._next = child
        with suppress(
            Exception
        ):  # The error is reported, or the child started again, when it is needed.
            child.call(warm_up)

    def _open_and_prepare(self) -> None:
        self.open()
        # While the browser fetches the page. Errors are reported when the page asks.
        workspace = self.workspace
        if workspace is not None:
            with suppress(Exception):
                workspace.prepare()
        if self.watch:
            self._make_ready()

    def add(self, loaded: LoadedTrace) -> int:
        """Add a run to the page and return its number.

        It stays when the files are opened again, behind their runs.
        """
        with self.lock:
            if self.workspace is None:
                raise IRKitError("the page has no runs yet, so none can be added")
            if len(self._added) >= MOST_ADDED:
                raise IRKitError(
                    f"the page has {MOST_ADDED} added runs already",
                    hint="Restart the inspector.",
                )
            self._added.append(loaded)
            return self.workspace.add(loaded)

    def status(self) -> Status:
        """Return how far the opening is."""
        with self.lock:
            working, message, ready = self._working, self.message, self.workspace is not None
            revision, begun = self.revision, self._begun
            child = self._child if working else None
        state = "working" if working and not ready else "failed" if not ready else "ready"
        progress = progress_of("" if child is None else child.report)
        return Status(
            state=state,
            title=self.title,
            revision=revision,
            what=progress.what or ("starting" if working else ""),
            done=progress.done,
            total=progress.total,
            seconds=time.monotonic() - begun if working else 0.0,
            message=message,
            watching=self.watch,
            runs=self.runs,
            edits=self.edits,
            stale=self._stale and ready,
        )

    def close(self) -> None:
        """Stop the children and remove what they wrote."""
        self.native.close()
        self.jobs.close()
        self._ended.set()
        with self.lock:
            children = self._child, self._next
        for child in children:
            if child is not None:
                child.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _load(self, file: str) -> list[LoadedTrace]:
        kind = file_kind(file)
        if kind is None:
            trace = load_trace(file)
            self._notes += [trace.damage] * bool(trace.damage)
            return [LoadedTrace(trace, trace.title or os.path.basename(file))]
        return self._record(kind, file)

    def _record(self, kind: FileKind, file: str) -> list[LoadedTrace]:
        options = self.model_options if kind == "model" else {}
        # A new process each time, so that the user's modules are imported again.
        with self.lock:
            self._child, self._next = self._next or Child(self.limits, env=self._env), None
        try:
            made = self._child.call(
                partial(record, kind, os.path.abspath(file), self._folder, **options)
            )
        except ChildDied as error:
            doing = progress_of(error.report).what
            where = f" ({doing})" if doing else ""
            raise IRKitError(f"{os.path.basename(file)}: {error.message}{where}") from error
        finally:
            self._child.close()
            self._child = None
        self._watched = tuple({*self._watched, *made.files})
        self._notes += [made.message] * bool(made.message)
        return [restore(each, Source(kind, os.path.abspath(file), **options)) for each in made.runs]

    def _watch_files(self) -> None:
        known = self._change_times()
        while not self._ended.wait(WATCH_INTERVAL):
            now = self._change_times()
            if now != known and self.reload():
                known = now

    def _change_times(self) -> dict[str, int]:
        return {file: _changed_at(file) for file in self._watched}


def _changed_at(file: str) -> int:
    try:
        return os.stat(file).st_mtime_ns
    except OSError:
        return 0


def _error_text(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{os.path.basename(str(error.filename))}: {error.strerror}"
    return str(error) or type(error).__name__
