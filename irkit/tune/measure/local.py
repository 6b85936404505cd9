"""Measure on this machine."""

from contextlib import AbstractContextManager

from irkit.core import IRKitError
from irkit.tune.measure.bench import Bench, BenchProcesses, BenchSettings
from irkit.tune.measure.compiled import LOWER
from irkit.tune.measure.session import Session
from irkit.tune.space import Task


class Local:
    """Processes of this machine: ``jobs`` build, and one runs what they built.

    They end with each task, or, where this is the context of a ``with``, in the end. ``threads``
    run a kernel; ``flush`` empties the caches before each sample. Units: ``seconds`` is the limit
    of one candidate, ``memory`` that of one process in bytes.
    """

    def __init__(
        self,
        jobs: int = 1,
        *,
        threads: int = 1,
        flush: bool = False,
        seconds: float = 10.0,
        memory: int = 4 << 30,
        seed: int = 0,
        lower: str = LOWER,
    ) -> None:
        if jobs < 1 or threads < 1:
            raise IRKitError(f"jobs and threads are {jobs} and {threads}; expected at least 1")
        self.settings = BenchSettings(jobs, threads, flush, seconds, memory, seed, lower)
        self._kept: BenchProcesses | None = None

    def __enter__(self) -> "Local":
        self._kept = self._kept or BenchProcesses(self.settings)
        return self

    def __exit__(self, *ignored: object) -> None:
        if self._kept is not None:
            self._kept.close()
        self._kept = None

    def session(self, task: Task) -> AbstractContextManager[Session]:
        """Start to measure candidates of a task."""
        return Bench(task, self.settings, self._kept)
