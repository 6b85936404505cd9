"""Measure on the workers of a dask cluster, or of any other executor."""

import ipaddress
import threading
import uuid
import warnings
from collections.abc import Generator, Sequence
from concurrent.futures import Executor, Future
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from urllib.parse import urlsplit

import msgspec

from irkit.processes import ClusterExecutor, is_lost
from irkit.tune.measure.bench import Bench, BenchSettings
from irkit.tune.measure.session import Session, TrialOutcome, Worth
from irkit.tune.records import Values
from irkit.tune.space import Task

_CHUNK = 8


class Distributed:
    """The workers of a dask cluster, by the address of its scheduler, or those of an executor.

    Each worker measures candidates in processes of its own, beside the same schedule, and its
    results have its fingerprint. If a worker dies, each candidate that it had is measured again on
    its own, and the one that kills a worker once more is a crash. Dask unpickles what it receives:
    a scheduler elsewhere than on this machine should be reached by TLS, and there is a warning if
    it is not.
    """

    def __init__(self, scheduler: str | Executor, settings: BenchSettings | None = None) -> None:
        self.scheduler = scheduler
        self.settings = settings or BenchSettings()
        if isinstance(scheduler, str) and not _is_private(scheduler):
            warnings.warn(
                f"the scheduler at {scheduler} is reached without TLS, and dask runs what it "
                "receives: use tls://, or a tunnel to this machine",
                stacklevel=2,
            )

    def session(self, task: Task) -> AbstractContextManager[Session]:
        """Start to measure candidates of a task on the cluster."""
        return self._session(task)

    @contextmanager
    def _session(self, task: Task) -> Generator[Session]:
        key = uuid.uuid4().hex
        if isinstance(self.scheduler, Executor):
            try:
                yield _Remote(self.scheduler, key, task, self.settings)
            finally:
                self.scheduler.submit(close_benches, key).result()
            return
        what = "measuring on a cluster"
        with ClusterExecutor(self.scheduler, partial(close_benches, key), what) as calls:
            yield _Remote(calls, key, task, self.settings)


class _Chunk(msgspec.Struct, frozen=True):
    """What a worker is asked: candidates of a task, to be raced against one schedule."""

    key: str
    task: Task
    settings: BenchSettings
    batch: tuple[Values, ...]
    against: Values
    full: bool
    seconds: float
    counted: bool = False


class _Remote:
    def __init__(self, calls: Executor, key: str, task: Task, settings: BenchSettings) -> None:
        self._calls, self._key, self._task, self._settings = calls, key, task, settings

    def run(
        self,
        batch: Sequence[Values],
        against: Values,
        *,
        full: bool = False,
        seconds: float = 0.1,
        deadline: float | None = None,
        counted: bool = False,
        worth: Worth | None = None,
    ) -> list[TrialOutcome]:
        """Distribute a batch in chunks; what a lost worker had runs again, one by one. Everything
        is raced: workers do not know what was learned."""
        size = 1 if full else _CHUNK
        parts = [tuple(batch[at : at + size]) for at in range(0, len(batch), size)]
        asked = [self._submit(part, against, full, seconds, counted) for part in parts]
        made: list[TrialOutcome] = []
        for part, future in zip(parts, asked, strict=True):
            try:
                made += future.result()
            except Exception as error:
                if not is_lost(error):
                    raise
                made += [self._alone(each, against, full, seconds, counted) for each in part]
        return made

    def _submit(
        self,
        part: tuple[Values, ...],
        against: Values,
        full: bool,
        seconds: float,
        counted: bool,
    ) -> Future[list[TrialOutcome]]:
        chunk = _Chunk(self._key, self._task, self._settings, part, against, full, seconds, counted)
        return self._calls.submit(measure_chunk, chunk)

    def _alone(
        self, values: Values, against: Values, full: bool, seconds: float, counted: bool
    ) -> TrialOutcome:
        try:
            return self._submit((values,), against, full, seconds, counted).result()[0]
        except Exception as error:
            if not is_lost(error):
                raise
            return TrialOutcome("crash", message="the worker that ran it died")


class _Benches:
    """The processes of a worker, by the session and the thread that they belong to."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.known: dict[tuple[str, int], Bench] = {}


_BENCHES = _Benches()


def measure_chunk(chunk: _Chunk) -> list[TrialOutcome]:
    """Measure candidates on this worker."""
    key = chunk.key, threading.get_ident()
    with _BENCHES.lock:
        bench = _BENCHES.known.get(key)
        if bench is None:
            bench = _BENCHES.known[key] = Bench(chunk.task, chunk.settings)
    return bench.run(
        chunk.batch,
        chunk.against,
        full=chunk.full,
        seconds=chunk.seconds,
        counted=chunk.counted,
    )


def close_benches(key: str) -> None:
    """End the processes of a session on this worker."""
    with _BENCHES.lock:
        own = [each for each in _BENCHES.known if each[0] == key]
        for each in own:
            _BENCHES.known.pop(each).close()


def _is_private(address: str) -> bool:
    """Return True if nobody else can read or change what goes to an address."""
    whole = urlsplit(address if "://" in address else f"tcp://{address}")
    if whole.scheme in ("tls", "wss", "inproc") or whole.hostname in (None, "localhost"):
        return True
    try:
        return ipaddress.ip_address(whole.hostname or "").is_loopback
    except ValueError:
        return False
