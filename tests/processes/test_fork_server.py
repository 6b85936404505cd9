"""Children that a server forks: quick, separate, and as good as spawned ones."""

import os
import random
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from irkit.processes import Child, ChildDied, Limits, isolate, run_in_fork
from irkit.processes.fork_server import (
    ForkedProcess,
    ForkServer,
    fork_server,
    prepare_forks,
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has the server")


def running_server() -> ForkServer:
    server = fork_server()
    assert server is not None
    return server


def test_a_child_starts_in_the_time_of_a_fork() -> None:
    isolate(os.getpid)
    taken: list[float] = []
    for _ in range(5):
        start = time.perf_counter()
        assert isolate(os.getppid) != os.getpid()
        taken.append(time.perf_counter() - start)
    assert min(taken) < 0.2  # A new interpreter takes more to import irkit.


def test_it_has_imported_what_this_process_has() -> None:
    with Child() as child:
        known = child.call(_modules)
    assert {name for name in sys.modules if name.startswith("irkit.")} <= known


def test_it_imports_what_is_asked_for_before_there_is_a_child() -> None:
    name = next(each for each in ("tabnanny", "zipapp", "pyclbr") if each not in sys.modules)
    prepare_forks([name, "irkit.no_such_module"])
    with Child() as child:
        assert name in child.call(_modules)
    assert name not in sys.modules


def _modules() -> set[str]:
    return set(sys.modules)


def test_another_environment_takes_another_interpreter() -> None:
    with Child(env={"PYTHONHASHSEED": "7"}) as child:
        assert child.call(hash, "x") != hash("x")
        assert child.call(os.getenv, "PYTHONHASHSEED") == "7"


def test_the_child_is_in_this_folder_and_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    isolate(os.getpid)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IRKIT_OF_THIS_TEST", "here")
    assert isolate(os.getcwd) == str(tmp_path)
    assert isolate(os.getenv, "IRKIT_OF_THIS_TEST") == "here"


def test_children_draw_other_random_numbers() -> None:
    drawn = [isolate(_drawn) for _ in range(3)]
    assert len({number for pair in drawn for number in pair}) == 6


def _drawn() -> tuple[float, float]:
    return random.random(), float(np.random.random())


@pytest.mark.parametrize("end", [signal.SIGSEGV, signal.SIGKILL, 0, 3])
def test_how_it_ended_is_known(end: int) -> None:
    with Child() as child:
        number = child.call(os.getpid)
        with pytest.raises(ChildDied) as caught:
            child.call(_end, end)
        assert caught.value.exit_code == (-end if end > 3 else end)
        assert child.call(os.getpid) != number
        assert child.starts == 2


def _end(how: int) -> None:
    if how > 3:
        os.kill(os.getpid(), how)
    os._exit(how)


@pytest.mark.long
def test_a_server_that_is_lost_is_replaced() -> None:
    with Child(Limits(20)) as child:
        number = child.call(os.getppid)
        os.kill(number, signal.SIGKILL)
        with pytest.raises(ChildDied):
            child.call(time.sleep, 10)
        assert child.call(os.getppid) not in (number, os.getpid())


def test_a_fork_of_this_process_has_a_server_of_its_own() -> None:
    mine = isolate(os.getppid)
    theirs = int(run_in_fork(lambda: str(isolate(os.getppid)).encode(), Limits(30)))
    assert theirs != mine
    assert isolate(os.getppid) == mine


def test_many_threads_start_and_end_children_at_once() -> None:
    with ThreadPoolExecutor(8) as pool:
        numbers = list(pool.map(partial(isolate, abs), range(-40, 0)))
    assert numbers == list(range(40, 0, -1))


def test_nothing_of_an_ended_child_is_left() -> None:
    isolate(os.getpid)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        isolate(os.getpid)
    assert len(os.listdir("/proc/self/fd")) == before
    server = isolate(os.getppid)
    assert len(os.listdir(f"/proc/{server}/fd")) < 12


def test_killing_an_ended_process_does_nothing() -> None:
    with Child() as child:
        child.call(os.getpid)
        process = child._process  # pyright: ignore[reportPrivateUsage]
        assert process is not None
        popen = process.popen
        assert isinstance(popen, ForkedProcess)
        assert popen.poll() is None
        popen.kill()
        assert popen.wait(10) == -signal.SIGKILL
        popen.kill()
        assert popen.poll() == -signal.SIGKILL
        assert running_server().is_usable
