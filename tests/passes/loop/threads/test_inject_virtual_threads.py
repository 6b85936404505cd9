"""Virtual threads become interleaved copies with the same results."""

from hypothesis import given, settings, strategies as st

from irkit.ir import script
from irkit.passes.loop import inject_virtual_threads
from tests.passes.loop.threads.execution import (
    func_of,
    interpreted,
    native,
    same_bits,
    small_integers,
)

MATMUL = """
def tiled(A: i32[{n}, {n}], B: i32[{n}, {n}], C: i32[{n}, {n}]):
    for by in thread(0, {g}, "blockIdx.y"):
        for bx in thread(0, {g}, "blockIdx.x"):
            for vy in thread(0, {v}, "vthread.y"):
                for ty in thread(0, {t}, "threadIdx.y"):
                    for tx in thread(0, {t}, "threadIdx.x"):
                        S = alloc(i32[{t}, {n}], scope="shared")
                        acc = alloc(i32[1], scope="local")
                        row: i64 = by * {t} + ty
                        for vv in serial(vy, vy + 1):
                            acc[0] = i32(0)
                        for k in serial(0, {g}):
                            if row < {n} and k * {t} + tx < {n}:
                                S[ty, k * {t} + tx] = A[row, k * {t} + tx]
                        evaluate(barrier())
                        for k2 in serial(0, {n}):
                            if k2 % {v} == vy and row < {n} and bx * {t} + tx < {n}:
                                acc[0] = acc[0] + S[ty, k2] * B[k2, bx * {t} + tx]
                        evaluate(barrier())
                        for w in serial(0, {v}):
                            if w == vy and row < {n} and bx * {t} + tx < {n}:
                                C[row, bx * {t} + tx] = C[row, bx * {t} + tx] + acc[0]
                            evaluate(barrier())
"""


@settings(max_examples=8, deadline=None, derandomize=True)
@given(st.integers(1, 6), st.integers(1, 3), st.integers(1, 3))
def test_a_matmul_with_virtual_threads_of_any_size_keeps_its_bits(n: int, t: int, v: int) -> None:
    func = func_of(MATMUL.format(n=n, t=t, g=-(-n // t), v=v))
    arrays = small_integers(func)
    expected = interpreted(func, arrays)
    assert (expected[2] == arrays[2] + arrays[0] @ arrays[1]).all()
    assert same_bits(native(func, arrays), expected)


VIRTUAL = """
def f(A: f32[4], C: f32[4], S: f32[4]):
    for v in thread(0, 2, "vthread"):
        for k in serial(0, 2):
            S[k] = A[v]
            C[k * 2 + v] = S[{at}]
"""


def test_virtual_threads_that_access_the_same_element_are_copied_as_a_whole() -> None:
    func = func_of(VIRTUAL.format(at="k"))
    made = inject_virtual_threads(func)
    assert script(made).count("for k") == 2
    assert same_bits(
        interpreted(made, small_integers(func)), interpreted(func, small_integers(func))
    )


def test_virtual_threads_of_unknown_number_stay() -> None:
    text = (
        VIRTUAL.format(at="k")
        .replace("thread(0, 2", "thread(0, n")
        .replace("S: f32[4]", "S: f32[n]")
    )
    func = func_of(text)
    assert inject_virtual_threads(func) is func
