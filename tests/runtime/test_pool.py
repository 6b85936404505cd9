"""The thread pool: number of threads, concurrent callers, fork, idling, and exit."""

import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import irkit
from irkit.core import IRKitError, Target
from irkit.graph import Builder, tensor_type
from irkit.ir import PrimFunc, parse
from irkit.runtime import Kernel, compile_functions, num_threads, set_num_threads
from tests.draws import sampled
from tests.runtime.models import kernel, module

ROWS = """
def f(A: i64[n, m], C: i64[n, m], k: i64):
    for i in parallel(0, n):
        for j in serial(0, m):
            C[i, j] = A[i, j] * k + i
"""


@pytest.fixture(autouse=True)
def four_threads() -> Iterator[None]:
    before = num_threads()
    set_num_threads(4)
    yield
    set_num_threads(before)


def compiled(text: str = ROWS) -> Kernel:
    func = parse(text)
    assert isinstance(func, PrimFunc)
    return compile_functions({"f": func}, Target(opt_level=1))["f"]


def rows(count: int = 64, width: int = 100) -> Any:
    return np.arange(count * width).reshape(count, width)


def right(run: Kernel, k: int, a: Any) -> bool:
    c = np.zeros_like(a)
    run(a, c, k)
    return np.array_equal(c, a * k + np.arange(len(a))[:, None])


def workers() -> int:
    """Count the threads of the pool: only they block all signals but those of a crash."""
    masks = [_blocked(task) for task in Path("/proc/self/task").iterdir()]
    return sum(_holds(mask, signal.SIGINT, signal.SIGTERM, signal.SIGUSR1) for mask in masks)


def _blocked(task: Path) -> int:
    (line,) = (x for x in (task / "status").read_text().splitlines() if x.startswith("SigBlk"))
    return int(line.split()[1], 16)


def _holds(mask: int, *signals: int) -> bool:
    return all(mask >> (number - 1) & 1 for number in signals)


def script(text: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", f"ROWS = '''{ROWS}'''\n" + text],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


BUILD = """
import numpy as np
from irkit.core import Target
from irkit.ir import parse
from irkit.runtime import compile_functions, num_threads, set_num_threads
run = compile_functions({"f": parse(ROWS)}, Target(opt_level=1))["f"]
a = np.arange(640).reshape(64, 10)
c = np.zeros_like(a)
run(a, c, 3)
assert np.array_equal(c, a * 3 + np.arange(64)[:, None])
"""


def test_the_number_of_threads_can_be_set() -> None:
    for count in (1, 3, 2):
        set_num_threads(count)
        assert num_threads() == count
        assert right(compiled(), 5, rows())


@pytest.mark.parametrize("count", [0, -1, 513, 2.0, True, "2"])
def test_an_invalid_number_of_threads_is_rejected(count: Any) -> None:
    with pytest.raises(IRKitError, match="whole number from 1 to 512, found"):
        set_num_threads(count)
    assert num_threads() == 4


def test_the_environment_sets_the_number_of_threads() -> None:
    told = script(BUILD + "print(num_threads())", IRKIT_NUM_THREADS=" 3 ")
    assert told.stdout == "3\n", told.stderr
    unset = script(BUILD + "print(num_threads())", IRKIT_NUM_THREADS="")
    assert unset.stdout == f"{len(os.sched_getaffinity(0))}\n", unset.stderr


@pytest.mark.parametrize("given", sampled(["0", "-2", "many", "1.5", "9" * 400, "\u0662"], every=3))
def test_an_invalid_environment_variable_is_an_error(given: str) -> None:
    done = script(BUILD, IRKIT_NUM_THREADS=given)
    assert "IRKIT_NUM_THREADS must be a whole number from 1 to 512, found" in done.stderr
    assert done.returncode == 1


def test_many_small_regions_in_a_row_are_correct() -> None:
    run, a = compiled(), rows(9, 3)
    start = time.perf_counter()
    assert all(right(run, k, a) for k in range(20_000))
    assert time.perf_counter() - start < 20


def test_eight_callers_at_once_get_correct_results() -> None:
    run, a = compiled(), rows()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda k: right(run, k, a), range(4000)))
    assert all(found)


def test_the_number_can_change_while_regions_run() -> None:
    run, a, done = compiled(), rows(), threading.Event()

    def change() -> None:
        count = 0
        while not done.is_set():
            count = count % 5 + 1
            set_num_threads(count)

    with ThreadPoolExecutor(3) as pool:
        changing = pool.submit(change)
        try:
            found = list(pool.map(lambda k: right(run, k, a), range(1000)))
        finally:
            done.set()
    changing.result()
    assert all(found)


def test_a_parent_and_its_forked_child_both_run_regions() -> None:
    run, a = compiled(), rows()
    assert right(run, 2, a)
    for _ in range(5):
        child = os.fork()
        if child == 0:
            good = all(right(run, k, a) for k in range(200))
            os._exit(0 if good and workers() == 3 else 1)
        assert all(right(run, k, a) for k in range(200))
        assert waited(child) == 0


def test_no_thread_of_the_pool_runs_at_a_fork() -> None:
    run, a = compiled(), rows()
    assert right(run, 2, a)
    assert workers() == 3
    child = os.fork()
    if child == 0:
        os._exit(0)
    assert workers() == 0
    assert waited(child) == 0


def test_a_child_forked_during_a_region_can_run_regions() -> None:
    run, a, done = compiled(), rows(), threading.Event()

    def busy() -> bool:
        big = rows(64, 20_000)
        return all(right(run, 3, big) for _ in iter(done.is_set, True))

    with ThreadPoolExecutor(1) as pool:
        going = pool.submit(busy)
        codes: list[int] = []
        for _ in range(10):
            time.sleep(0.003)
            child = forked()
            if child == 0:
                good = all(right(run, k, a) for k in range(50))
                os._exit(0 if good and len(os.listdir("/proc/self/task")) == 4 else 1)
            codes.append(waited(child))
        done.set()
        assert going.result()
    assert codes == [0] * 10


def forked() -> int:
    """Fork with other threads running, which Python warns about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def waited(child: int) -> int:
    """Wait up to 30 seconds for a child to end."""
    for _ in range(3000):
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -1


def test_idle_threads_sleep() -> None:
    run, a = compiled(), rows()
    assert right(run, 2, a)
    assert workers() == 3
    time.sleep(0.05)
    start = time.process_time()
    time.sleep(0.3)
    assert time.process_time() - start < 0.05
    assert right(run, 7, a)


def test_sleeping_threads_wake_for_a_region() -> None:
    run, big = compiled(), rows(64, 20_000)
    assert right(run, 2, big)
    helped = 0
    for _ in range(5):
        time.sleep(0.01)
        own, all_ = time.thread_time(), time.process_time()
        assert right(run, 3, big)
        helped += time.process_time() - all_ > 1.01 * (time.thread_time() - own)
    assert helped


def test_threads_get_no_signals_but_those_of_a_crash() -> None:
    assert right(compiled(), 2, rows())
    assert workers() == 3
    # A thread that is only just starting has all signals blocked, by the C library.
    for _ in range(1000):
        if not any(_holds(_blocked(t), signal.SIGSEGV) for t in Path("/proc/self/task").iterdir()):
            return
        time.sleep(0.01)
    raise AssertionError("a thread blocks the signal of a crash")


def test_fewer_threads_are_fewer_at_once() -> None:
    run, a = compiled(), rows()
    assert right(run, 2, a)
    before = workers()
    set_num_threads(2)
    assert workers() == before - 3
    assert right(run, 2, a)
    assert workers() == before - 2


def test_a_process_ends_with_threads_asleep_awake_or_at_work() -> None:
    at_work = """
import threading
big = np.zeros((64, 5_000_000), np.int64)
threading.Thread(target=lambda: run(big, np.zeros_like(big), 3), daemon=True).start()
"""
    for more in ("", "import time; time.sleep(0.1)", at_work):
        done = script(BUILD + "set_num_threads(4)\nrun(a, c, 3)\n" + more)
        assert (done.returncode, done.stderr) == (0, "")


def test_the_threads_end_before_the_process_does() -> None:
    text = """
import atexit, os
atexit.register(lambda: print(len(os.listdir("/proc/self/task"))))  # Runs last.
"""
    more = 'set_num_threads(4)\nrun(a, c, 3)\nprint(len(os.listdir("/proc/self/task")))'
    assert script(text + BUILD + more, OPENBLAS_NUM_THREADS="1").stdout == "4\n1\n"


def test_ctrl_c_reaches_python_while_threads_exist() -> None:
    text = (
        BUILD
        + "import os, signal, time\nset_num_threads(4)\nrun(a, c, 3)\n"
        + """
# Where tests run in the background, SIGINT is ignored from the start.
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(20)
except KeyboardInterrupt:
    run(a, c, 3)
    print("interrupted")
"""
    )
    start = time.perf_counter()
    done = script(text)
    assert done.stdout == "interrupted\n", done.stderr
    assert time.perf_counter() - start < 15


def test_an_object_from_the_cache_finds_the_pool_of_another_process(tmp_path: Path) -> None:
    for _ in range(2):
        done = script(BUILD, IRKIT_CACHE="1", IRKIT_CACHE_DIR=str(tmp_path))
        assert done.returncode == 0, done.stderr
        found = sorted(tmp_path.iterdir())
    assert len(found) == 3  # The kernel, its stub and the pool.


PARALLEL = """
def double(A: f32[8, 8], C: f32[8, 8]):
    for i in parallel(0, 8):
        for j in serial(0, 8):
            assert A[i, j] < f32(100.0), "too much"
            C[i, j] = A[i, j] + A[i, j]
"""


def test_models_run_parallel_loops_after_saving_and_report_errors(tmp_path: Path) -> None:
    b = Builder()
    x = b.param("x", (8, 8))
    y = b.invoke("double", x, type=tensor_type((8, 8)))
    model = irkit.compile(module(b.finish(y, outputs=("y",)), double=kernel(PARALLEL)))
    model.save(tmp_path / "m.irkit")
    for m in (model, irkit.load(tmp_path / "m.irkit")):
        x = np.arange(64, dtype=np.float32).reshape(8, 8)
        assert np.array_equal(m.run({"x": x})["y"], x + x)
        with pytest.raises(IRKitError, match="assertion 1"):
            m.run({"x": x * 2})
