"""The law of zeros: after a step, a value that the function before may have."""

import pytest

from irkit.debug import Verdict
from tests.debug.check.verdict_of_pair import judged

PROGRAM = """
def f(A: f32[8], B: f32[8], C: f32[8]):
    for i in serial(0, 8):
        C[i] = {}
"""
NAN_AWARE = "select(A[i] < B[i] or isnan(A[i]), A[i], B[i])"


def status(before: str, after: str, attrs: str = "", kind: str = "f32") -> str:
    program = (attrs + PROGRAM).replace("C: f32", f"C: {kind}")
    return judged((program.format(before), program.format(after))).status


def proved(before: str, after: str) -> Verdict:
    return judged((PROGRAM.format(before), PROGRAM.format(after)), prove=True)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f32(1.0) / max(A[i], -A[i])", "f32(1.0) / abs(A[i])"),
        ("f32(1.0) / max(A[i], B[i])", "f32(1.0) / max(B[i], A[i])"),
        ("max(A[i], max(B[i], f32(0.0)))", "max(max(A[i], B[i]), f32(0.0))"),
        ("min(A[i], B[i])", NAN_AWARE),
        (
            "f32(1.0) / max(A[i], B[i]) + f32(2.0) / min(A[i], B[i])",
            "f32(1.0) / max(B[i], A[i]) + f32(2.0) / min(A[i], B[i])",
        ),
    ],
)
def test_a_zero_that_min_or_max_may_give_before_is_the_same_after(before: str, after: str) -> None:
    assert status(before, after) == "same"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f32(1.0) / abs(A[i])", "f32(1.0) / max(A[i], -A[i])"),
        ("f32(1.0) / max(A[i], A[i])", "f32(1.0) / (max(A[i], A[i]) + f32(0.0))"),
        ("f32(1.0) / max(A[i], B[i])", "f32(1.0) / (max(A[i], B[i]) + f32(0.0))"),
        ("A[i] * f32(0.0)", "abs(A[i] * f32(0.0))"),
    ],
)
def test_a_zero_that_only_the_step_may_give_differs(before: str, after: str) -> None:
    assert status(before, after) == "differs"


def test_bits_of_a_maximum_that_was_a_sum_differ() -> None:
    before, after = ("reinterpret(A[i] + f32(0.0), u32)", "reinterpret(max(A[i], A[i]), u32)")
    assert status(before, after, kind="u32") == "differs"


def test_min_in_place_of_select_gives_a_choice_that_was_not_there() -> None:
    assert status(NAN_AWARE, "min(A[i], B[i])") == "failed"
    plain = "@attrs(contract=False)"
    assert status(NAN_AWARE, "min(A[i], B[i])", plain) == "same"
    # Where no zero decides, there is nothing to choose.
    assert status(f"{NAN_AWARE} + f32(1.0)", "min(A[i], B[i]) + f32(1.0)") == "same"


def test_without_contraction_min_and_max_have_no_choice() -> None:
    swapped = "max(A[i], B[i])", "max(B[i], A[i])"
    assert status(*swapped) == "same"
    assert status(*swapped, "@attrs(contract=False)") == "differs"


def test_a_refutation_that_differs_when_run_is_the_verdict() -> None:
    pytest.importorskip("z3")
    first, second = "f32(1.0) / abs(A[i])", "f32(1.0) / max(A[i], -A[i])"
    assert proved(first, second).status == "differs"
    assert proved(second, first).status == "same"
