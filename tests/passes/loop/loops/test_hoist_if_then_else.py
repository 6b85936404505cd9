"""A condition that is the same in every iteration moves out of its loop."""

import pytest

from irkit.ir import For, If, Var, lt, script
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


def test_conditions_of_the_new_loops_are_hoisted_in_the_same_run() -> None:
    given = func(
        "for i in serial(0, 8):",
        "    if n < 4:",
        "        if n < 3:",
        "            C[i] = A[i]",
        "    else:",
        "        if n < 9:",
        "            C[i] = A[i]",
    )
    once = hoist_if_then_else(given)
    assert script(once).index("if n < 3") < script(once).index("for i ")
    assert script(once).index("elif n < 9") < script(once).index("for i_1 ")
    assert hoist_if_then_else(once) is once


def test_conditions_nested_very_deep_are_hoisted() -> None:
    given = func("for i in serial(0, 8):", "    C[i] = A[i]")
    loop, n = given.body, given.params[-1]
    assert isinstance(loop, For)
    assert isinstance(n, Var)
    body = loop.body
    for at in range(5_000):
        body = If(lt(n, at), body)
    made = hoist_if_then_else(given.replace(body=loop.replace(body=body)))
    found = made.body
    for _ in range(5_000):
        assert isinstance(found, If)
        found = found.then
    assert isinstance(found, For)
