"""What no case shows is weighed: does the change do anything, and is the place reached at all?"""

import pytest

from irkit.fuzz.mutation.mutants.mutant import Mutant
from irkit.fuzz.mutation.runner import FuzzOrder
from irkit.fuzz.mutation.runner.all_changes import changes_of, fuzz_all_changes


def test_a_hunt_that_had_no_time_tested_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def started(*_: object, **__: object) -> None:
        raise AssertionError("a process is started")

    monkeypatch.setattr("subprocess.Popen", started)
    report, progress = list[str](), list[str]()
    hunt = FuzzOrder()
    code = fuzz_all_changes(hunt, report=report.append, progress=progress.append, seconds=0.0)
    assert (code, report) == (2, [])
    assert progress == [
        "stopped: the time is over",
        "error: nothing was tested: the time was too short for one change",
    ]


def test_a_hunt_that_is_cut_off_saw_a_sample_of_all() -> None:
    games = changes_of(3)
    assert games == changes_of(3) != changes_of(4)
    planted = [game for game in games[:60] if not isinstance(game, Mutant)]
    assert 20 <= len(planted) < 60
    assert len({game.module for game in games[:60]}) >= 30
