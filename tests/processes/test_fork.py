"""Forked children return their result or how they ended, and end with their parent."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from irkit.processes import ChildDied, Limits, TimeUp, report, run_in_fork, timeout


def test_a_fork_returns_its_result_or_how_it_ended() -> None:
    assert run_in_fork(lambda: b"x" * 300_000, Limits(30)) == b"x" * 300_000


def hang() -> bytes:
    report("first")
    report("sleep")
    time.sleep(60)
    return b""


@pytest.mark.parametrize(
    ("work", "kind", "said"),
    [
        (os.abort, "crash", "crashed its process with SIGABRT"),
        (hang, "timeout", "did not end within 0.5 s"),
        (lambda: bytes(1 << 30), "memory", "needed more than 256 MiB of memory"),
        (lambda: bytes(1 // 0), "crash", "raised ZeroDivisionError: "),
        (lambda: os._exit(3), "crash", "ended its process with exit code 3"),
    ],
)
def test_a_fork_that_dies_is_an_error(work: Callable[[], bytes], kind: str, said: str) -> None:
    with pytest.raises(ChildDied, match=said) as caught:
        run_in_fork(work, Limits(0.5, 1 << 28))
    assert caught.value.kind == kind
    assert caught.value.report == ("sleep" if work is hang else "")


def test_a_silent_fork_is_stopped_and_one_that_reports_goes_on() -> None:
    begun = time.monotonic()
    with pytest.raises(ChildDied, match="did not end") as caught:
        run_in_fork(hang, Limits(60), quiet=0.3)
    assert caught.value.report == "sleep"
    assert time.monotonic() - begun < 30

    def work() -> bytes:
        for number in range(10):
            report(str(number))
            time.sleep(0.1)
        return b"done"

    assert run_in_fork(work, Limits(60), quiet=0.9) == b"done"


def test_an_interrupted_call_leaves_no_fork_behind(tmp_path: Path) -> None:
    def work() -> bytes:
        (tmp_path / "pid").write_text(str(os.getpid()))
        time.sleep(60)
        return b""

    with pytest.raises(TimeUp), timeout(1.0):
        run_in_fork(work, Limits(60))
    assert gone([int((tmp_path / "pid").read_text())], 5.0)


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")
# A process that waits for one that waits for a fork which never ends; each prints its id.
WAITING = """
import os, subprocess, sys
if len(sys.argv) == 1:
    child = subprocess.Popen([sys.executable, __file__, "again"], stdin=subprocess.PIPE)
    child.wait()
    sys.exit()
parent = os.getppid()
from irkit.processes.fork import end_with_parent, listen
reading, writing = os.pipe()
me, fork = os.getpid(), os.fork()
if fork == 0:
    {end_with_parent}
    while True:
        pass
print(me, fork, flush=True)
os.close(writing)
listen(reading, 50.0, parent)
{after}
"""


def is_there(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def gone(processes: list[int], seconds: float = 20.0) -> bool:
    """Return True if processes end in time; kill those that do not."""
    until = time.monotonic() + seconds
    while any(map(is_there, processes)) and time.monotonic() < until:
        time.sleep(0.05)
    left = [process for process in processes if is_there(process)]
    for process in left:
        with suppress(OSError):
            os.kill(process, signal.SIGKILL)
    return not left


@pytest.mark.parametrize(
    ("end_with_parent", "after"),
    [
        ("end_with_parent(me)", ""),  # The fork ends with its parent.
        ("pass", "os.kill(fork, 9)"),  # The parent notices that nobody waits for it.
    ],
)
def test_a_process_that_waits_for_a_fork_ends_with_its_parent(
    tmp_path: Path, end_with_parent: str, after: str
) -> None:
    script = tmp_path / "waiting.py"
    script.write_text(WAITING.format(end_with_parent=end_with_parent, after=after))
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, text=True, env=env
    ) as parent:
        assert parent.stdout is not None
        processes = [int(each) for each in parent.stdout.readline().split()]
        parent.kill()
        assert len(processes) == 2
        assert gone(processes)
