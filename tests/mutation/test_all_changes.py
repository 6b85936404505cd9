"""Fuzzing all changes reports what it had time for."""

import pytest

from tests.mutation.changes.mutant import Mutant
from tests.mutation.runs.all_changes import changes_of, fuzz_all_changes
from tests.mutation.trials.messages import FuzzOrder


def test_a_run_without_time_tested_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def started(*_: object, **__: object) -> None:
        raise AssertionError("a process is started")

    monkeypatch.setattr("subprocess.Popen", started)
    report, progress = list[str](), list[str]()
    order = FuzzOrder()
    code = fuzz_all_changes(order, report=report.append, progress=progress.append, seconds=0.0)
    assert (code, report) == (2, [])
    assert progress == [
        "stopped: the time is over",
        "error: nothing was tested: the time was too short for one change",
    ]


def test_a_run_that_is_cut_off_saw_a_sample_of_all() -> None:
    changes = changes_of(3)
    assert changes == changes_of(3) != changes_of(4)
    seeded = [change for change in changes[:60] if not isinstance(change, Mutant)]
    assert 20 <= len(seeded) < 60
    assert len({change.module for change in changes[:60]}) >= 30
