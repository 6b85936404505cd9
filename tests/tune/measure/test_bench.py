from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from irkit.core import IRKitError
from irkit.tune import Bench, BenchSettings, Distributed, Local, Task, TrialOutcome, task
from irkit.tune.measure.trial import TrialSettings, _Placed
from irkit.tune.records import VerdictKind
from tests.tune.measure.faulty_space import FaultySpace
from tests.tune.programs import product

FAULTS: dict[str, VerdictKind] = {
    "crash": "crash",
    "hang": "time-out",
    "leak": "memory",
    "refused": "refused",
    "wrong": "wrong",
    "unwritten": "nan",
    "outside": "out of bounds",
}


def faulty() -> Task:
    func = product(9, 16, 5)
    plain = task(func)
    assert hasattr(plain.space, "machine")
    return Task("faulty", func, FaultySpace(func, plain.space.machine))


@pytest.fixture(scope="module")
def outcomes() -> Iterator[dict[str, TrialOutcome]]:
    settings = BenchSettings(seconds=2.0, memory=2 << 30)
    with Bench(faulty(), settings) as bench:
        batch = [{"fault": name} for name in (*FAULTS, "none")]
        yield dict(zip((*FAULTS, "none"), bench.run(batch, {}, seconds=0.02), strict=True))


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_has_its_verdict(outcomes: dict[str, TrialOutcome], name: str) -> None:
    assert outcomes[name].verdict == FAULTS[name], outcomes[name].message
    assert outcomes[name].measure is None
    assert outcomes[name].message


def test_what_comes_after_faults_is_measured(outcomes: dict[str, TrialOutcome]) -> None:
    found = outcomes["none"]
    assert found.verdict == "ok"
    assert "all bits" in found.checked
    assert found.measure is not None
    assert found.measure.low <= found.measure.ratio <= found.measure.high
    assert found.machine is not None


def test_a_bench_leaves_no_process_behind() -> None:
    bench = Bench(faulty(), BenchSettings(jobs=2))
    with bench:
        bench.run([{"fault": "crash"}, {}], {}, seconds=0.0)
        processes = [each.child for each in (*bench._workers, bench._runner)]
        running = [each._process for each in processes if each._process is not None]
        assert running
    assert all(each.popen.poll() is not None for each in running)


def test_a_default_that_cannot_be_compiled_is_an_error() -> None:
    with Bench(faulty(), BenchSettings()) as bench, pytest.raises(IRKitError, match="not legal"):
        bench.run([{}], {"fault": "refused"})


def test_finalists_have_their_steps_and_their_instructions() -> None:
    func = product(48, 64, 32)
    with Local().session(task(func)) as session:
        (found,) = session.run([{}], {}, full=True, seconds=0.02)
        (quick,) = session.run([{}], {}, seconds=0.01)
    assert found.verdict == quick.verdict == "ok"
    assert quick.checked == "whole numbers, all bits"
    assert found.checked == "whole numbers, all bits; fractions, within rounding"
    assert b'"irkit_schedule"' in found.trace
    assert found.build.opt_level == 3
    assert found.build.counts


def test_each_last_race_is_in_a_fresh_process_with_the_arrays_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given: list[TrialSettings] = []
    processes: list[int] = []

    def noted(bench: Bench, *codes: Any) -> Any:
        given.append(codes[-1])
        found = _race(bench, *codes)
        processes.append(bench._runner.child.starts)
        return found

    _race = Bench._race
    monkeypatch.setattr(Bench, "_race", noted)
    with Bench(faulty(), BenchSettings()) as bench:
        for full in (False, True, True):
            bench.run([{}], {}, full=full, seconds=0.01)
    assert [each.paged for each in given[-3:]] == [False, True, False]
    assert given[-1].fewest > given[-3].fewest
    assert processes[-3:] == [1, 2, 3]


def test_arrays_begin_where_they_are_wanted() -> None:
    for place in (16, 64 * 17):
        placed = _Placed(np.zeros(100, np.float32), place)
        assert placed.address % 4096 == place
        placed.poison()
        assert placed.is_guarded
        placed._bytes[placed.end] ^= 1
        assert not placed.is_guarded


def test_any_executor_will_do() -> None:
    with (
        ThreadPoolExecutor(1) as threads,
        Distributed(threads, BenchSettings(seconds=20.0)).session(faulty()) as session,
    ):
        found = session.run([{"fault": "wrong"}, {}], {}, seconds=0.02)
    assert [each.verdict for each in found] == ["wrong", "ok"]


def test_a_scheduler_elsewhere_without_tls_is_a_warning() -> None:
    with pytest.warns(UserWarning, match="TLS"):
        Distributed("tcp://192.0.2.7:8786")
    Distributed("127.0.0.1:8786")
    Distributed("tls://192.0.2.7:8786")


def test_no_processes_cannot_build() -> None:
    with pytest.raises(IRKitError, match="expected at least 1"):
        Local(jobs=0)
