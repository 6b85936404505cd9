"""Open what the user names, and open it again when it changes: traces at once, the rest in a child
with limits of time and memory."""

import os
import shutil
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

import msgspec

from irkit.core import IRKitError
from irkit.debug import Child, ChildDied, Limits
from irkit.inspector_web.api.native_views import NativeViews
from irkit.inspector_web.jobs.queue import JobQueue
from irkit.inspector_web.jobs.uploads import Uploads
from irkit.inspector_web.record.progress import Progress, read_progress
from irkit.inspector_web.record.record import FILE_KINDS, FileKind, record, warm_up
from irkit.inspector_web.record.restore import load_trace, restore
from irkit.inspector_web.record.tempdirs import make_tempdir
from irkit.inspector_web.runs.run import LoadedTrace, Source
from irkit.inspector_web.runs.workspace import Workspace

LIMITS = Limits(seconds=600.0, memory=16 << 30)
MOST_ADDED = 100
LOOKS = 0.2
"""Seconds between two looks at the files that are watched."""


class Status(msgspec.Struct, frozen=True, omit_defaults=False):
    """How far the opening is. ``revision`` grows with every time that the runs are new."""

    state: Literal["working", "ready", "failed"]
    title: str
    revision: int = 0
    what: str = ""
    done: int = 0
    total: int = 0
    seconds: float = 0.0
    message: str = ""
    watching: bool = False


class Inspection:
    """The files on one page and what became of them. Threads may ask at any time."""

    def __init__(
        self, files: Sequence[str], *, watch: bool = False, limits: Limits = LIMITS
    ) -> None:
        self.files, self.watch, self.limits = tuple(files), watch, limits
        self.title = ", ".join(os.path.basename(file) for file in files)
        self.lock = threading.RLock()
        self.workspace: Workspace | None = None
        self.message = ""
        self.revision = 0
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
        """Begin to open the files, and to watch them if asked to."""
        self.reload()
        if self.watch:
            threading.Thread(target=self._look, name="irkit-watch", daemon=True).start()

    def reload(self) -> bool:
        """Open the files anew, unless that is going on; the old runs stay until then."""
        with self.lock:
            if self._working:
                return False
            self._working, self._begun = True, time.monotonic()
        threading.Thread(target=self._open_and_prepare, name="irkit-open", daemon=True).start()
        return True

    def open(self) -> None:
        """Open the files; a mistake in them becomes the message."""
        added = tuple(self._added)
        self._notes.clear()
        try:
            opened = [each for file in self.files for each in self._opened(file)]
            made: Workspace | None = Workspace([*opened, *added])
            message = "\n".join(self._notes)
        except (IRKitError, OSError, MemoryError) as error:
            made, message = None, _said(error)
        except Exception as error:
            # A mistake of ours must not leave the page waiting for ever.
            made, message = None, f"this is a mistake of irkit's: {type(error).__name__}: {error}"
        with self.lock:
            for late in self._added[len(added) :]:
                _ = None if made is None else made.add(late)
            self._working, self.message = False, message
            self.workspace = made if made is not None else self.workspace
            self.revision += 1
        if made is not None:
            self.jobs.forget()

    def _make_ready(self) -> None:
        """Start the child of the next time, which takes longer than most programs do in it."""
        if not any(os.path.splitext(file)[1].lower() in FILE_KINDS for file in self.files):
            return
        child = Child(self.limits)
        with self.lock:
            if self._next is not None or self._ended.is_set():
                return
            self._next = child
        with suppress(Exception):  # It is started again, or the mistake told, when it is needed.
            child.call(warm_up)

    def _open_and_prepare(self) -> None:
        self.open()
        # While the browser fetches the page; what goes wrong there it says when it asks.
        workspace = self.workspace
        if workspace is not None:
            with suppress(Exception):
                workspace.prepare()
        if self.watch:
            self._make_ready()

    def add(self, opened: LoadedTrace) -> int:
        """Add a run beside those there are, and return its number; it stays when files are opened
        anew, after what they give."""
        with self.lock:
            if self.workspace is None:
                raise IRKitError("there are no runs to add one to")
            if len(self._added) >= MOST_ADDED:
                raise IRKitError(
                    f"there are {MOST_ADDED} further runs already",
                    hint="Start the inspector anew to go on.",
                )
            self._added.append(opened)
            return self.workspace.add(opened)

    def status(self) -> Status:
        """Say how far it is."""
        with self.lock:
            working, message, ready = self._working, self.message, self.workspace is not None
            revision, begun = self.revision, self._begun
        state = "working" if working and not ready else "failed" if not ready else "ready"
        far = read_progress(self._folder) if working else Progress()
        return Status(
            state=state,
            title=self.title,
            revision=revision,
            what=far.what or ("starting" if working else ""),
            done=far.done,
            total=far.total,
            seconds=time.monotonic() - begun if working else 0.0,
            message=message,
            watching=self.watch,
        )

    def close(self) -> None:
        """End the children and remove what they wrote."""
        self.native.close()
        self.jobs.close()
        self._ended.set()
        with self.lock:
            children = self._child, self._next
        for child in children:
            if child is not None:
                child.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _opened(self, file: str) -> list[LoadedTrace]:
        kind = FILE_KINDS.get(os.path.splitext(file)[1].lower())
        if kind is None:
            trace = load_trace(file)
            return [LoadedTrace(trace, trace.title or os.path.basename(file))]
        return self._recorded(kind, file)

    def _recorded(self, kind: FileKind, file: str) -> list[LoadedTrace]:
        # A new process each time: modules of the user's must be read again.
        with self.lock:
            self._child, self._next = self._next or Child(self.limits), None
        try:
            made = self._child.call(record, kind, os.path.abspath(file), self._folder)
        except ChildDied as error:
            raise IRKitError(f"{os.path.basename(file)}: {error.message}") from error
        finally:
            self._child.close()
            self._child = None
        self._watched = tuple({*self._watched, *made.files})
        self._notes += [made.message] * bool(made.message)
        return [restore(each, Source(kind, os.path.abspath(file))) for each in made.runs]

    def _look(self) -> None:
        known = self._times()
        while not self._ended.wait(LOOKS):
            now = self._times()
            if now != known and self.reload():
                known = now

    def _times(self) -> dict[str, int]:
        return {file: _changed_at(file) for file in self._watched}


def _changed_at(file: str) -> int:
    try:
        return os.stat(file).st_mtime_ns
    except OSError:
        return 0


def _said(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{os.path.basename(str(error.filename))}: {error.strerror}"
    return str(error) or type(error).__name__
