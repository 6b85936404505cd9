"""A fork server leaves no process behind."""

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from irkit.core import IRKitError
from tests.mutation.changes.source import source_of
from tests.mutation.trials.fork_server import ForkServer, TrialOrder
from tests.processes.test_fork import gone

ENDLESS = "irkit.passes.loop.cleanup.remove_no_ops"


def forks_of(process: int) -> list[int]:
    """Wait until a process has children."""
    until = time.monotonic() + 30.0
    while time.monotonic() < until:
        found = Path(f"/proc/{process}/task/{process}/children").read_text().split()
        if found:
            return [int(each) for each in found]
        time.sleep(0.05)
    raise AssertionError("it forks nothing")


@pytest.mark.long
def test_a_change_that_never_ends_is_gone_with_its_server() -> None:
    server = ForkServer(0, -1)
    changed = TrialOrder(ENDLESS, "while True: pass\n" + source_of(ENDLESS), seconds=60.0)
    said: list[str] = []

    def ask() -> None:
        try:
            server.try_out(changed)
        except IRKitError as error:
            said.append(str(error))

    process = server.process
    thread = threading.Thread(target=ask)
    thread.start()
    try:
        forks = forks_of(process)
        os.kill(process, signal.SIGKILL)
        assert gone(forks)
    finally:
        thread.join()
        server.close()
    assert said == ["the process that tries changed passes has ended"]
