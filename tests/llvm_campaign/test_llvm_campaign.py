"""The campaign against LLVM finds what is known, and nothing else."""

import secrets
from collections.abc import Sequence
from pathlib import Path

import pytest

from irkit.codegen.wrapping_loops import without_cure
from tests.llvm_campaign.batches import (
    TARGETS,
    BatchResult,
    Find,
    case_of,
    executor,
    run_batch,
    run_cases,
)
from tests.llvm_campaign.campaign import State, run_campaign, write_state
from tests.llvm_campaign.programs import draw_program
from tests.llvm_campaign.reduction import keep

KNOWN_BAD = 15
"""The seed of a program that LLVM 22.1 makes wrong without the cure."""
MINUTES = 10


@pytest.fixture(autouse=True)
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IRKIT_CACHE", "0")


def here() -> Sequence[str]:
    return [name for name in TARGETS if not executor(name).missing]


def test_a_seed_draws_the_same_program() -> None:
    assert draw_program(3) == draw_program(3) != draw_program(4)


def test_most_programs_run_in_the_interpreter() -> None:
    cases = [case_of(seed, draw_program(seed)) for seed in range(20)]
    assert sum(case is not None for case in cases) >= 18


def test_a_few_programs_do_what_the_interpreter_does() -> None:
    result = run_batch(100, ["x86-64"], 4)
    assert result.finds == []
    assert result.ran["x86-64"] + result.refused == 4


def test_the_known_bug_is_seen_without_the_cure_only() -> None:
    case = case_of(KNOWN_BAD, draw_program(KNOWN_BAD))
    assert case is not None
    assert run_cases("x86-64", [case]) == [""]
    with without_cure():
        assert run_cases("x86-64", [case])[0]


def test_a_campaign_goes_on_where_it_ended(tmp_path: Path) -> None:
    state = State()
    state.add(BatchResult(0, {"x86-64": 50}, finds=[Find(7, "x86-64", "", "")], seconds=2.0))
    state.next_batch = 1
    write_state(tmp_path, state)
    assert run_campaign(tmp_path, seconds=0) == state
    assert run_campaign(tmp_path, seconds=0, first=9).next_batch == 9


@pytest.mark.long
def test_without_the_cure_the_bug_is_found_within_2000_programs(tmp_path: Path) -> None:
    finds = list[Find]()
    with without_cure():
        while not finds:
            state = run_campaign(
                tmp_path, seconds=900, targets=["x86-64"], most=1, keep=finds.append
            )
            assert state.programs["x86-64"] <= 2000
        folder = keep(finds[0], tmp_path)
    assert "loop-vectorize" in (folder / "pass.txt").read_text()
    shorter = (folder / "reduced.irs").read_text()
    assert len(shorter) < len(finds[0].text)
    assert "scevcheck" in (folder / "pass.ll").read_text()


@pytest.mark.long
def test_ten_minutes_find_nothing(tmp_path: Path) -> None:
    finds = list[Find]()
    first = secrets.randbelow(1_000_000)
    state = run_campaign(
        tmp_path, seconds=60 * MINUTES, targets=here(), first=first, keep=finds.append
    )
    assert finds == []
    assert min(state.programs.values()) >= 50
