"""Measuring on a cluster of this machine, with a worker that is killed."""

import os
from collections.abc import Iterator, Sequence

import pytest

from irkit.tune import BenchSettings, Distributed, TrialOutcome, tune
from irkit.tune.measure.distributed import _Chunk, measure_chunk
from irkit.tune.records import Values
from tests.tune.measure.test_bench import faulty


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    import distributed

    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=60
    ) as made:
        yield made.scheduler_address


def killing(chunk: _Chunk) -> list[TrialOutcome]:
    """Kill the worker of dask itself at one candidate."""
    if any(each.get("number") == 3 for each in chunk.batch):
        os._exit(1)
    return measure_chunk(chunk)


@pytest.mark.long
def test_a_worker_that_dies_loses_one_candidate(
    cluster: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("irkit.tune.measure.distributed.measure_chunk", killing)
    batch: Sequence[Values] = [{"number": number} for number in range(6)]
    with Distributed(cluster, BenchSettings()).session(faulty()) as session:
        found = session.run(batch, {}, seconds=0.01)
    assert [each.verdict for each in found] == ["ok", "ok", "ok", "crash", "ok", "ok"]
    assert found[0].machine is not None


@pytest.mark.long
def test_a_search_runs_on_a_cluster(cluster: str) -> None:
    from irkit.tune import task
    from tests.tune.programs import nearest

    result = tune(task(nearest(64, 64, 64)), trials=16, measure=Distributed(cluster))
    searched = [each for each in result.records if each.stage == "search"]
    assert len(searched) == 16
    assert len({each.worker for each in searched if each.worker}) == 2
