"""Reductions over threads become parts that the first thread combines."""

import pytest
from hypothesis import given, settings, strategies as st

from irkit.passes.loop import lower_cross_thread_reduction
from tests.passes.loop.threads.execution import (
    func_of,
    interpreted,
    native,
    same_bits,
    small_integers,
)

SUM = """
def crossed(A: i32[{m}, {k}], C: i32[{m}]):
    for i in serial(0, {m}):
        for t in thread(0, {t}, "threadIdx.x"):
            for r in serial(0, {each}):
                with block("C"):
                    vi = axis.spatial({m}, i)
                    vk = axis.reduce({k}, {at})
                    where({at} < {k})
                    with init():
                        C[vi] = i32({start})
                    C[vi] = {combined}
"""


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    st.integers(1, 3),
    st.integers(1, 17),
    st.integers(1, 6),
    st.booleans(),
    st.sampled_from(
        ["C[vi] + A[vi, vk]", "max(A[vi, vk], C[vi])", "C[vi] * A[vi, vk]", "min(C[vi], A[vi, vk])"]
    ),
)
def test_a_reduction_over_threads_is_the_reduction(
    m: int, k: int, t: int, strided: bool, op: str
) -> None:
    each = -(-k // t)
    at = f"r * {t} + t" if strided else f"t * {each} + r"
    func = func_of(SUM.format(m=m, k=k, t=t, each=each, at=at, start=3, combined=op))
    arrays = small_integers(func)
    after = lower_cross_thread_reduction(func)
    assert after is not func
    expected = interpreted(func, arrays)
    assert same_bits(interpreted(after, arrays), expected)
    assert same_bits(native(func, arrays), expected)


AROUND = """def f(A: f32[6, 5, 4], C: f32[6]):
    for i in serial(0, 6):
        for k in serial(0, 5):
            for t in thread(0, 4, "threadIdx.x"):
                with block("C"):
                    vi = axis.spatial(6, i)
                    vk = axis.reduce(5, k)
                    vt = axis.reduce(4, t)
                    with init():
                        C[vi] = f32(1.0)
                    C[vi] = max(C[vi], A[vi, vk, vt])
"""

GUARDED = """def f(A: f32[6, 4], C: f32[6]):
    for y in thread(0, 2, "threadIdx.y"):
        if y == 0:
            for i in serial(0, 6):
                for t in thread(0, 4, "threadIdx.x"):
                    with block("C"):
                        vi = axis.spatial(6, i)
                        vt = axis.reduce(4, t)
                        with init():
                            C[vi] = f32(1.0)
                        C[vi] = max(C[vi], A[vi, vt])
"""

BETWEEN = """def f(A: f32[12], C: f32[1]):
    for y in thread(0, 2, "threadIdx.y"):
        for v in thread(0, 2, "vthread"):
            for t in thread(0, 3, "threadIdx.x"):
                with block("C"):
                    vk = axis.reduce(12, (y * 2 + v) * 3 + t)
                    with init():
                        C[0] = f32(1.0)
                    C[0] = C[0] + A[vk]
"""

AGAIN = """def f(A: f32[4], C: f32[1]):
    for t in thread(0, 4, "threadIdx.x"):
        for again in serial(0, 2):
            with block("C"):
                vt = axis.reduce(4, t)
                with init():
                    C[0] = f32(1.0)
                C[0] = C[0] + A[vt]
"""


@pytest.mark.parametrize(
    "text",
    [
        *(AROUND, GUARDED, AROUND.replace("i in serial", "i in vectorized")),
        *(BETWEEN, BETWEEN.replace('thread(0, 2, "vthread")', "serial(0, 2)")),
    ],
    ids=[
        *("steps around", "not all threads", "lanes around"),
        *("virtual threads between", "steps between"),
    ],
)
def test_a_reduction_that_threads_reach_separately_is_left_alone(text: str) -> None:
    func = func_of(text)
    assert lower_cross_thread_reduction(func) is func
    arrays = small_integers(func)
    assert same_bits(native(func, arrays), interpreted(func, arrays))


def test_a_reduction_that_threads_run_again_is_left_alone() -> None:
    func = func_of(AGAIN)
    assert lower_cross_thread_reduction(func) is func
