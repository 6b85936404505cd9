"""A campaign: cases by number in worker processes that may crash, hang or eat all memory."""

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from irkit.fuzz.campaign import Campaign, CampaignPlan, Draw, case_processes, read_draw
from irkit.fuzz.campaign.case_processes import Runner
from irkit.fuzz.campaign.draw import draw_of
from irkit.fuzz.campaign.findings import MOST_OF_A_KIND, Finding
from irkit.fuzz.campaign.interrupts import undisturbed
from irkit.fuzz.campaign.page import as_page
from irkit.fuzz.campaign.summary import exit_code, summary, tested_nothing as why_nothing_was_tested
from irkit.fuzz.campaign.worker import data_of
from irkit.fuzz.judge import Outcome
from tests.fuzz.campaign import faults


def campaign_of(runner: Runner, folder: Path | None = None, **how: object) -> Campaign:
    plan = {"cases": 20, "seconds": None, "kinds": ("programs",), "folder": folder, **how}
    made = Campaign(CampaignPlan(**plan), runner)  # pyright: ignore[reportArgumentType]
    made.run()
    return made


def test_the_same_seed_gives_the_same_cases() -> None:
    kinds = ("programs", "schedules")
    draws = [draw_of(7, number, kinds, ()) for number in range(4)]
    assert [draw.kind for draw in draws] == ["programs", "schedules"] * 2
    first = draws[1].picks.below(1 << 30)
    assert first == draw_of(7, 1, kinds, ()).picks.below(1 << 30)
    assert first != draw_of(8, 1, kinds, ()).picks.below(1 << 30)


class Here:
    """Looks like a worker process, but runs in this one: it starts at once."""

    def __init__(self, *ignored: object, **also: object) -> None:
        self.closed = False

    def call(self, function: Callable[..., object], *args: object) -> object:
        assert not self.closed
        return function(*args)

    def close(self) -> None:
        self.closed = True

    stop = close


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("irkit.fuzz.campaign.case_processes.Child", Here)


@pytest.fixture
def not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip the retries, and with them the time that workers take to start."""
    monkeypatch.setattr("irkit.fuzz.campaign.case_processes.RETRIES", 0)


def test_cases_are_counted_findings_retried_and_nothing_is_left_behind(tmp_path: Path) -> None:
    campaign = campaign_of(faults.wrong_now_and_then, tmp_path, jobs=2, cases=60)
    assert campaign.tally.statuses == {"ok": 54, "mismatch": 6}
    assert campaign.findings.counted == {("mismatch at lowered", "simplify"): 6}
    assert len(campaign.findings.kept) == MOST_OF_A_KIND
    assert exit_code(campaign) == 1
    for finding in campaign.findings.kept:
        assert (finding.again, finding.tries) == (3, 3)
        assert read_draw(Path(finding.file)) == finding.draw
        text = Path(finding.file).read_text()
        assert "C[0] is 1, expected 2" in text
        assert f"# program {finding.draw.number}\n" in text
        assert f"irkit fuzz --replay {finding.file}" in text
    assert "came again 3 of 3 times" in summary(campaign)
    assert len(list(tmp_path.iterdir())) == MOST_OF_A_KIND
    assert campaign.plan.name not in case_processes._RUNNING  # pyright: ignore[reportPrivateUsage]


@pytest.mark.usefixtures("not_tried_again")
def test_a_crash_is_a_finding_with_its_tier_and_the_next_worker_goes_on(tmp_path: Path) -> None:
    campaign = campaign_of(faults.crash_in_native_code, tmp_path, cases=2)
    assert campaign.tally.statuses == {"crash": 2}
    assert campaign.tally.workers_lost == 2
    finding = campaign.findings.kept[0]
    assert finding.group == ("crash at O3", "code")  # Without native code it is right.
    assert "SIGSEGV" in finding.outcome.message
    assert read_draw(Path(finding.file)) == Draw("programs", 0, 0)
    assert "# the program" in Path(finding.file).read_text()


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize(("kind", "suffix"), [("text", ".irs"), ("onnx", ".onnx")])
def test_a_file_that_is_a_finding_is_kept_as_it_is(kind: str, suffix: str, tmp_path: Path) -> None:
    how = {"kinds": (kind,), "cases": 1, "shrink_seconds": 0}
    campaign = campaign_of(faults.fail_at_files, tmp_path, **how)
    (finding,) = campaign.findings.kept
    assert Path(finding.data_file).suffix == suffix
    assert Path(finding.data_file).read_bytes() == data_of(finding.draw.sample())
    assert read_draw(Path(finding.file)) == finding.draw


def test_an_undamaged_model_opens_in_the_inspector_and_a_damaged_one_does_not() -> None:
    for tier, opens in (("O3", True), ("damaged file", False)):
        finding = Finding(Draw("onnx", 0, 0), Outcome("mismatch", tier), data_file="found.onnx")
        assert ("each pass" in finding.commands) == opens


@pytest.mark.usefixtures("not_tried_again")
def test_a_case_that_does_not_end_or_takes_all_memory_is_stopped() -> None:
    campaign = campaign_of(faults.hang_or_fill_memory, cases=2, case_seconds=1.0, memory=1 << 29)
    assert campaign.tally.statuses == {"hang": 1, "memory": 1}


@pytest.mark.long
@pytest.mark.usefixtures("in_this_process")
def test_an_interrupted_campaign_keeps_its_counts(tmp_path: Path) -> None:
    plan = CampaignPlan(cases=1000, seconds=None, kinds=("programs",), folder=tmp_path)
    campaign = Campaign(plan, faults.wrong_now_and_then)

    def interrupt(running: Campaign) -> None:
        if running.tally.cases >= 5:
            raise KeyboardInterrupt

    campaign.run(interrupt)
    assert campaign.interrupted
    assert 5 <= campaign.tally.cases < 1000
    assert "interrupted" in summary(campaign)
    assert not list(tmp_path.glob("running*"))


def test_a_block_that_must_not_be_left_half_done_is_not_interrupted() -> None:
    before = signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # Not interrupted in the background.
    try:
        with undisturbed():
            os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("in_this_process")
def test_a_full_disk_is_reported_and_the_campaign_goes_on(tmp_path: Path) -> None:
    plan = CampaignPlan(cases=12, seconds=None, kinds=("programs",), folder=tmp_path / "findings")
    campaign = Campaign(plan, faults.wrong_now_and_then)

    def lose_the_folder(running: Campaign) -> None:
        shutil.rmtree(tmp_path / "findings", ignore_errors=True)

    campaign.run(lose_the_folder)
    assert campaign.tally.cases == 12
    assert len(campaign.findings.kept) == 2
    assert campaign.findings.kept[-1].file == ""
    assert "error: not all files could be written" in summary(campaign)
    assert "not all files could be written" in as_page(campaign)
    assert exit_code(campaign) == 1


def test_a_case_is_on_disk_before_it_runs(tmp_path: Path) -> None:
    plan = CampaignPlan(
        cases=1, seconds=None, kinds=("programs",), folder=tmp_path, case_seconds=30
    )
    campaign = Campaign(plan, faults.hang_or_fill_memory)
    seen: list[Draw] = []

    def look(running: Campaign) -> None:
        path = tmp_path / "running-0.toml"
        if path.exists() and path.read_text():
            seen.append(read_draw(path))
            raise KeyboardInterrupt

    campaign.run(look)
    assert seen == [Draw("programs", 0, 0)]


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize(
    ("runner", "how", "said"),
    [
        (faults.not_valid, {"cases": 100}, "only 80.0% of the cases were valid"),
        (faults.wrong_now_and_then, {"cases": None, "seconds": 1e-9}, "too few cases: 0"),
    ],
)
def test_a_campaign_that_tested_nothing_fails(
    runner: Runner, how: dict[str, object], said: str
) -> None:
    campaign = campaign_of(runner, **how)
    assert said in why_nothing_was_tested(campaign)
    assert exit_code(campaign) == 2


@pytest.mark.long
def test_it_survives_a_thousand_crashes_in_a_row(tmp_path: Path) -> None:
    campaign = campaign_of(faults.crash, tmp_path, cases=1000, jobs=os.cpu_count() or 1)
    assert campaign.tally.statuses == {"crash": 1000}
    assert len(campaign.findings.kept) == MOST_OF_A_KIND
    assert not list(tmp_path.glob("running*"))
