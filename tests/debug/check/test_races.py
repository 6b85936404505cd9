"""Verdicts on passes that let iterations or threads meet."""

from collections.abc import Callable

import pytest

from irkit.core import rewrite
from irkit.debug import Verdict, bisect, check
from irkit.ir import LOOP_LEVEL, Evaluate, For, PrimFunc, Stmt, parse, seq
from irkit.phases import DEFAULT
from irkit.transform import Phase, Pipeline, define_pass
from tests.passes.loop.kernels import KERNELS, kernel

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


@pytest.mark.parametrize("name", KERNELS)
def test_the_phases_bring_no_race_into_any_kernel(name: str) -> None:
    assert not [each for each in check(DEFAULT.steps(kernel(name))) if each.status == "races"]
