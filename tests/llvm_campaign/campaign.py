"""Batches until the time is up, each in a child process, going on where the last run ended."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path

import msgspec

from tests.llvm_campaign.batches import BATCH, TARGETS, BatchResult, Find, run_batch

BATCH_SECONDS = 900.0


class State(msgspec.Struct):
    """What all runs in a folder have done. Units: seconds of all workers."""

    next_batch: int = 0
    programs: dict[str, int] = {}
    finds: int = 0
    seconds: float = 0.0

    def add(self, result: BatchResult) -> None:
        for name, count in result.ran.items():
            self.programs[name] = self.programs.get(name, 0) + count
        self.finds += len(result.finds)
        self.seconds += result.seconds


def read_state(folder: Path) -> State:
    """Return the state of a folder; a new one if it has none."""
    file = folder / "state.json"
    return msgspec.json.decode(file.read_bytes(), type=State) if file.exists() else State()


def write_state(folder: Path, state: State) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    new = folder / "state.json.new"
    new.write_bytes(msgspec.json.format(msgspec.json.encode(state)))
    new.replace(folder / "state.json")


def run_campaign(
    folder: Path,
    *,
    seconds: float,
    targets: Sequence[str] = tuple(TARGETS),
    first: int = 0,
    most: int | None = None,
    keep: Callable[[Find], object] = print,
) -> State:
    """Run batches in a child process until the time is up or ``most`` have run.

    ``first`` is the number of the first batch in a new folder. Each find goes to ``keep`` before
    the state is written, so that none is lost.
    """
    state = read_state(folder)
    state.next_batch = max(state.next_batch, first)
    end, done = time.monotonic() + seconds, 0
    pool = _pool()
    try:
        while time.monotonic() < end and (most is None or done < most):
            try:
                future = pool.submit(run_batch, state.next_batch, tuple(targets))
                result = future.result(BATCH_SECONDS)
            except (BrokenProcessPool, TimeoutError) as error:
                _stop(pool)
                pool = _pool()
                result = _dead(state.next_batch, error)
            for find in result.finds:
                keep(find)
            state.add(result)
            state.next_batch, done = state.next_batch + 1, done + 1
            write_state(folder, state)
    finally:
        _stop(pool)
    return state


def _dead(number: int, error: BaseException) -> BatchResult:
    """Return the find that LLVM ended, or never ended, on a batch."""
    text = f"batch {number}: LLVM ended or hung ({type(error).__name__})"
    return BatchResult(number, finds=[Find(number * BATCH, "", "", text)])


def _pool() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"))


def _stop(pool: ProcessPoolExecutor) -> None:
    for process in list(pool._processes.values()):
        process.kill()
    pool.shutdown(wait=False, cancel_futures=True)
