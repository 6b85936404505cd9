"""A condition that is the same in every iteration moves out of its loop."""

import pytest

from irkit.ir import script
from irkit.passes.loop import hoist_if_then_else, unroll_loops
from tests.passes.loop.programs import applied_with_remarks, func


def test_an_else_gets_a_loop_of_its_own() -> None:
    made, _ = applied_with_remarks(
        hoist_if_then_else,
        "for i in parallel(0, 8):",
        "    if n < 3:",
        "        C[i] = A[i]",
        "    else:",
        "        C[i] = f32(0.0)",
    )
    assert made == [
        "if n < 3:",
        "    for i in parallel(0, 8):",
        "        C[i] = A[i]",
        "else:",
        "    for i_1 in parallel(0, 8):",
        "        C[i_1] = f32(0.0)",
    ]


@pytest.mark.parametrize(
    "lines",
    [
        ("for i in serial(0, n):", "    if i < n:", "        C[i] = A[i]"),
        ("for i in serial(0, n):", "    if n < 4:", "        C[i] = A[i]", "    C[0] = A[i]"),
        (
            "for i in serial(0, n):",
            "    if n < 4 and i < 3:",
            "        C[i] = A[i]",
            "    else:",
            "        C[0] = A[i]",
        ),
    ],
)
def test_a_condition_that_is_not_the_same_for_the_whole_body_stays(lines: tuple[str, ...]) -> None:
    given = func(*lines)
    assert hoist_if_then_else(given) is given


def test_a_condition_on_memory_stays_with_a_remark() -> None:
    lines = ("for i in serial(0, n):", "    if A[0] < f32(1.0):", "        A[i] = f32(2.0)")
    made, said = applied_with_remarks(hoist_if_then_else, *lines)
    assert made == list(lines)
    assert said == ["the condition reads memory, which the loop may change: left inside"]


def test_a_condition_hoisted_before_unrolling_is_not_copied() -> None:
    given = func("for i in unrolled(0, 4):", "    if n < 4:", "        C[i] = A[i]")
    assert script(unroll_loops(hoist_if_then_else(given))).count("if ") == 1
    assert script(unroll_loops(given)).count("if ") == 4
