"""FIXME So much waits already that nothing is taken on."""

import shutil
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from irkit.core import InputError, IRKitError
from irkit.debug import Child, ChildDied, Limits
from irkit.inspector_web.jobs.job import JobInfo, JobKind, JobState, RunSink
from irkit.inspector_web.record.progress import Progress, read_progress
from irkit.inspector_web.record.tempdirs import make_tempdir
from irkit.inspector_web.runs.workspace import Workspace

AT_ONCE = 2
MOST_WAITING = 16
"""Tasks that wait or run; more are refused."""
MOST_KEPT = 64
"""Tasks that are over and still known; the oldest go first."""


class TooManyJobs(IRKitError):
    """So much waits already that nothing is taken on."""


class _Job:
    def __init__(self, id: int, kind: str, how: JobKind, arguments: bytes, found: object) -> None:
        self.id, self.kind, self.how = id, kind, how
        self.arguments, self.found = arguments, found
        self.state: JobState = "queued"
        self.message = ""
        self.result = b"null"
        self.folder: str | None = None
        self.child: Child | None = None
        self.begun = self.ended = time.monotonic()

    @property
    def is_over(self) -> bool:
        return self.state not in ("queued", "working")

    def info(self, *, with_result: bool) -> JobInfo:
        folder = self.folder
        far = read_progress(folder) if folder is not None and not self.is_over else Progress()
        until = self.ended if self.is_over else time.monotonic()
        return JobInfo(
            self.id,
            self.kind,
            msgspec.Raw(self.arguments),
            self.state,
            far.what,
            far.done,
            far.total,
            round(until - self.begun, 3),
            self.message,
            msgspec.Raw(self.result if with_result else b"null"),
        )


class JobQueue:
    """The tasks of one page. Threads may ask at any time."""

    def __init__(self, desk: RunSink) -> None:
        self._desk = desk
        self._lock = threading.RLock()
        self._tasks: dict[int, _Job] = {}
        self._last = 0
        self._pool: ThreadPoolExecutor | None = None
        self._idle: list[Child] = []
        self._closed = False

    def ask(
        self, workspace: Workspace, kinds: Mapping[str, JobKind], kind: str, arguments: bytes
    ) -> int:
        """Take on work and return its number: that of the same work, if that is going on or done.

        Work on what is not there fails before it begins. Raises: InputError for arguments that do
        not fit; Busy.
        """
        how = kinds.get(kind)
        if how is None:
            raise InputError(f"{kind[:40]!r} is no kind of work; there are: {', '.join(kinds)}")
        try:
            given = msgspec.json.decode(arguments, type=how.arguments)
        except (msgspec.DecodeError, RecursionError) as error:
            raise InputError(f"{kind}: {error}") from None
        # As understood, so that an argument that was left out is the same as its default.
        known = msgspec.json.encode(given)
        try:
            found = how.find(workspace, given)
        except IRKitError as error:
            return self._add(kind, how, known, None, str(error)).id
        return self.begin(kind, how, known, found)

    def begin(self, kind: str, how: JobKind, arguments: bytes, found: object) -> int:
        """Take on work whose arguments are checked."""
        with self._lock:
            for task in self._tasks.values():
                same = (task.kind, task.arguments) == (kind, arguments)
                if same and task.state in ("queued", "working", "done"):
                    return task.id
            waiting = sum(not task.is_over for task in self._tasks.values())
            if waiting >= MOST_WAITING or self._closed:
                raise TooManyJobs(f"{waiting} tasks are waiting or running; wait, or cancel some")
            task = self._add(kind, how, arguments, found)
            if self._pool is None:
                self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="irkit-task")
            self._pool.submit(self._work, task)
            return task.id

    def _add(
        self, kind: str, how: JobKind, arguments: bytes, found: object, problem: str = ""
    ) -> _Job:
        with self._lock:
            self._last += 1
            task = self._tasks[self._last] = _Job(self._last, kind, how, arguments, found)
            if problem:
                task.state, task.message = "failed", problem
            self._forget_old()
            return task

    def info(self, id: int) -> JobInfo:
        """Say how far a task is, and what came of it. Raises: InputError if there is none."""
        return self._task(id).info(with_result=True)

    def infos(self) -> list[JobInfo]:
        """List all tasks that are known, without results."""
        with self._lock:
            return [task.info(with_result=False) for task in self._tasks.values()]

    def cancel(self, id: int) -> JobInfo:
        """Stop a task, unless it is over."""
        task = self._task(id)
        self._end(task, "cancelled", "It was cancelled.")
        return task.info(with_result=False)

    def forget(self) -> None:
        """Stop everything and keep nothing: the runs that it was about are gone."""
        with self._lock:
            tasks, idle = list(self._tasks.values()), list(self._idle)
            self._tasks.clear()
            self._idle.clear()  # They may have loaded modules of the user's that are new, too.
        for child in idle:
            child.close()
        for task in tasks:
            self._end(task, "cancelled", "The runs are new.")

    def close(self) -> None:
        """End the children."""
        with self._lock:
            self._closed = True
        self.forget()  # What still runs gives its child back to nobody: its task is not known.
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def _task(self, id: int) -> _Job:
        with self._lock:
            task = self._tasks.get(id)
        if task is None:
            raise InputError(f"there is no task {id}")
        return task

    def _forget_old(self) -> None:
        over = [task.id for task in self._tasks.values() if task.is_over]
        for id in over[: max(0, len(over) - MOST_KEPT)]:
            del self._tasks[id]

    def _work(self, task: _Job) -> None:
        with self._lock:
            if task.is_over:
                return
            task.state = "working"
            child = task.child = self._taken(task.how.limits)
        folder = task.folder = str(make_tempdir(task, "task"))
        try:
            made = child.call(task.how.run, *task.how.send(task.found, Path(folder)))
            if not task.is_over:
                result = msgspec.json.encode(task.how.take(self._desk, task.found, made))
                self._end(task, "done", "", result)
        except ChildDied as error:
            self._end(task, "failed", f"The work {error.message}.")
        except (IRKitError, OSError, MemoryError) as error:
            self._end(task, "failed", str(error) or type(error).__name__)
        except Exception as error:
            # Also what a child that is stopped while it is read from leaves behind.
            said = f"This is a mistake of irkit's: {type(error).__name__}: {error}"
            self._end(task, "failed", said)
        finally:
            task.child = task.found = None
            self._give_back(task, child)
            shutil.rmtree(folder, ignore_errors=True)

    def _taken(self, limits: Limits) -> Child:
        """Take a child that has nothing to do, as starting one takes a second; or make one."""
        for at, child in enumerate(self._idle):
            if child.limits == limits:
                return self._idle.pop(at)
        return Child(limits)

    def _give_back(self, task: _Job, child: Child) -> None:
        with self._lock:
            wanted = task.id in self._tasks and task.state != "cancelled"
            over = [] if wanted else [child]
            if wanted:
                self._idle.append(child)
                while len(self._idle) > AT_ONCE:
                    over.append(self._idle.pop(0))
        for each in over:
            each.close()

    def _end(self, task: _Job, state: JobState, message: str, result: bytes = b"null") -> None:
        with self._lock:
            if task.is_over:
                return
            task.state, task.message, task.result = state, message, result
            task.ended = time.monotonic()
            child = task.child
        if state == "cancelled" and child is not None:
            child.stop()
