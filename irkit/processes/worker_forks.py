"""Work on numbered items in forks of this process and in this process, side by side.

A fork has what this process has, so nothing is sent to it but numbers of items; results come back
pickled. The items wait in one pipe, from which everybody takes the next. Whatever fails in a fork
is left to the caller, who does it again here: so an error is the one that one process would raise.
"""

import faulthandler
import gc
import io
import os
import pickle
import select
import signal
import struct
import sys
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from tempfile import TemporaryFile
from typing import Any, NoReturn, TypeVar

from irkit.core import IRKitError
from irkit.processes.fork import end_with_parent
from irkit.processes.limits import no_core_dumps

_T = TypeVar("_T")
VARIABLE = "IRKIT_COMPILE_JOBS"
_NUMBER = struct.Struct("<I")
_DONE = struct.Struct("<IQ")
"""Number of an item, and the bytes of its pickled result; none at all if it failed."""
_MOST_ITEMS = (1 << 16) // _NUMBER.size
"""Items that fit into a pipe of Linux, which is filled before anybody reads."""
_PATIENCE = 5.0
"""How many times the longest item a fork may take for its last one, beyond a second."""


def compile_jobs() -> int:
    """Return how many processes compile side by side: ``IRKIT_COMPILE_JOBS``, or else the number of
    processors that this process may use.

    Raises: IRKitError if the variable is no number above 0.
    """
    given = os.environ.get(VARIABLE, "").strip()
    if not given:
        has_affinity = hasattr(os, "sched_getaffinity")
        return len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
    if not given.isdecimal() or int(given) < 1:
        raise IRKitError(f"{VARIABLE} is {given!r}; expected a number of processes, at least 1")
    return int(given)


def can_fork() -> bool:
    """Return True if this process may fork workers: on Linux, and if it has one thread of Python,
    because a lock that another thread holds stays locked in a fork."""
    return sys.platform == "linux" and threading.active_count() == 1


def side_by_side(
    work: Callable[[int], _T],
    order: Sequence[int],
    processes: int,
    done: Callable[[int], object] = lambda _: None,
) -> dict[int, _T]:
    """Do the work of the items in ``order``, in so many processes, of which this is one.

    ``done`` is called with each item, here. Return the results by item: all of them, or fewer if
    anything failed. The caller does the rest, which raises what there is to raise.
    """
    if processes < 2 or len(order) < 2 or len(order) > _MOST_ITEMS or not can_fork():
        return {}
    queue, filling = os.pipe()
    with ExitStack() as files:
        files.callback(os.close, queue)
        with os.fdopen(filling, "wb", buffering=0) as pipe:
            pipe.write(b"".join(_NUMBER.pack(item) for item in order))
        workers = [_Worker(work, queue) for _ in range(min(processes, len(order)) - 1)]
        try:
            return _Results(work, queue, workers, done).all(len(order))
        finally:
            for worker in workers:
                worker.end()


class _Worker:
    """A fork that takes items from the queue, and the file with its results."""

    def __init__(self, work: Callable[[int], Any], queue: int) -> None:
        self.results = TemporaryFile(buffering=0)  # noqa: SIM115 -- open as long as the worker
        self.read = 0
        parent = os.getpid()
        self.notes, writing = os.pipe()
        with warnings.catch_warnings():  # Python 3.12 warns of threads of C, which hold no locks.
            warnings.simplefilter("ignore", DeprecationWarning)
            self.process = os.fork()
        if self.process == 0:
            os.close(self.notes)
            _serve(work, queue, writing, self.results, parent)
        os.close(writing)

    def result(self, size: int) -> Any:
        """Return the next result, which has so many bytes."""
        data = os.pread(self.results.fileno(), size, self.read)
        self.read += size
        return pickle.loads(data)

    def end(self) -> None:
        """End the fork."""
        os.close(self.notes)
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        self.results.close()


class _Results(dict[int, Any]):
    """Results by item, as far as they are there."""

    def __init__(
        self,
        work: Callable[[int], Any],
        queue: int,
        workers: Sequence[_Worker],
        done: Callable[[int], object],
    ) -> None:
        super().__init__()
        self.work, self.queue, self.done = work, queue, done
        self.running = {worker.notes: worker for worker in workers}
        self.failed = False
        self.longest = 0.0

    def all(self, count: int) -> dict[int, Any]:
        """Take items until none is left, then wait for the forks."""
        while not self.failed:
            self.collect(0)
            item = _next(self.queue)
            if item is None:
                break
            self.do(item)
        last = time.monotonic()
        while len(self) < count and self.running and not self.failed:
            before = len(self)
            self.collect(0.2)
            if len(self) > before:
                last = time.monotonic()
            elif time.monotonic() - last > 1 + _PATIENCE * self.longest:
                break
        return dict(self)

    def do(self, item: int) -> None:
        """Do an item here."""
        start = time.monotonic()
        try:
            self[item] = self.work(item)
        except Exception:  # The caller does it again, in the order of the items.
            self.failed = True
            return
        self.longest = max(self.longest, time.monotonic() - start)
        self.done(item)

    def collect(self, seconds: float) -> None:
        """Take what the forks have done."""
        for notes in select.select(list(self.running), [], [], seconds)[0]:
            data = os.read(notes, _DONE.size)
            if len(data) < _DONE.size:
                del self.running[notes]
                continue
            item, size = _DONE.unpack(data)
            if size == 0:
                self.failed = True
                return
            self[item] = self.running[notes].result(size)
            self.done(item)


def _next(queue: int) -> int | None:
    data = os.read(queue, _NUMBER.size)
    return _NUMBER.unpack(data)[0] if len(data) == _NUMBER.size else None


def _serve(
    work: Callable[[int], Any], queue: int, notes: int, results: Any, parent: int
) -> NoReturn:
    """Run as the fork: do items until none is left, then end; nothing else of this process may run
    here."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # The parent handles interrupts.
        end_with_parent(parent)
        gc.freeze()  # Garbage collection would copy every page of the parent that it looks at.
        faulthandler.disable()  # If this crashes, the parent does it again.
        no_core_dumps()
        while (item := _next(queue)) is not None:
            try:
                made = _pickled(work(item))
            except BaseException:
                os.write(notes, _DONE.pack(item, 0))
                break
            results.write(made)
            os.write(notes, _DONE.pack(item, len(made)))
    finally:
        os._exit(0)


def _pickled(value: object) -> bytes:
    made = io.BytesIO()
    pickle.dump(value, made, protocol=5)
    return made.getvalue()
