"""Forked children that never end are gone when the process that waits for them is."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from irkit.core import IRKitError
from irkit.fuzz.nursery import Nursery, Order, source_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")
ENDLESS = "irkit.passes.loop.remove_no_ops"
# A process that waits for one that waits for a fork which never ends; each says who it is.
WAITING = """
import os, subprocess, sys
if len(sys.argv) == 1:
    child = subprocess.Popen([sys.executable, __file__, "again"], stdin=subprocess.PIPE)
    child.wait()
    sys.exit()
asked = os.getppid()
from irkit.fuzz.forking import end_with, listen
reading, writing = os.pipe()
me, fork = os.getpid(), os.fork()
if fork == 0:
    {end_with}
    while True:
        pass
print(me, fork, flush=True)
os.close(writing)
listen(reading, 50.0, asked)
{after}
"""


def is_there(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def gone(processes: list[int], seconds: float = 20.0) -> bool:
    """Wait until processes are gone; end those that are not."""
    until = time.monotonic() + seconds
    while any(map(is_there, processes)) and time.monotonic() < until:
        time.sleep(0.05)
    left = [process for process in processes if is_there(process)]
    for process in left:
        with suppress(OSError):
            os.kill(process, signal.SIGKILL)
    return not left


def forks_of(process: int) -> list[int]:
    """Wait until a process has children."""
    until = time.monotonic() + 30.0
    while time.monotonic() < until:
        found = Path(f"/proc/{process}/task/{process}/children").read_text().split()
        if found:
            return [int(each) for each in found]
        time.sleep(0.05)
    raise AssertionError("it forks nothing")


def test_a_change_that_never_ends_is_gone_with_its_nursery() -> None:
    nursery = Nursery(0, -1)
    changed = Order(ENDLESS, "while True: pass\n" + source_of(ENDLESS), seconds=60.0)
    said: list[str] = []

    def ask() -> None:
        try:
            nursery.try_out(changed)
        except IRKitError as error:
            said.append(str(error))

    process = nursery.process.pid
    thread = threading.Thread(target=ask)
    thread.start()
    try:
        forks = forks_of(process)
        os.kill(process, signal.SIGKILL)
        assert gone(forks)
    finally:
        thread.join()
        nursery.close()
    assert said == ["the process that tries changed passes has ended"]


@pytest.mark.parametrize(
    ("end_with", "after"),
    [
        ("end_with(me)", ""),  # The fork ends with the one that listens.
        ("pass", "os.kill(fork, 9)"),  # The one that listens hears that nobody waits for it.
    ],
)
def test_who_waits_for_a_fork_ends_with_who_asked(
    tmp_path: Path, end_with: str, after: str
) -> None:
    script = tmp_path / "waiting.py"
    script.write_text(WAITING.format(end_with=end_with, after=after))
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, text=True, env=env
    ) as asked:
        assert asked.stdout is not None
        processes = [int(each) for each in asked.stdout.readline().split()]
        asked.kill()
        assert len(processes) == 2
        assert gone(processes)
