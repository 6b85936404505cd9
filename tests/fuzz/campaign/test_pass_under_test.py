"""Cases of a campaign with a pass under test: aimed at it, and judged as `check_pass` judges it."""

import sys

import pytest

from irkit.fuzz.campaign import CaseOptions, Draw
from irkit.fuzz.campaign.worker import CaseResult, run_case
from irkit.fuzz.judge.invariants import UNDER_TEST
from tests.draws import few_or_all, sampled

OPTIONS = CaseOptions(native=False, invariants=(UNDER_TEST,))


def ran(path: str, cases: int, options: CaseOptions = OPTIONS) -> list[CaseResult]:
    draws = (Draw("programs", 5, number, (f"0:{path}",)) for number in range(cases))
    return [run_case(draw, options) for draw in draws]


@pytest.mark.parametrize(
    "path",
    sampled(
        [
            "tests.fuzz.check_pass.right_rules:reassociate",
            "tests.fuzz.check_pass.right_rules:factor_out",
            "tests.fuzz.check_pass.right_passes:interchange",
        ],
        every=3,
    ),
)
def test_a_right_pass_fires_and_gives_no_finding(path: str) -> None:
    native = CaseOptions(invariants=(UNDER_TEST,))
    outcomes = [*ran(path, few_or_all(7, 14)), *ran(path, few_or_all(1, 3), native)]
    name = path.rpartition(":")[2].replace("_", "-")
    assert [each.outcome.message for each in outcomes if each.outcome.is_finding] == []
    assert sum(name in each.outcome.fired for each in outcomes) >= few_or_all(1, 2)


@pytest.mark.parametrize(
    "path",
    sampled(
        [
            "tests.fuzz.check_pass.wrong_passes:lose_tail",
            "tests.fuzz.check_pass.bad_passes:interchange_extents",
            "tests.fuzz.check_pass.bad_passes:raise_limit",
        ],
        every=3,
    ),
)
def test_a_wrong_pass_is_found_and_named(path: str) -> None:
    limit = sys.getrecursionlimit()
    found = [each.outcome for each in ran(path, 10) if each.outcome.is_finding]
    assert found
    assert sys.getrecursionlimit() == limit
    assert {each.named for each in found} == {path.rpartition(":")[2].replace("_", "-")}
