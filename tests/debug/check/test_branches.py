"""Conditions over many elements, rare values, and branches that never mattered."""

import pytest

from irkit.cli.output.json_results import verdict_json
from irkit.debug import verdict_table
from irkit.debug.execution.decisions import decided, decisions
from irkit.inspector_web.jobs.verdicts import as_step_verdict
from irkit.ir import parse
from tests.debug.check.verdict_of_pair import judged

HEAD = "def f(A: f32[40], B: f32[40], C: f32[40], D: i32[1]):\n"
ALL_SAME = """
    D[0] = 1
    for i in serial(0, 40):
        if A[i] != A[0]:
            D[0] = 0
"""
ANY_NAN = """
    D[0] = 0
    for i in serial(0, 40):
        if A[i] != A[i]:
            D[0] = 1
"""
FIND_FIRST = """
    D[0] = 40
    for i in serial(0, 40):
        if A[39 - i] == f32(8.25):
            D[0] = cast(39 - i, i32)
"""
ROWS_EQUAL = """
    D[0] = 1
    for i in serial(0, 40):
        if A[i] != B[i]:
            D[0] = 0
"""
EXACTLY_ONE = """
    D[0] = 0
    for i in serial(0, 40):
        D[0] = D[0] + cast(A[i] > B[i], i32)
    for i in serial(0, 40):
        C[i] = select(D[0] == 1, f32(1.0), f32(2.0))
"""


@pytest.mark.parametrize(
    ("body", "old", "new"),
    [
        (ALL_SAME, "(0, 40)", "(0, 39)"),
        (ALL_SAME, "(0, 40)", "(1, 39)"),
        (ALL_SAME, "A[0]:", "A[0] and i != 16:"),
        (ANY_NAN, "(0, 40)", "(0, 39)"),
        (ANY_NAN, "(0, 40)", "(1, 40)"),
        (ANY_NAN, "A[i]:", "A[i] and i != 17:"),
        (FIND_FIRST, "if A", "if D[0] == 40 and A"),
        (FIND_FIRST, "if A", "if i != 7 and A"),
        (ROWS_EQUAL, "(0, 40)", "(0, 39)"),
        (ROWS_EQUAL, "B[i]:", "B[i] and i != 20:"),
        (EXACTLY_ONE, "D[0] == 1", "D[0] <= 1 and D[0] >= 0"),
    ],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_condition_over_many_elements_that_misses_one_differs(
    body: str, old: str, new: str, seed: int
) -> None:
    program = HEAD + body.lstrip("\n")
    assert old in program
    assert judged((program, program.replace(old, new)), seed).status == "differs"


@pytest.mark.parametrize("kind", ["f16", "f64", "i8", "u8", "i64"])
def test_rows_of_every_type_have_an_odd_one(kind: str) -> None:
    program = HEAD.replace("A: f32", f"A: {kind}") + ALL_SAME.lstrip("\n")
    assert judged((program, program.replace("(0, 40)", "(0, 39)"))).status == "differs"


POINTWISE = """
def f(A: f32[n], C: f32[n]):
    for i in serial(0, n):
        C[i] = {}
"""
SQUARE = "A[i] * A[i] + f32(3.0) * A[i]"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("select(A[i] == f32(1234.5), f32(7.0), A[i])", "A[i]"),
        ("select(A[i] * f32(2.0) + f32(1.0) == f32(778.0), f32(7.0), A[i])", "A[i]"),
        ("select(A[i] * A[i] * A[i] + A[i] == f32(738.0), f32(7.0), A[i])", "A[i]"),
        (
            f"select({SQUARE} >= f32(1222.75), f32(2.0) * A[i], A[i])",
            f"select({SQUARE} > f32(1222.75), f32(2.0) * A[i], A[i])",
        ),
    ],
)
def test_a_value_at_which_a_comparison_of_floats_turns_is_met(before: str, after: str) -> None:
    case = POINTWISE.strip().format(before), POINTWISE.strip().format(after)
    assert judged(case).status == "differs"


def test_branches_that_never_mattered_are_counted_and_said() -> None:
    """The square of a number is never negative, so nothing decides by it."""
    value = "select({}, f32(3.0), select(A[i] > f32(0.5), f32(2.0), f32(1.0)))"
    program = POINTWISE.strip()
    found = judged(
        (
            program.format(value.format("A[i] * A[i] < f32(0.0)")),
            program.format(value.format("f32(0.0) > A[i] * A[i]")),
        )
    )
    assert found.status == "same"
    assert found.branches == 2  # Written one way before, and another way after.
    assert found.unused == "2 branches never mattered"
    assert verdict_json(found).branches == 2
    cells = [str(each) for each in verdict_table([found]).columns[-1].cells]
    assert "2 branches never mattered" in cells[0]
    assert "2 branches never mattered" in as_step_verdict(found, 4).text


def test_branches_that_decide_are_not_counted() -> None:
    program = POINTWISE.strip()
    before = "max(A[i], f32(0.0)) if A[i] < f32(3.0) else f32(3.0)"
    after = "f32(3.0) if not A[i] < f32(3.0) else max(A[i], f32(0.0))"
    found = judged((program.format(before), program.format(after)))
    assert (found.status, found.branches, found.unused) == ("same", 0, "")


def test_a_branch_is_fixed_to_each_of_its_sides() -> None:
    func = parse(POINTWISE.strip().format("min(A[i], f32(1.0))"))
    (branch,) = decisions(func)
    assert "C[i] = A[i]" in decided(func, branch, True).script()
    assert "C[i] = f32(1.0)" in decided(func, branch, False).script()


def test_a_condition_on_sizes_alone_is_no_branch_of_data() -> None:
    text = POINTWISE.strip().format("select(i < 3, f32(0.0), f32(1.0))")
    assert decisions(parse(text)) == []
