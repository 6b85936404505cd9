"""Clocks that are set while a search runs: what bounds it is how long it runs."""

import time
from itertools import count
from pathlib import Path

import pytest

from irkit.tune import RecordFile, read_records, task, tune
from tests.tune.programs import product
from tests.tune.search.simulated import Simulated, by_rows


@pytest.mark.parametrize("jump", [-1e9, 1e9])
def test_a_clock_that_is_set_changes_neither_the_time_nor_the_candidates(
    jump: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = task(product(32, 32, 32))
    steady = Simulated(by_rows)
    tune(small, trials=32, time=60.0, measure=steady)
    calls, real = count(), time.time
    monkeypatch.setattr(time, "time", lambda: real() + jump * next(calls))
    jumping, started = Simulated(by_rows), time.monotonic()
    with RecordFile(tmp_path / "r") as file:
        result = tune(small, trials=32, time=60.0, measure=jumping, records=file)
    assert jumping.seen == steady.seen
    assert len(set(jumping.seen)) == 32
    assert 0 <= result.seconds <= time.monotonic() - started
    found = read_records(tmp_path / "r")
    assert not found.damaged
    assert len(found.candidates) == len(result.records)
