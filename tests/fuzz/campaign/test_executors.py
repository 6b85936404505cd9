"""Campaigns on executors: threads, processes, and a cluster, with workers that die."""

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context

import pytest

from irkit.core import IRKitError
from irkit.fuzz.campaign import Campaign, CampaignPlan, DaskExecutor
from irkit.fuzz.campaign.case_processes import Runner
from tests.fuzz.campaign import faults

_PROCESSES = partial(ProcessPoolExecutor, mp_context=get_context("spawn"))


def plan_of(**how: object) -> CampaignPlan:
    plan = {"cases": 12, "seconds": None, "kinds": ("programs",), "shrink_seconds": 0, **how}
    return CampaignPlan(**plan)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("make", [ThreadPoolExecutor, _PROCESSES])
def test_every_executor_runs_the_same_cases(make: Callable[[int], Executor]) -> None:
    campaign = Campaign(plan_of(), faults.wrong_now_and_then, partial(make, 1))
    campaign.run()
    assert campaign.tally.statuses == {"ok": 10, "mismatch": 2}
    assert {found.draw.number for found in campaign.findings.kept} == {0, 10}
    assert all(found.again == found.tries == 3 for found in campaign.findings.kept)


@pytest.mark.long
def test_a_case_that_breaks_the_executor_is_a_finding_and_its_neighbours_are_not() -> None:
    campaign = Campaign(
        plan_of(jobs=2, cases=6), faults.kill_the_worker_at_three, partial(_PROCESSES, 2)
    )
    campaign.run()
    assert campaign.tally.statuses == {"ok": 5, "crash": 1}
    (found,) = campaign.findings.kept
    assert (found.draw.number, found.group) == (3, ("crash at worker", ""))
    assert campaign.tally.workers_lost == 1


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    import distributed

    with distributed.LocalCluster(  # pyright: ignore[reportUnknownMemberType]
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=60
    ) as made:
        yield made.scheduler_address


@pytest.mark.parametrize(
    ("runner", "statuses"),
    [
        pytest.param(faults.wrong_now_and_then, {"ok": 5, "mismatch": 1}, marks=pytest.mark.long),
        (faults.kill_the_worker_at_three, {"ok": 5, "crash": 1}),
    ],
)
def test_a_campaign_runs_on_a_cluster_and_loses_one_case_with_a_worker(
    cluster: str, runner: Runner, statuses: dict[str, int]
) -> None:
    plan = plan_of(cases=6, jobs=2)
    campaign = Campaign(plan, runner, lambda: DaskExecutor(cluster, plan.name))
    campaign.run()
    assert campaign.tally.statuses == statuses
    (found,) = campaign.findings.kept
    assert found.draw.number == (3 if "crash" in statuses else 0)
    assert campaign.tally.workers_lost == ("crash" in statuses)


def test_a_cluster_that_is_not_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("irkit.processes.dask_executor._CONNECT", 0.2)
    with pytest.raises(IRKitError, match=r"no dask scheduler answers at '127.0.0.1:9'"):
        DaskExecutor("127.0.0.1:9", "name")


def test_without_the_package_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(IRKitError, match="not installed") as caught:
        DaskExecutor("127.0.0.1:9", "name")
    assert "irkit[distributed]" in caught.value.hint
