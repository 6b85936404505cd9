"""Kinds of cases that judge one subsystem: they draw, they hold, and they find planted bugs."""

from typing import get_args

import pytest

from irkit.fuzz import KINDS, Outcome, judge, parse_sample
from irkit.fuzz.campaign import Draw
from irkit.fuzz.generators.sample import Numbered, SubsystemKind
from irkit.fuzz.generators.sample_file import sample_text
from irkit.fuzz.judge import SUBSYSTEMS, missing_for
from irkit.fuzz.judge.subsystems import table

HERE = [kind for kind in SUBSYSTEMS if not missing_for(kind)]
FEW = {"c": 2, "devices": 2}
"""Cases of kinds that start another compiler."""


def outcomes(kind: SubsystemKind, count: int, seed: int = 3) -> list[Outcome]:
    SUBSYSTEMS[kind].prepare()
    return [judge(Draw(kind, seed, number).sample()) for number in range(count)]


def test_each_subsystem_has_a_row() -> None:
    assert set(SUBSYSTEMS) == set(get_args(SubsystemKind)) <= set(KINDS)


@pytest.mark.parametrize("kind", HERE)
def test_drawn_cases_are_right(kind: SubsystemKind) -> None:
    made = outcomes(kind, FEW.get(kind, 10))
    assert [each.message for each in made if each.is_finding] == []
    assert sum(each.ok for each in made) > len(made) / 2


def test_a_case_reads_back_from_its_text() -> None:
    sample = Draw("calls", 1, 2).sample()
    again = parse_sample(sample_text(sample, {}))
    assert isinstance(sample.ir, Numbered)
    assert (again.kind, again.ir) == (sample.kind, sample.ir)


def test_zeros_are_the_simplest_choices() -> None:
    picks = Numbered((1 << 19,)).picks
    assert [picks.below(10), picks.below(10), picks.below(7)] == [5, 0, 0]


def test_what_is_not_installed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    row = table.Subsystem(table.SUBSYSTEMS["torch"].check, package="no_torch", remedy="get it")
    monkeypatch.setitem(table.SUBSYSTEMS, "torch", row)
    assert missing_for("torch") == "no_torch is not installed: get it"
    outcome = judge(Draw("torch", 1, 1).sample())
    assert (outcome.status, outcome.message) == ("invalid", missing_for("torch"))
