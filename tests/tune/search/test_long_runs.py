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
    with Bench(faulty(), BenchSettings(jobs=2)) as bench:
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
with tune.RecordFile(sys.argv[1]) as file:
    tune.tune(tune.task(nearest(48, 64, 32)), trials=400, records=file)
"""


def test_a_run_that_is_killed_at_any_time_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "r"
    for seconds in (2.0, 3.1, 4.3):
        run = subprocess.Popen([sys.executable, "-c", CODE, str(path)])
        time.sleep(seconds)
        run.send_signal(signal.SIGKILL)
        run.wait()
    found = read_records(path)
    assert not found.damaged
    assert found.candidates
