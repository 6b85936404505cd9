"""Verdicts on passes that let iterations or threads meet."""

from collections.abc import Callable
from io import StringIO

import pytest
from rich.console import Console

from irkit.core import rewrite
from irkit.debug import Verdict, bisect, check, verdict_table
from irkit.ir import I64, LOOP_LEVEL, Evaluate, For, PrimFunc, Stmt, const, parse, seq
from irkit.phases import DEFAULT
from irkit.transform import Phase, Pipeline, define_pass

SUM = """
def f(A: f32[5, 9], C: f32[9]):
    for i in serial(0, 5):
        for j in serial(0, 9):
            C[j] = C[j] + A[i, j]
"""
SHIFTED = """
def f(A: f32[9], C: f32[10]):
    for i in serial(0, 9):
        C[i + 1] = C[i] + A[i]
"""
ROWS = """
def f(A: f32[5, 9], C: f32[5]):
    for i in serial(0, 5):
        for j in serial(0, 9):
            C[i] = C[i] + A[i, j]
"""
SAME_VALUE = """
def f(A: f32[9], C: f32[9], S: f32[1]):
    for i in serial(0, 9):
        S[0] = f32(1.0)
        C[i] = A[i] * f32(2.0)
"""
REVERSED = """
def f(A: f32[8], C: f32[8]):
    s = alloc(f32[8], scope="shared")
    for t in thread(0, 8, "threadIdx.x"):
        s[t] = A[t]
        evaluate(barrier())
        C[t] = s[7 - t]
"""


def judged(text: str, change: Callable[[PrimFunc], PrimFunc]) -> Verdict:
    p = define_pass(change)
    (found,) = check(Pipeline(LOOP_LEVEL, (Phase(0, "only", (p,)),)).steps(parse(text.strip())))
    assert found.changed
    return found


def parallel_outside(func: PrimFunc) -> PrimFunc:
    assert isinstance(func.body, For)
    return func.replace(body=func.body.replace(kind="parallel"))


def without_barriers(func: PrimFunc) -> PrimFunc:
    def drop(stmt: Evaluate) -> Stmt:
        return seq()

    return rewrite(func, drop, on=Evaluate)


@pytest.mark.parametrize("text", [SUM, SHIFTED])
def test_a_parallel_loop_whose_iterations_meet_is_a_race(text: str) -> None:
    found = judged(text, parallel_outside)
    assert (found.status, found.is_wrong) == ("races", True)
    assert found.message.startswith("two iterations of the parallel loop over 'i' meet: i = 0 ")
    assert "C[" in found.message


@pytest.mark.parametrize("text", [ROWS, SAME_VALUE])
def test_a_parallel_loop_whose_iterations_are_apart_gives_no_alarm(text: str) -> None:
    assert judged(text, parallel_outside).status == "same"


def test_a_barrier_that_is_gone_is_called_a_race_not_a_wrong_number() -> None:
    found = judged(REVERSED, without_barriers)
    assert found.status == "races"
    assert "two threads over 't' meet, with no barrier between" in found.message


def test_the_race_is_bisected() -> None:
    culprit = bisect(DEFAULT.insert(define_pass(parallel_outside), phase=0), parse(SUM.strip()))
    assert culprit is not None
    assert culprit.verdict.status == "races"
    assert culprit.verdict.name == "parallel-outside"


LATE = """
def f(A: f32[6000], D: i64[2]):
    for i in serial(0, 6000):
        A[i] = A[i] + f32(1.0)
        if i >= 5000:
            D[{}] = i
"""


def test_an_order_that_matters_only_late_shows_when_the_loop_runs_backwards() -> None:
    found = judged(LATE.format(0), parallel_outside)
    assert found.status == "races"
    assert "results depend on the order of 'i': D[0] is 5999, and 5000 backwards" in found.message


def test_the_same_value_in_both_orders_gives_no_alarm() -> None:
    found = judged(LATE.format(0).replace("= i\n", "= 7\n"), parallel_outside)
    assert found.status == "same"
    assert found.order.startswith("parallel 'i': not known (iterations may touch the same element")


@pytest.mark.parametrize(
    ("text", "order"),
    [
        (ROWS, "parallel 'i': independent"),
        (SUM, "parallel 'i': carried (two iterations of the parallel loop over 'i' meet: i = 0 "),
        (SAME_VALUE, "parallel 'i': not known (iterations may touch the same element of 'S'"),
    ],
)
def test_the_row_of_a_step_says_what_is_known_of_the_loops_that_it_makes(
    text: str, order: str
) -> None:
    found = judged(text, parallel_outside)
    assert found.order.startswith(order)
    if found.ok:
        shown = StringIO()
        Console(file=shown, width=300).print(verdict_table([found]))
        assert order in shown.getvalue()


def test_a_step_that_leaves_loops_alone_says_nothing_of_them() -> None:
    @define_pass
    def add_nothing(func: PrimFunc) -> PrimFunc:
        """Add a statement that does nothing."""
        return func.replace(body=seq(func.body, Evaluate(const(0, I64))))

    func = parallel_outside(parse(ROWS.strip()))
    (found,) = check(Pipeline(LOOP_LEVEL, (Phase(0, "only", (add_nothing,)),)).steps(func))
    assert (found.status, found.order) == ("same", "")


def test_a_program_that_is_given_with_a_race_has_no_meaning_to_keep() -> None:
    func = parallel_outside(parse(SUM.strip()))
    found = [each for each in check(DEFAULT.steps(func)) if each.changed]
    assert {each.status for each in found} == {"not known"}
    assert found[0].message.startswith("the input of the step races: two iterations")


def test_blocks_race_although_each_ends_at_its_own_barrier() -> None:
    text = """
def f(A: f32[2, 8], C: f32[8]):
    for b in {}:
        for t in thread(0, 8, "threadIdx.x"):
            evaluate(barrier())
            C[t] = C[t] + A[b, t]
"""

    def in_blocks(func: PrimFunc) -> PrimFunc:
        assert isinstance(func.body, For)
        return func.replace(body=func.body.replace(kind="thread", thread="blockIdx.x"))

    found = judged(text.format("serial(0, 2)"), in_blocks)
    assert found.status == "races"
    assert found.message.startswith("two blocks over 'b' meet: b = 0, t = 0 writes C[0]")
    assert found.order.startswith("blocks 'b': carried")


LEGAL = {
    "a scatter to distinct places": """
def f(P: i64[8], C: f32[8]):
    for i in serial(0, 8):
        C[(i * 3 + P[0] * 0) % 8] = f32(i)
""",
    "halves": """
def f(A: f32[16]):
    for i in serial(0, 8):
        A[i + 8] = A[i] + f32(1.0)
""",
    "memory of each iteration": """
def f(A: f32[4, 8], C: f32[4]):
    for i in serial(0, 4):
        T = alloc(f32[8])
        for j in serial(0, 8):
            T[j] = A[i, j] * f32(2.0)
        C[i] = T[0] + T[7]
""",
    "a maximum of each row": """
def f(A: f32[4, 8], C: f32[4]):
    for i in serial(0, 4):
        C[i] = f32("-inf")
        for j in serial(0, 8):
            C[i] = max(C[i], A[i, j])
""",
    "lanes that all clear one flag": """
def f(A: f32[8], F: i32[1]):
    for i in serial(0, 8):
        if A[i] > f32(0.0):
            F[0] = i32(0)
""",
}


@pytest.mark.parametrize("name", LEGAL)
def test_iterations_that_may_be_parallel_give_no_alarm(name: str) -> None:
    assert judged(LEGAL[name], parallel_outside).status == "same"
