"""The processes that measure: some that build, and one that runs what they built."""

import os
import pickle
import queue
import socket
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import msgspec

from irkit.core import IRKitError, ScheduleError
from irkit.processes import Child, ChildDied, Limits
from irkit.tune.cost import MIX_VERSION
from irkit.tune.measure.compiled import (
    FULL,
    LOWER,
    QUICK,
    CandidateCode,
    build_candidate,
    build_reference,
)
from irkit.tune.measure.session import TrialOutcome, Worth
from irkit.tune.measure.trial import TrialResult, TrialSettings, prepare, race
from irkit.tune.measure.turns import Turns, usable_cores
from irkit.tune.records import Built, Measured, Values, VerdictKind, key_of
from irkit.tune.records.record import machine_now
from irkit.tune.space import Task

_AGAIN = 2
_KEPT = 32
_RENEWED = 400
"""Candidates after which a process is replaced: what leaks in one does not add up."""
_FULL_PAIRS = 41
_FULL_FEWEST = 8
"""Pairs that a last race has in any case: six would suffice for the confidence."""
_DEATHS: dict[str, VerdictKind] = {"timeout": "time-out", "memory": "memory", "crash": "crash"}


class BenchSettings(msgspec.Struct, frozen=True):
    """How to measure: processes that build, threads of a kernel, caches flushed or warm.

    Units: seconds of one candidate, bytes of one process.
    """

    jobs: int = 1
    threads: int = 1
    flush: bool = False
    seconds: float = 10.0
    memory: int = 4 << 30
    seed: int = 0
    lower: str = LOWER


class BenchProcesses:
    """Processes that build, and one that runs: they may serve one task after another."""

    def __init__(self, settings: BenchSettings) -> None:
        limits = Limits(settings.seconds, settings.memory)
        needed = (settings.lower.partition(":")[0],)
        self.workers = [_Worker(limits, needed) for _ in range(max(1, settings.jobs))]
        self.runner = _Worker(Limits(max(settings.seconds, 60.0), settings.memory), needed)

    def close(self) -> None:
        """End all processes."""
        for worker in (*self.workers, self.runner):
            worker.close()


class Bench:
    """Builders and a runner for one task. Processes that are given outlive it."""

    def __init__(
        self, task: Task, settings: BenchSettings, processes: BenchProcesses | None = None
    ) -> None:
        self.task, self.settings = task, settings
        self._packed = pickle.dumps(task.space, protocol=5)
        used = processes or BenchProcesses(settings)
        self._owned = used if processes is None else None
        self._builders: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        self._workers, self._runner = used.workers, used.runner
        for worker in self._workers:
            self._builders.put(worker)
        self._threads = ThreadPoolExecutor(len(self._workers), "irkit-tune-build")
        self._warmer = ThreadPoolExecutor(1, "irkit-tune-runner")
        self._turns = Turns()
        self._ready = self._finals = 0
        self._reference: CandidateCode | None = None
        self._codes: OrderedDict[tuple[str, int], CandidateCode | TrialOutcome] = OrderedDict()
        self._noise: float | None = None
        self._name = f"{socket.gethostname()}:{os.getpid()}"

    def __enter__(self) -> "Bench":
        """Start the processes: until something is to be measured, they have much to import."""
        self._warmer.submit(self._prepare, self._settings(full=False, seconds=0.0))
        for worker in self._workers:
            self._threads.submit(worker.child.start)
        return self

    def __exit__(self, *ignored: object) -> None:
        self.close()

    def close(self) -> None:
        """End all processes that are its own."""
        self._warmer.shutdown(wait=True, cancel_futures=True)
        self._threads.shutdown(wait=True, cancel_futures=True)
        if self._owned is not None:
            self._owned.close()

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
        """Build candidates, and race one after the other against another schedule.

        Races of code compiled ``full`` are run alone, each time in a fresh process.

        Raises: IRKitError if the schedule to race against cannot be measured.
        """
        level = FULL if full else QUICK
        settings = self._settings(full=full, seconds=seconds)
        if full:  # In a fresh process, and with the arrays elsewhere than the time before.
            self._finals += 1
            self._runner.close()
        turns = self._turns
        alone = full or self.settings.threads > 1
        turns.beside = 0 if alone else usable_cores() - 1
        warm = self._warmer.submit(self._prepare, settings)
        reigns = self._threads.submit(self._build_reigning, against, level)
        asked = [
            self._threads.submit(self._build, each, level, deadline, counted) for each in batch
        ]
        first = reigns.result()
        if isinstance(first, TrialOutcome):
            raise IRKitError(
                f"the schedule that {self.task.name!r} has without tuning cannot be compiled: "
                f"{first.verdict}: {first.message}"
            )
        with suppress(ChildDied):  # The first race tries again, and says what is wrong.
            warm.result()
        if self._noise is None:
            with turns.racing():
                self._noise = self._noise_of(first, settings)
        made: list[TrialOutcome] = []
        for values, future in zip(batch, asked, strict=True):
            code = future.result()
            raced = worth is None or isinstance(code, TrialOutcome) or worth(values, _built(code))
            made.append(
                self._raced(code, first, settings, deadline)
                if raced
                else TrialOutcome("skipped", message="it is not expected to win")
            )
        return made

    def _settings(self, *, full: bool, seconds: float) -> TrialSettings:
        return TrialSettings(
            threads=self.settings.threads,
            flush=self.settings.flush,
            seed=self.settings.seed,
            pairs=_FULL_PAIRS if full else 15,
            fewest=_FULL_FEWEST if full else 3,
            seconds=seconds,
            stop_early=not full,
            paged=full and self._finals % 2 == 0,
            all_inputs=full,
        )

    @property
    def noise(self) -> float:
        """By how much the schedule to beat differed from itself, as a share."""
        return self._noise or 0.0

    def _build_reigning(self, values: Values, level: int) -> CandidateCode | TrialOutcome:
        """Build what candidates are compared with, again if the machine had no time for it."""
        for _ in range(_AGAIN):
            made = self._build(values, level, None)
            if isinstance(made, CandidateCode) or made.verdict != "time-out":
                return made
            del self._codes[key_of(values), level]
        return self._build(values, level, None)

    def _build(
        self, values: Values, level: int, deadline: float | None, counted: bool = False
    ) -> CandidateCode | TrialOutcome:
        key = key_of(values), level
        known = self._codes.get(key)
        if known is not None:
            return known
        if deadline is not None and time.monotonic() > deadline:
            return TrialOutcome("skipped", message="the time was up")
        worker = self._builders.get()
        started = time.perf_counter()
        try:
            with self._turns.building():
                started = time.perf_counter()
                made: CandidateCode | TrialOutcome = worker.call(
                    build_candidate, self._packed, values, level, self.settings.lower, counted
                )
        except Exception as error:  # Templates are a user's code: anything can come out of them.
            ms = (time.perf_counter() - started) * 1e3
            made = TrialOutcome(_verdict(error), Built(False, ms, level), message=_text(error))
        finally:
            self._builders.put(worker)
        self._codes[key] = made
        while len(self._codes) > _KEPT + 2 * len(self._workers):
            self._codes.popitem(last=False)
        return made

    def _raced(
        self,
        code: CandidateCode | TrialOutcome,
        against: CandidateCode,
        settings: TrialSettings,
        deadline: float | None,
    ) -> TrialOutcome:
        if isinstance(code, TrialOutcome):
            return code
        if deadline is not None and time.monotonic() > deadline:
            return TrialOutcome("skipped", message="the time was up")
        build = _built(code)
        try:
            with self._turns.racing():
                result = self._race(code, against, settings)
        except ChildDied as died:
            return TrialOutcome(_DEATHS[died.kind], build, message=died.message, worker=self._name)
        except IRKitError as error:
            return TrialOutcome("wrong", build, message=_text(error), worker=self._name)
        times = result.times
        measured = None
        if times is not None:
            ratio = times.ratio
            measured = Measured(
                times.first,
                times.second,
                ratio.middle,
                ratio.low,
                ratio.high,
                ratio.count,
                self.noise,
                settings.threads,
                settings.flush,
                result.load,
            )
        return TrialOutcome(
            result.found,
            build,
            result.checked,
            result.message,
            measured,
            machine_now(os.cpu_count() or 1),
            self._name,
            code.trace,
        )

    def _noise_of(self, code: CandidateCode, settings: TrialSettings) -> float:
        """Return by how much a schedule differs from itself."""
        for left in reversed(range(_AGAIN + 1)):
            try:
                result = self._race(code, code, settings)
                break
            except ChildDied as died:
                if died.kind == "timeout" and left:  # The machine had no time for it.
                    continue
                raise IRKitError(
                    f"the schedule that {self.task.name!r} has without tuning {died.message}"
                ) from None
        else:
            raise AssertionError("the last try returns or raises")
        if result.times is None:
            raise IRKitError(
                f"the schedule that {self.task.name!r} has without tuning is {result.found}: "
                f"{result.message}",
                hint="This is a mistake in irkit: irkit check finds the pass.",
            )
        return max(result.times.ratio.high, 1 / result.times.ratio.low) - 1

    def _race(
        self, code: CandidateCode, against: CandidateCode, settings: TrialSettings
    ) -> TrialResult:
        self._prepare(settings)
        return self._runner.call(race, self.task.hash, code, against, settings)

    def _prepare(self, settings: TrialSettings) -> None:
        """Start the runner, if it is not ready for this task: with what results must become."""
        if self._runner.calls >= _RENEWED:
            self._runner.close()
        if self._runner.child.start() != self._ready:
            self._runner.calls = 0
            if self._reference is None:
                worker = self._workers[0]
                self._reference = worker.call(build_reference, self._packed, self.settings.lower)
            func = self.task.func
            self._runner.call(prepare, self.task.hash, func, self._reference, settings)
            self._ready = self._runner.child.start()


def _built(code: CandidateCode) -> Built:
    mix = MIX_VERSION if code.counts else 0
    return Built(True, code.ms, code.opt_level, code.counts, mix)


class _Worker:
    """A child, replaced after many calls."""

    def __init__(self, limits: Limits, imports: Sequence[str]) -> None:
        self.child = Child(limits, imports=imports)
        self.calls = 0

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        if self.calls >= 2 * _RENEWED:
            self.close()
        self.calls += 1
        return self.child.call(function, *args)

    def close(self) -> None:
        self.calls = 0
        self.child.close()


def _verdict(error: Exception) -> VerdictKind:
    if isinstance(error, ScheduleError):
        return "refused"
    return _DEATHS[error.kind] if isinstance(error, ChildDied) else "build error"


def _text(error: Exception) -> str:
    text = error.message if isinstance(error, IRKitError) else f"{type(error).__name__}: {error}"
    return text[:2000]
