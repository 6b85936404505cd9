"""Reductions over threads become parts that the first thread combines."""

import pytest
from hypothesis import given, settings, strategies as st

from irkit.ir import find_race, script
from irkit.passes.loop import lower_cross_thread_reduction
from tests.draws import few_or_all
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


@settings(max_examples=few_or_all(10, 25), deadline=None, derandomize=True)
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


STARTED = """def f(A: f32[4], C: f32[1]):
    with block("C_init"):
        C[0] = f32(1.0)
    for t in thread(0, 4, "threadIdx.x"):
        with block("C"):
            vt = axis.reduce(4, t)
            C[0] = C[0] + A[vt]
"""

WIDENED = """def f(A: f32[3, 4], C: f32[1]):
    D = alloc(f64[1])
    for y in thread(0, 3, "threadIdx.y"):
        for t in thread(0, 4, "threadIdx.x"):
            with block("D"):
                vy = axis.reduce(3, y)
                vt = axis.reduce(4, t)
                with init():
                    D[0] = f64(1.0)
                D[0] = cast(cast(D[0], f32) + A[vy, vt], f64)
    C[0] = cast(D[0], f32)
"""

BESIDE = """def f(A: f32[4], C: f32[1], D: f32[1]):
    for t in thread(0, 4, "threadIdx.x"):
        for u in thread(0, 4, "threadIdx.y"):
            with block("C"):
                vt = axis.reduce(4, t)
                vu = axis.reduce(4, u)
                with init():
                    C[0] = f32(1.0)
                C[0] = C[0] + A[vt] * A[vu]
        with block("D"):
            vt = axis.reduce(4, t)
            D[0] = D[0] + A[vt]
"""

SEPARATE = """def f(A: f32[4], C: f32[4]):
    for t in thread(0, 4, "threadIdx.x"):
        for k in serial(0, 3):
            with block("C"):
                vt = axis.reduce(4, t)
                C[vt] = C[vt] + A[vt]
"""

EXCHANGE = """def f(A: f32[4], C: f32[1], D: f32[4]):
    s = alloc(f32[4], scope="shared")
    for t in thread(0, 4, "threadIdx.x"):
        s[t] = A[t]
        with block("C"):
            vt = axis.reduce(4, t)
            C[0] = C[0] + A[vt]
        D[t] = s[3 - t]
"""


@pytest.mark.parametrize(
    "text",
    [
        *(AROUND, GUARDED, AROUND.replace("i in serial", "i in vectorized")),
        *(BETWEEN, BETWEEN.replace('thread(0, 2, "vthread")', "serial(0, 2)")),
        *(AGAIN, STARTED, WIDENED, BESIDE),
    ],
    ids=[
        *("steps around", "not all threads", "lanes around"),
        *("virtual threads between", "steps between"),
        *("run again", "initialised elsewhere", "widened", "two in one nest"),
    ],
)
def test_threads_that_reach_a_reduction_separately_reduce_one_after_the_other(text: str) -> None:
    func = func_of(text)
    after = lower_cross_thread_reduction(func)
    arrays = small_integers(func)
    assert find_race(func, *arrays) is not None
    assert find_race(after, *small_integers(func)) is None
    assert lower_cross_thread_reduction(after) is after
    expected = interpreted(func, arrays)
    assert same_bits(interpreted(after, arrays), expected)
    assert same_bits(native(after, arrays), expected)


def test_a_reduction_around_which_another_ones_threads_become_serial_does_so_too() -> None:
    func = func_of(BESIDE)
    after = lower_cross_thread_reduction(func)
    assert "thread(" not in script(after)
    assert same_bits(
        interpreted(after, small_integers(func)), interpreted(func, small_integers(func))
    )


def test_threads_that_reduce_into_separate_elements_stay() -> None:
    func = func_of(SEPARATE)
    assert lower_cross_thread_reduction(func) is func


def test_threads_that_exchange_values_stay() -> None:
    func = func_of(EXCHANGE)
    assert lower_cross_thread_reduction(func) is func
