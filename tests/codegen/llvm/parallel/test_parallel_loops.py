"""A parallel loop means the same on any number of threads, whatever its body uses from outside."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from irkit.codegen import ENTER, emit, emit_pool, host_target, optimise, why_serial
from irkit.core import IRKitError, Target
from irkit.ir import PrimFunc, interpret, parse
from irkit.runtime import Kernel, compile_functions, num_threads, set_num_threads


@pytest.fixture(autouse=True, params=[1, 2, 4])
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    before = num_threads()
    set_num_threads(request.param)
    yield request.param
    set_num_threads(before)


def function(text: str) -> PrimFunc:
    func = parse(text)
    assert isinstance(func, PrimFunc)
    return func


def compiled(text: str, level: int = 1) -> Kernel:
    func = function(text)
    return compile_functions({"main": func}, Target(opt_level=level))["main"]


def agree(text: str, *args: Any, level: int = 1) -> None:
    """Run natively and interpreted, and compare all arrays."""
    natively = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
    compiled(text, level)(*natively)
    interpret(function(text), *args)
    for a, b in zip(natively, args, strict=True):
        assert np.array_equal(a, b)


def regions(text: str) -> int:
    return emit([function(text)], host_target()).count(f"call i32 @{ENTER}(")


def floats(*shape: int) -> Any:
    return np.random.default_rng(0).integers(-8, 9, shape).astype(np.float32)


ROWS = """
def f(A: f32[n, 7], C: f32[n, 7]):
    for i in parallel(0, n):
        for j in serial(0, 7):
            C[i, j] = A[i, j] * f32(2.0) + f32(i)
"""


@pytest.mark.parametrize("rows", [0, 1, 2, 3, 7, 8, 9, 1001])
def test_every_iteration_runs_whatever_the_extent(rows: int) -> None:
    agree(ROWS, floats(rows, 7), np.zeros((rows, 7), np.float32))


@pytest.mark.parametrize(
    ("kind", "begin", "end"),
    [
        ("i8", "-128", "127"), ("u8", "0", "255"), ("i32", "-5", "200"), ("i64", "-3", "k"),
        ("u64", "1", "200"), ("i32", "9", "9"), ("i64", "9", "-9"), ("i64", "k", "k + 1"),
    ],
)  # fmt: skip
def test_bounds_of_every_type_mean_the_same(kind: str, begin: str, end: str) -> None:
    if "k" not in begin + end:
        begin, end = f"{kind}({begin})", f"{kind}({end})"
    text = f"""
def f(C: i64[256], k: i64):
    for i in parallel({begin}, {end}):
        C[i64(i) % i64(256)] = i64(i) + i64(1)
"""
    agree(text, np.zeros(256, np.int64), 100)


OUTSIDE = """
def f(A: f32[n, m], C: f32[n, m], s: f32, h: f16, flag: bool, d: i16):
    with let(s * f32(2.0)) as twice:
        flat = view(A, f32[n * m], offset=0)
        rest = view(flat, f32[n * m - 1], offset=1)
        last = view(rest, f32[n * m - 2], offset=d)
        B = alloc(f32[n])
        for i in serial(0, n):
            B[i] = f32(i)
        for i in parallel(0, n):
            for j in serial(0, m):
                C[i, j] = (twice if flag else f32(h)) + B[i]
                if i * m + j < n * m - 2:
                    C[i, j] = C[i, j] + last[i * m + j] + A[i, j] + rest[0]
"""


def test_a_region_knows_the_bounds_of_its_chunks() -> None:
    text = """
def f(C: i64[9]):
    for i in parallel(i32(2), i32(8)):
        C[i] = i64(i)
"""
    source = emit([function(text)], host_target())
    assert "i64 range(i64 2, 8) %begin, i64 range(i64 3, 9) %end" in source
    agree(text, np.zeros(9, np.int64))


def test_a_region_knows_the_bounds_of_the_loops_around_it() -> None:
    text = """
def f(C: i64[3, 9]):
    for i in serial(i32(1), i32(3)):
        for j in parallel(i32(2), i32(8)):
            C[i, j] = i64(i * i32(9) + j)
"""
    source = emit([function(text)], host_target())
    assert "i32 range(i32 1, 3) %outer" in source
    agree(text, np.zeros((3, 9), np.int64))


def test_a_loop_up_to_the_largest_number_has_no_bounds_that_llvm_could_not_read() -> None:
    text = """
def f(C: u8[9]):
    for i in serial(u8(253), u8(255)):
        for j in parallel(i32(0), i32(8)):
            C[j] = C[j] + i
"""
    agree(text, np.zeros(9, np.uint8))


@pytest.mark.parametrize("flag", [False, True])
def test_the_body_uses_scalars_lets_views_and_memory_from_outside(flag: bool) -> None:
    agree(OUTSIDE, floats(9, 5), np.zeros((9, 5), np.float32), 1.5, 0.25, flag, 1)


def test_a_vector_and_a_strided_array_from_outside_reach_the_body() -> None:
    text = """
def f(A: buffer(f32[n, 4], strides=(s, t)), C: f32[n, 4]):
    with let(ramp(i64(0), 1, 4)) as lanes:
        for i in parallel(0, n):
            C[i, lanes] = A[i, lanes]
"""
    agree(text, floats(20, 16)[::2, ::4], np.zeros((10, 4), np.float32))


def test_a_view_from_outside_may_overlap_its_source() -> None:
    text = """
def f(A: i64[40], C: i64[10]):
    V = view(A, i64[39], offset=1)
    for i in parallel(0, 10):
        C[i] = V[i * 4]
        A[i * 4 + 1] = C[i] + 1
        C[i] = V[i * 4]
"""
    agree(text, np.arange(40), np.zeros(10, np.int64), level=3)


def test_arrays_may_overlap_in_a_region_if_the_function_allows_it() -> None:
    text = """
@attrs(noalias=False)
def f(A: i64[40], B: i64[40], C: i64[40]):
    for i in parallel(0, 40):
        C[i] = B[i]
        A[i] = C[i] + 1
        C[i] = B[i]
"""
    a, c = np.arange(40), np.zeros(40, np.int64)
    compiled(text, level=3)(a, a, c)
    assert np.array_equal(c, np.arange(1, 41))


def test_memory_allocated_inside_belongs_to_one_iteration() -> None:
    text = """
def f(A: f32[n, 40000], C: f32[n]):
    for i in parallel(0, n):
        B = alloc(f32[40000])
        D = alloc(f32[64])
        for j in serial(0, 40000):
            B[j] = A[i, j]
            D[j % 64] = A[i, j]
        C[i] = f32(0.0)
        for j in serial(0, 40000):
            C[i] = C[i] + B[j] * D[j % 64]
"""
    agree(text, floats(5, 40000), np.zeros(5, np.float32))


def test_a_parallel_loop_in_a_serial_loop_is_a_region_each_time() -> None:
    text = """
def f(C: i64[16]):
    for t in serial(0, 50):
        for i in parallel(0, 16):
            C[i] = C[i] * 3 + t + i
"""
    assert regions(text) == 1
    agree(text, np.zeros(16, np.int64))


NESTED = """
def f(C: i64[6, 6]):
    for i in parallel(0, 6):
        for j in parallel(0, 6):
            C[i, j] = i * 10 + j
"""


def test_a_parallel_loop_in_another_is_serial() -> None:
    assert regions(NESTED) == 1
    agree(NESTED, np.zeros((6, 6), np.int64))


def test_regions_follow_each_other_in_one_function() -> None:
    text = (
        NESTED
        + """\
    for i in parallel(0, 6):
        C[i, i] = C[i, 5 - i]
    for i in parallel(0, 6):
        C[i, 0] = C[i, 0] + 1
"""
    )
    assert regions(text) == 3
    agree(text, np.zeros((6, 6), np.int64))


def test_a_loop_of_one_iteration_and_a_function_without_threads_start_none() -> None:
    assert regions("def f(C: i64[6]):\n    for i in parallel(3, 4):\n        C[i] = i\n") == 0
    assert regions("@attrs(threads=False)" + NESTED) == 0
    agree("@attrs(threads=False)" + NESTED, np.zeros((6, 6), np.int64))


def test_blocks_in_a_parallel_loop_run_before_they_are_lowered() -> None:
    text = """
def f(A: f32[9, 8], C: f32[9]):
    for i in parallel(0, 9):
        for k in serial(0, 8):
            with block("C"):
                vi = axis.spatial(9, i)
                vk = axis.reduce(8, k)
                with init():
                    C[vi] = f32(0.0)
                C[vi] = C[vi] + A[vi, vk]
"""
    agree(text, floats(9, 8), np.zeros(9, np.float32))


FAILING = """
def f(A: i64[n], C: i64[n]):
    for i in parallel(0, n):
        B = alloc(i64[n * 10000])
        B[0] = i
        assert A[i] != 1, "one"
        C[i] = B[0]
        assert A[i] != 2, "two"
"""


@pytest.mark.parametrize(("first", "second", "said"), [(90, 5, "two"), (5, 90, "one")])
def test_the_error_is_that_of_the_first_iteration_that_fails(
    first: int, second: int, said: str
) -> None:
    kernel, a = compiled(FAILING), np.zeros(100, np.int64)
    a[[first, second]] = 1, 2
    for _ in range(50):
        with pytest.raises(IRKitError, match=f"f: {said}"):
            kernel(a, np.zeros(100, np.int64))
    kernel(np.zeros(100, np.int64), np.zeros(100, np.int64))


def test_memory_that_runs_out_inside_is_reported() -> None:
    text = """
def f(C: i64[8], k: i64):
    for i in parallel(0, 8):
        B = alloc(i64[k])
        B[0] = i
        C[i] = B[0]
"""
    kernel, c = compiled(text), np.zeros(8, np.int64)
    with pytest.raises(MemoryError, match="could not allocate its buffers"):
        kernel(c, 1 << 60)
    kernel(c, 10)
    assert c.tolist() == list(range(8))


@settings(max_examples=15, deadline=None, derandomize=True)
@given(st.data())
def test_sums_over_rows_of_any_shape_do_not_depend_on_the_threads(data: st.DataObject) -> None:
    rows, width = data.draw(st.integers(0, 40)), data.draw(st.integers(1, 20))
    a = floats(rows, width)
    c = np.zeros(rows, np.float32)
    SUMS(a, c)
    assert np.array_equal(c, a.sum(axis=1))


SUMS = compiled("""
def f(A: f32[n, m], C: f32[n]):
    for i in parallel(0, n):
        C[i] = f32(0.0)
        for j in serial(0, m):
            C[i] = C[i] + A[i, j]
""")


def test_the_pool_of_another_machine_is_valid_or_serial() -> None:
    for triple in ("aarch64-unknown-linux-gnu", "x86_64-apple-darwin"):
        text = emit_pool(Target(triple=triple, cpu="generic"))
        assert ("@pthread_create" in text) is not bool(why_serial(Target(triple=triple)))
    optimise(emit_pool(Target(triple="x86_64-apple-darwin")), host_target())
    assert "Linux" in why_serial(Target(triple="x86_64-apple-darwin"))


@pytest.mark.parametrize("chunks", [1, 2, 1000, 0, -5, 1 << 40])
def test_every_iteration_runs_once_whatever_the_chunks(chunks: int) -> None:
    text = ROWS.replace("parallel(0, n)", f"parallel(0, n, parallel_chunks={chunks})")
    for rows in (1, 2, 7, 64):
        agree(text, floats(rows, 7), np.zeros((rows, 7), np.float32))


def test_a_loop_has_as_many_chunks_as_its_hint_says() -> None:
    text = ROWS.replace("parallel(0, n)", "parallel(0, n, parallel_chunks=1)")
    assert ", i64 1)" in emit([function(text)], host_target())
    assert ", i64 4)" in emit([function(ROWS)], host_target())


@pytest.mark.parametrize("least", [1, 40, 1 << 40, 0, -3])
def test_a_loop_with_little_work_runs_on_one_thread_and_means_the_same(least: int) -> None:
    text = ROWS.replace("parallel(0, n)", f"parallel(1, n, parallel_least={least})")
    for rows in (0, 1, 2, 7, 64):
        agree(text, floats(rows, 7), np.zeros((rows, 7), np.float32))


@pytest.mark.parametrize("least", [1, 1 << 40])
def test_an_error_leaves_a_loop_with_little_work_too(least: int) -> None:
    run = compiled(f"""
def f(A: i64[n]):
    for i in parallel(0, n, parallel_least={least}):
        assert A[i] != 1, "one"
""")
    run(np.zeros(9, np.int64))
    with pytest.raises(IRKitError, match="one"):
        run(np.arange(9))
