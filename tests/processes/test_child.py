"""Calls in a child process: limits, threads, and the end of the process."""

import ctypes
import importlib
import math
import os
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from irkit.core import IRKitError
from irkit.processes import Child, ChildDied, Limits, isolate, report
from tests.processes.test_fork import gone


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


def test_what_is_imported_for_a_call_takes_none_of_its_memory() -> None:
    assert isolate(np.sum, [1, 2], memory=1 << 26) == 3
    with pytest.raises(ChildDied, match="needed more than 64 MiB") as caught:
        isolate(np.ones, 1 << 27, memory=1 << 26)
    assert caught.value.kind == "memory"


def test_one_child_serves_many_threads_in_turn() -> None:
    with Child(Limits(seconds=20)) as child, ThreadPoolExecutor(4) as pool:
        made = list(pool.map(partial(child.call, math.factorial), range(40)))
        assert made == [math.factorial(n) for n in range(40)]
        assert child.starts == 1


def crash_while(what: str) -> None:
    report(what)
    ctypes.string_at(0)


def test_the_last_report_is_known_during_a_call_and_after_a_crash() -> None:
    with Child(Limits(seconds=20)) as child, ThreadPoolExecutor(1) as pool:
        assert child.report == ""
        with pytest.raises(ChildDied, match="SIGSEGV") as caught:
            child.call(crash_while, "é" * 5000)
        assert caught.value.report.startswith("é" * 2000)
        with pytest.raises(ChildDied, match="SIGSEGV") as caught:
            child.call(crash_while, "short")
        assert caught.value.report == "short"
        assert "crash_while" in caught.value.traceback
        child.call(report, "left over")
        assert child.report == "left over"
        made = pool.submit(child.call, time.sleep, 0.5)
        while child.report == "left over":
            assert not made.done()
            time.sleep(0.01)
        assert child.report == ""


def test_a_call_whose_child_is_closed_by_another_thread_says_so() -> None:
    for end in (Child.close, Child.stop):
        with Child(Limits(seconds=60)) as child, ThreadPoolExecutor(1) as pool:
            child.call(math.gcd, 1, 2)
            made = pool.submit(child.call, time.sleep, 60)
            time.sleep(0.2)
            end(child)
            with pytest.raises(ChildDied, match="was stopped"):
                made.result(timeout=20)
    with pytest.raises(ChildDied, match="was stopped"):
        child.call(math.gcd, 1, 2)


class Unreadable:
    """A value that pickles but cannot be read."""

    def __reduce__(self) -> tuple[object, ...]:
        return divmod, (1, 0)


def test_a_result_that_cannot_be_read_is_the_death_of_the_child() -> None:
    with Child() as child:
        with pytest.raises(ChildDied, match="returned what cannot be read: ZeroDivisionError"):
            child.call(Unreadable)
        assert child.call(math.gcd, 4, 6) == 2
        assert child.starts == 2


def test_tracebacks_are_cut_at_a_file() -> None:
    for outer, cut in ((statistics.__file__, True), ("", False)):
        with Child(outer=outer) as child, pytest.raises(TypeError) as caught:
            child.call(statistics.mean, [1, None])
        last = str(caught.value.__cause__).split("Traceback ")[-1]
        assert "statistics.py" in last
        assert ("child_main.py" not in last) == cut


PARENT = """
import os
from irkit.processes import Child
child = Child()
print(child.call(os.getpid), flush=True)
child.call(exec, "while True: pass")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")
def test_a_child_in_an_endless_loop_ends_with_its_parent() -> None:
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True, env=env
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.kill()
        assert gone([child])


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


def test_the_limit_is_on_the_call_and_not_on_the_start_of_the_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "slow_to_import.py").write_text(
        "import time\ntime.sleep(0.6)\ndef double(number):\n    return 2 * number\n"
    )
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr("irkit.processes.child._GRACE", 0.1)
    double = importlib.import_module("slow_to_import").double
    with Child(Limits(seconds=0.2)) as child:
        assert child.call(double, 21) == 42
