"""All loops of a thread axis become one."""

import numpy as np
import pytest

from irkit.core import IRKitError
from irkit.fuzz.generators.seed_corpus.texts import THREADS
from irkit.ir import find_race, script
from irkit.passes.loop import unify_thread_bindings
from tests.passes.loop.threads.execution import (
    func_of,
    interpreted,
    native,
    same_bits,
    small_integers,
)


def test_loops_of_one_axis_with_several_extents_are_refused() -> None:
    text = THREADS["SIBLING_THREADS"].replace("for ib in thread(0, 8", "for ib in thread(0, 4")
    with pytest.raises(IRKitError, match=r"'i' and 'ib' .* with extents 8 and 4"):
        unify_thread_bindings(func_of(text))


COPIES = """
def f(A: f32[4], C: f32[4]):
    for t in thread(0, 4, "threadIdx.x"):
        S = alloc(f32[4]{scope})
        for u in thread(0, 4, "threadIdx.x"):
            S[{at}] = A[u]
        C[t] = S[3 - t]
"""


@pytest.mark.parametrize(
    ("scope", "at", "is_shared_out"),
    [(', scope="shared"', "u", True), ("", "u", False), (', scope="shared"', "(t + u) % 4", False)],
)
def test_a_loop_is_divided_among_threads_if_each_would_do_the_same(
    scope: str, at: str, is_shared_out: bool
) -> None:
    made = unify_thread_bindings(func_of(COPIES.format(scope=scope, at=at)))
    assert ("serial(0, 4)" in script(made)) is not is_shared_out


UNDER_A_CONDITION = """
def f(A: f32[8], B: i32[24], C: f32[24, 8]):
    for v in thread(0, 24, "vthread"):
        if v != 1:
            S = alloc(f32[8], scope="{scope}")
            for t in thread(0, 8, "threadIdx.x"):
                S[t] = A[t]
            for u in thread(0, 8, "threadIdx.x"):
                C[v, u] = S[{at}]
"""


@pytest.mark.parametrize("bound", ["if v != 1", "for k in serial(v, 1 + v // 2 * 2)"])
@pytest.mark.parametrize("scope", ["shared", "global"])
def test_loops_that_need_a_barrier_where_virtual_threads_may_differ_stay_apart(
    bound: str, scope: str
) -> None:
    text = UNDER_A_CONDITION.format(scope=scope, at="7 - u").replace("if v != 1", bound)
    func = func_of(text)
    arrays = small_integers(func)
    assert unify_thread_bindings(func) is func
    assert same_bits(native(func, arrays), interpreted(func, arrays))


def test_loops_that_need_no_barrier_become_one_where_virtual_threads_may_differ() -> None:
    text = """
def f(A: f32[32], C: f32[32]):
    for v in thread(0, 4, "vthread"):
        if v < 3:
            for t in thread(0, 8, "threadIdx.x"):
                C[v * 8 + t] = A[v * 8 + t]
"""
    made = unify_thread_bindings(func_of(text))
    assert script(made).index("threadIdx.x") < script(made).index("vthread")
    assert find_race(made, *small_integers(made)) is None


def test_memory_of_each_virtual_thread_does_not_become_that_of_all() -> None:
    func = func_of("""
def f(A: f32[2], C: f32[4]):
    for v in thread(0, 4, "vthread"):
        S = alloc(f32[2])
        for t in thread(0, 2, "threadIdx.x"):
            S[t] = f32(1.0)
            S[t] = S[t] + A[t]
        C[v] = S[0]
""")
    arrays = [np.ones(2, np.float32), np.zeros(4, np.float32)]
    assert interpreted(unify_thread_bindings(func), arrays)[1].tolist() == [2.0] * 4
    assert native(func, arrays)[1].tolist() == [2.0] * 4
