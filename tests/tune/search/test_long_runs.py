"""Searches that take minutes: thousands of candidates that crash, runs that are killed."""

import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from irkit.tune import Bench, BenchSettings, read_records
from tests.tune.measure.test_bench import faulty

pytestmark = pytest.mark.long


def test_ten_thousand_candidates_a_tenth_of_which_crash_leave_memory_flat() -> None:
    memory: list[int] = []
    # The limit is long, for somebody may stop this process for minutes.
    with Bench(faulty(), BenchSettings(jobs=2, seconds=3600.0)) as bench:
        for batch in range(625):
            asked = [
                {"fault": "crash" if number % 10 == 0 else "none", "number": number}
                for number in range(16 * batch, 16 * batch + 16)
            ]
            found = bench.run(asked, {}, seconds=0.0)
            wanted = ["crash" if each["fault"] == "crash" else "ok" for each in asked]
            assert [each.verdict for each in found] == wanted
            memory.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        running = [each.child for each in (*bench._workers, bench._runner)]
    assert all(each._process is None for each in running)
    assert memory[-1] < memory[len(memory) // 4] * 1.1


CODE = """
import sys
from irkit import tune
from tests.tune.programs import nearest
known = tune.read_records(sys.argv[1])
with tune.RecordFile(sys.argv[1]) as file:
    way = tune.Local(seconds=3600.0)
    tune.tune(tune.task(nearest(48, 64, 32)), trials=400, measure=way, records=file, known=known)
"""


def test_a_run_that_is_killed_at_any_time_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "r"
    path.touch()
    before = 0
    for number in range(1, 6):
        run = subprocess.Popen([sys.executable, "-c", CODE, str(path)])
        while len(read_records(path).candidates) < before + 7 * number:
            assert run.poll() is None
            time.sleep(0.01)
        time.sleep(0.07 * number)
        run.send_signal(signal.SIGKILL)
        run.wait()
        found = read_records(path)
        assert not found.damaged
        named = {each.id for each in found.candidates}
        assert len(named) == len(found.candidates) >= before + 7 * number
        before = len(named)
    assert not _children_of(run.pid)


def _children_of(pid: int) -> list[str]:
    """Return the processes that a process which is gone has left."""
    listed = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True)
    return [line for line in listed.stdout.splitlines() if line.split()[1] == str(pid)]
