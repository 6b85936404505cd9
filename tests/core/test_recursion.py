"""Tests for the guard around recursive visitors."""

import os
import sys
import threading

import pytest

from irkit.core import deep_recursion


def _depth(n: int) -> int:
    return 0 if n == 0 else 1 + _depth(n - 1)


def _in_thread(body: threading.Thread) -> None:
    body.start()
    body.join()


def test_a_visitor_recurses_far_below_the_ordinary_limit() -> None:
    before = sys.getrecursionlimit()
    with deep_recursion:
        assert _depth(300_000) == 300_000
    assert sys.getrecursionlimit() == before


def test_it_does_so_in_a_thread() -> None:
    found: list[int] = []

    def body() -> None:
        with deep_recursion:
            found.append(_depth(300_000))

    _in_thread(threading.Thread(target=body))
    assert found == [300_000]


def test_the_limit_comes_back_after_an_error_and_after_nesting() -> None:
    before = sys.getrecursionlimit()
    with pytest.raises(ValueError, match="inside"), deep_recursion, deep_recursion:
        raise ValueError("inside")
    assert sys.getrecursionlimit() == before
    with pytest.raises(RecursionError):
        _depth(before + 10)


def test_the_last_thread_to_leave_puts_the_limit_back() -> None:
    before = sys.getrecursionlimit()
    inside, leave = threading.Event(), threading.Event()

    def body() -> None:
        with deep_recursion:
            inside.set()
            leave.wait(10)

    other = threading.Thread(target=body)
    with deep_recursion:
        other.start()
        assert inside.wait(10)
    assert sys.getrecursionlimit() > before
    leave.set()
    other.join()
    assert sys.getrecursionlimit() == before


def test_a_limit_that_was_changed_meanwhile_is_left_alone() -> None:
    before = sys.getrecursionlimit()
    try:
        with deep_recursion:
            sys.setrecursionlimit(before + 5)
        assert sys.getrecursionlimit() == before + 5
    finally:
        sys.setrecursionlimit(before)


def test_it_is_a_decorator_too() -> None:
    @deep_recursion
    def entry(n: int) -> int:
        return _depth(n)

    assert entry(50_000) == 50_000


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_does_not_wait_for_threads_that_it_does_not_have() -> None:
    before = sys.getrecursionlimit()
    inside, leave = threading.Event(), threading.Event()

    def body() -> None:
        with deep_recursion:
            inside.set()
            leave.wait(10)

    other = threading.Thread(target=body)
    other.start()
    assert inside.wait(10)
    child = os.fork()
    if child == 0:
        at_fork = sys.getrecursionlimit()
        with deep_recursion:
            raised = sys.getrecursionlimit() > before
        os._exit(0 if at_fork == before and raised and sys.getrecursionlimit() == before else 1)
    leave.set()
    other.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
