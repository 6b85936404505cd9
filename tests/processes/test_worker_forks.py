"""Items are done in forks and here; what fails in a fork is left to the caller."""

import os
import time
from collections.abc import Callable

import pytest

from irkit.core import IRKitError
from irkit.processes import compile_jobs
from irkit.processes.worker_forks import side_by_side

HERE = os.getpid()


@pytest.fixture(autouse=True)
def forks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread by which pytest-xdist hears of its controller holds no locks."""
    monkeypatch.setattr("irkit.processes.worker_forks.can_fork", lambda: True)


def once_in_fork(work: Callable[[int], object]) -> Callable[[int], object]:
    """Return the work for forks: this process waits, so that they take the items."""

    def run(item: int) -> object:
        if os.getpid() == HERE:
            time.sleep(0.3)
        return work(item)

    return run


def test_all_items_are_done_by_several_processes() -> None:
    def work(item: int) -> tuple[int, int]:
        time.sleep(0.01)
        return item * item, os.getpid()

    heard: list[int] = []
    found = side_by_side(work, list(range(20)), 3, heard.append)
    assert {item: square for item, (square, _) in found.items()} == {i: i * i for i in range(20)}
    assert len({process for _, process in found.values()}) == 3
    assert sorted(heard) == list(range(20))


def test_large_results_come_back() -> None:
    found = side_by_side(once_in_fork(lambda item: bytes([item]) * 300_000), [1, 2, 3, 4], 2)
    assert found == {item: bytes([item]) * 300_000 for item in (1, 2, 3, 4)}


@pytest.mark.parametrize(
    "harm",
    [lambda: 1 // 0, lambda: os._exit(3), lambda: os.abort(), lambda: (_ for _ in ())],
    ids=["raises", "exits", "crashes", "cannot be pickled"],
)
def test_what_fails_in_a_fork_is_left_to_the_caller(harm: Callable[[], object]) -> None:
    def work(item: int) -> object:
        return harm() if os.getpid() != HERE else item

    found = side_by_side(once_in_fork(work), list(range(6)), 2)
    assert len(found) < 6
    assert all(value == item for item, value in found.items())


def test_what_fails_here_is_left_to_the_caller() -> None:
    def work(item: int) -> int:
        if os.getpid() == HERE:
            raise ValueError("here")
        time.sleep(0.01)
        return item

    assert len(side_by_side(work, list(range(50)), 2)) < 50


def test_an_interrupt_ends_the_forks() -> None:
    def work(item: int) -> int:
        if os.getpid() == HERE:
            raise KeyboardInterrupt
        time.sleep(60)
        return item

    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        side_by_side(work, list(range(4)), 2)
    assert time.monotonic() - start < 20


def test_a_fork_that_hangs_is_not_waited_for() -> None:
    def work(item: int) -> int:
        if os.getpid() != HERE:
            time.sleep(60)
        time.sleep(0.05)
        return item

    start = time.monotonic()
    assert len(side_by_side(work, list(range(4)), 2)) == 3
    assert time.monotonic() - start < 20


def test_one_process_or_one_item_is_the_callers_work() -> None:
    assert side_by_side(lambda item: item, [1, 2], 1) == {}
    assert side_by_side(lambda item: item, [1], 2) == {}


def test_the_environment_says_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IRKIT_COMPILE_JOBS", "3")
    assert compile_jobs() == 3
    monkeypatch.setenv("IRKIT_COMPILE_JOBS", "")
    assert compile_jobs() >= 1
    for wrong in ("0", "many", "-2"):
        monkeypatch.setenv("IRKIT_COMPILE_JOBS", wrong)
        with pytest.raises(IRKitError, match="IRKIT_COMPILE_JOBS is"):
            compile_jobs()
