"""Kinds of cases that judge one subsystem: they draw, they hold, and they find planted bugs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from irkit.codegen import emit_c
from irkit.core import Target
from irkit.debug.targets import compiled
from irkit.fuzz import KINDS, Outcome, judge, parse_sample
from irkit.fuzz.campaign import Draw
from irkit.fuzz.generators.sample import Numbered, SubsystemKind
from irkit.fuzz.generators.sample_file import sample_text
from irkit.fuzz.judge import SUBSYSTEMS, missing_for
from irkit.fuzz.judge.subsystems import equal_work, gradients, table, tune_records
from irkit.graph import GraphFunc, gradient, parse_module
from irkit.ir import PrimFunc
from irkit.phases import DEFAULT
from irkit.tune import Records, read_records

HERE = [kind for kind in SUBSYSTEMS if not missing_for(kind)]
FEW = {"c": 2, "devices": 2, "attention": 2, "takes": 4}
"""Cases of kinds that start another compiler, or compile a network."""


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


def found(kind: SubsystemKind, count: int) -> set[str]:
    return {each.symptom for each in outcomes(kind, count) if each.is_finding}


def test_a_wrong_operator_in_c_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(funcs: Sequence[PrimFunc], target: Target) -> str:
        return emit_c(funcs, target).replace(" + ", " - ")

    monkeypatch.setattr(compiled, "emit_c", wrong)
    assert found("c", 3) & {"mismatch at c", "failed at c"}


def test_a_record_that_is_lost_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def lossy(path: Path) -> Records:
        read = read_records(path)
        return msgspec.structs.replace(read, candidates=read.candidates[1:])

    monkeypatch.setattr(tune_records, "read_records", lossy)
    assert found("records", 4) == {"mismatch at records"}


def test_a_pass_that_is_left_out_is_found_by_its_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(equal_work, "DEFAULT", DEFAULT.without("simplify"))
    assert found("work", 8) == {"broken at work"}


def test_a_wrong_derivative_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(func: GraphFunc, *args: Any, **options: Any) -> GraphFunc:
        text = gradient(func, *args, **options).script().replace("cos(", "sin(")
        (made,) = parse_module(text).functions.values()
        assert isinstance(made, GraphFunc)
        return made

    monkeypatch.setattr(gradients, "gradient", wrong)
    assert "mismatch at gradients" in found("gradients", 10)
