"""Calls in a child process: limits, threads, and the end of the process."""

import ctypes
import math
import os
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from irkit.core import IRKitError
from irkit.debug import ChildDied, isolate
from irkit.debug.processes.child import Child, Limits


def test_functions_run_in_their_own_process() -> None:
    assert isolate(math.gcd, 12, 18) == 6
    assert isolate(os.getpid) != os.getpid()
    with pytest.raises(ZeroDivisionError):
        isolate(divmod, 1, 0)
    with pytest.raises(ChildDied, match="SIGSEGV"):
        isolate(ctypes.string_at, 0)


def test_limits_must_be_positive() -> None:
    for seconds, memory in ((0, None), (-1, None), (math.nan, None), (None, 0)):
        with pytest.raises(IRKitError, match="expected more than 0"):
            Limits(seconds, memory)


def test_one_child_serves_many_threads_in_turn() -> None:
    with Child(Limits(seconds=20)) as child, ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda n: child.call(math.factorial, n), range(40)))
        assert made == [math.factorial(n) for n in range(40)]
        assert child.starts == 1


def test_a_child_whose_owner_is_collected_ends() -> None:
    child = Child(Limits())
    number = child.call(os.getpid)
    del child
    for _ in range(100):
        try:
            os.kill(number, 0)
        except ProcessLookupError:
            return
        time.sleep(0.02)
    pytest.fail("the process is still there")
