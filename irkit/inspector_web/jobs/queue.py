"""The queue of jobs: a few run at once, each in a child; results are kept for a while."""

import shutil
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial

import msgspec

from irkit.core import InputError, IRKitError
from irkit.inspector_web.jobs.job import JobInfo, JobKind, JobState, RunSink
from irkit.inspector_web.jobs.kept import bug_text, failed_pass, failed_pass_text, keep_job
from irkit.inspector_web.record.progress import progress_of
from irkit.inspector_web.record.step_recorder import TraceRecording
from irkit.inspector_web.record.tempdirs import make_tempdir
from irkit.inspector_web.runs.workspace import Workspace
from irkit.processes import Child, ChildDied, Limits

AT_ONCE = 2
MOST_WAITING = 16
"""Jobs that wait or run; further ones are refused."""
MOST_KEPT = 64
"""Finished jobs that are remembered; the oldest are forgotten first."""


Keep = Callable[[str], str]
"""Keeps a job that failed with a message, and returns the command that runs it again."""


class TooManyJobs(IRKitError):
    """Raised when the queue is full."""


class _Job:
    def __init__(
        self, id: int, kind: str, job_kind: JobKind, arguments: bytes, found: object
    ) -> None:
        self.id, self.kind, self.job_kind = id, kind, job_kind
        self.arguments, self.found = arguments, found
        self.state: JobState = "queued"
        self.message = self.replay = ""
        limits = getattr(found, "limits", None)  # Of a pass, where passes run.
        self.pass_limit = limits.seconds if isinstance(limits, Limits) else None
        self.keep: Keep | None = None
        self.result = b"null"
        self.child: Child | None = None
        self.begun = self.ended = time.monotonic()

    @property
    def is_over(self) -> bool:
        return self.state not in ("queued", "working")

    def info(self, *, with_result: bool) -> JobInfo:
        child = self.child
        progress = progress_of("" if child is None or self.is_over else child.report)
        until = self.ended if self.is_over else time.monotonic()
        return JobInfo(
            self.id,
            self.kind,
            msgspec.Raw(self.arguments),
            self.state,
            progress.what,
            progress.done,
            progress.total,
            round(until - self.begun, 3),
            self.message,
            msgspec.Raw(self.result if with_result else b"null"),
            self.replay,
            self.job_kind.limits.seconds,
            self.pass_limit,
        )


class JobQueue:
    """The jobs of one page. Safe to use from several threads."""

    def __init__(self, sink: RunSink) -> None:
        self._sink = sink
        self._lock = threading.RLock()
        self._jobs: dict[int, _Job] = {}
        self._last = 0
        self._pool: ThreadPoolExecutor | None = None
        self._idle: list[Child] = []
        self._closed = False

    def submit(
        self, workspace: Workspace, kinds: Mapping[str, JobKind], kind: str, arguments: bytes
    ) -> int:
        """Add a job and return its number, or the number of an equal job that has not failed.

        A job about something that does not exist is added as failed.
        Raises: InputError if the kind or the arguments are wrong; TooManyJobs.
        """
        job_kind = kinds.get(kind)
        if job_kind is None:
            raise InputError(
                f"{kind[:40]!r} is not a kind of job; expected one of: {', '.join(kinds)}"
            )
        try:
            given = msgspec.json.decode(arguments, type=job_kind.arguments)
        except (msgspec.DecodeError, RecursionError) as error:
            raise InputError(f"{kind}: {error}") from None
        # Encoded again, so that an omitted argument equals its default.
        known = msgspec.json.encode(given)
        try:
            found = job_kind.find(workspace, given)
        except IRKitError as error:
            return self._add(kind, job_kind, known, None, str(error)).id
        keep = partial(keep_job, kind, known, workspace, job_kind.limits)
        return self.begin(kind, job_kind, known, found, keep)

    def begin(
        self,
        kind: str,
        job_kind: JobKind,
        arguments: bytes,
        found: object,
        keep: Keep | None = None,
    ) -> int:
        """Add a job with checked arguments and return its number. Raises: TooManyJobs."""
        with self._lock:
            for job in self._jobs.values():
                same = (job.kind, job.arguments) == (kind, arguments)
                if same and job.state in ("queued", "working", "done"):
                    return job.id
            waiting = sum(not job.is_over for job in self._jobs.values())
            if waiting >= MOST_WAITING or self._closed:
                raise TooManyJobs(f"{waiting} jobs are waiting or running; wait, or cancel some")
            job = self._add(kind, job_kind, arguments, found)
            job.keep = keep
            if self._pool is None:
                self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="irkit-job")
            self._pool.submit(self._run, job)
            return job.id

    def _add(
        self, kind: str, job_kind: JobKind, arguments: bytes, found: object, problem: str = ""
    ) -> _Job:
        with self._lock:
            self._last += 1
            job = self._jobs[self._last] = _Job(self._last, kind, job_kind, arguments, found)
            if problem:
                job.state, job.message = "failed", problem
            self._forget_old()
            return job

    def info(self, id: int) -> JobInfo:
        """Return the state of a job with its result. Raises: InputError if there is no such job."""
        return self._job(id).info(with_result=True)

    def infos(self) -> list[JobInfo]:
        """List all jobs that are remembered, without results."""
        with self._lock:
            return [job.info(with_result=False) for job in self._jobs.values()]

    def cancel(self, id: int) -> JobInfo:
        """Stop a job, unless it is over, and return its state."""
        job = self._job(id)
        self._end(job, "cancelled", "It was cancelled.")
        return job.info(with_result=False)

    def forget(self) -> None:
        """Stop and forget all jobs: the runs that they were about are gone."""
        with self._lock:
            jobs, idle = list(self._jobs.values()), list(self._idle)
            self._jobs.clear()
            self._idle.clear()  # They may have imported modules of the user that have changed.
        for child in idle:
            child.close()
        for job in jobs:
            self._end(job, "cancelled", "The files were opened again.")

    def close(self) -> None:
        """Stop the children."""
        with self._lock:
            self._closed = True
        self.forget()  # A forgotten job that still runs does not return its child to the idle ones.
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def _job(self, id: int) -> _Job:
        with self._lock:
            job = self._jobs.get(id)
        if job is None:
            raise InputError(f"there is no job {id}")
        return job

    def _forget_old(self) -> None:
        over = [job.id for job in self._jobs.values() if job.is_over]
        for id in over[: max(0, len(over) - MOST_KEPT)]:
            del self._jobs[id]

    def _run(self, job: _Job) -> None:
        with self._lock:
            if job.is_over:
                return
            job.state = "working"
            child = job.child = self._take_child(job.job_kind.limits)
        folder = make_tempdir(job, "job")
        try:
            made = child.call(job.job_kind.run, *job.job_kind.send(job.found, folder))
            if not job.is_over:
                made = self._with_replay(job, made)
                result = msgspec.json.encode(job.job_kind.take(self._sink, job.found, made))
                self._end(job, "done", "", result)
        except ChildDied as error:
            doing = progress_of(error.report)
            count = f" ({doing.done} of {doing.total} done)" if doing.total else ""
            where = f" while {doing.what}{count}" if doing.what else ""
            self._fail(job, f"The job {error.message}", f"{where}.")
        except (IRKitError, OSError, MemoryError) as error:
            self._end(job, "failed", str(error) or type(error).__name__)
        except Exception as error:
            self._fail(job, bug_text(error))
        finally:
            job.child = job.found = job.keep = None
            self._give_back(job, child)
            shutil.rmtree(folder, ignore_errors=True)

    def _with_replay(self, job: _Job, made: object) -> object:
        """Keep the job of a run whose last pass failed and cannot be run again alone."""
        failure = failed_pass(made)
        if failure is None or job.keep is None:
            return made
        assert isinstance(made, TraceRecording)
        with suppress(OSError, IRKitError):
            replay = job.keep(failed_pass_text(failure))
            failure = msgspec.structs.replace(failure, replay=replay)
            run = msgspec.structs.replace(made.runs[0], failure=failure)
            return msgspec.structs.replace(made, runs=(run, *made.runs[1:]))
        return made

    def _fail(self, job: _Job, what: str, where: str = "") -> None:
        """End a job that nobody expected to fail; it is kept, so that it can run again."""
        if job.keep is not None and not job.is_over:
            with suppress(OSError, IRKitError):
                job.replay = job.keep(what)
        self._end(job, "failed", what + where)

    def _take_child(self, limits: Limits) -> Child:
        """Return an idle child, since starting one takes a second; or a new one."""
        for at, child in enumerate(self._idle):
            if child.limits == limits:
                return self._idle.pop(at)
        return Child(limits)

    def _give_back(self, job: _Job, child: Child) -> None:
        with self._lock:
            wanted = job.id in self._jobs and job.state != "cancelled"
            over = [] if wanted else [child]
            if wanted:
                self._idle.append(child)
                while len(self._idle) > AT_ONCE:
                    over.append(self._idle.pop(0))
        for each in over:
            each.close()

    def _end(self, job: _Job, state: JobState, message: str, result: bytes = b"null") -> None:
        with self._lock:
            if job.is_over:
                return
            job.state, job.message, job.result = state, message, result
            job.ended = time.monotonic()
            child = job.child
        if state == "cancelled" and child is not None:
            child.stop()
