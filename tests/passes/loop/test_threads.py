"""Programs over threads give the same bits in the interpreter, where threads are tasks, and as
native code after the whole pipeline."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irkit.core import IRKitError, rewrite, walk
from irkit.fuzz.threads import THREADS
from irkit.ir import (
    Buffer,
    Evaluate,
    For,
    PrimFunc,
    as_int,
    interpret,
    no_thread_loops,
    parse,
    script,
    seq,
)
from irkit.ir.threads import is_barrier
from irkit.passes.loop import (
    inject_virtual_threads,
    lower_cross_thread_reduction,
    lower_thread_loops,
    plan_allocations,
    thread_sync,
    unify_thread_bindings,
)
from irkit.phases import DEFAULT, build, lower


def small_integers(func: PrimFunc, seed: int = 0, **dims: int) -> list[Any]:
    """Make arrays on which sums and products of every order are exact."""
    rng = np.random.default_rng(seed)
    made: list[Any] = []
    for param in func.params:
        assert isinstance(param, Buffer)
        known = [as_int(dim) for dim in param.shape]
        names = [getattr(dim, "name", "") for dim in param.shape]
        shape = [dims[x] if n is None else n for n, x in zip(known, names, strict=True)]
        kind = np.int32 if param.dtype.is_integer else np.float32
        made.append(rng.integers(-4, 5, shape).astype(kind))
    return made


def interpreted(func: PrimFunc, arrays: list[Any]) -> list[Any]:
    own = [array.copy() for array in arrays]
    interpret(func, *own)
    return own


def native(func: PrimFunc, arrays: list[Any]) -> list[Any]:
    own = [array.copy() for array in arrays]
    build(func)(*own)
    return own


def same_bits(a: list[Any], b: list[Any]) -> bool:
    return all(x.tobytes() == y.tobytes() for x, y in zip(a, b, strict=True))


def func_of(text: str) -> PrimFunc:
    return parse(text.strip() + "\n")


@pytest.mark.parametrize("name", sorted(set(THREADS) - {"THREAD_SOFTMAX"}))
def test_native_code_gives_the_bits_of_threads_that_meet_at_barriers(name: str) -> None:
    func = func_of(THREADS[name])
    arrays = small_integers(func, m=3)
    assert same_bits(native(func, arrays), interpreted(func, arrays))


@pytest.mark.parametrize("name", THREADS)
def test_no_thread_loop_and_no_barrier_is_left(name: str) -> None:
    func = func_of(THREADS[name])
    assert no_thread_loops.predicate(func)
    assert not no_thread_loops.predicate(lower(func))


def test_programs_mean_what_they_say() -> None:
    a, b, c = (np.random.default_rng(1).integers(-4, 5, (8, 8)).astype(np.float32) for _ in "abc")
    for name in ("THREAD_MATMUL", "COOPERATIVE_MATMUL"):
        build(func_of(THREADS[name]))(a, b, c)
        assert (c == a @ b).all()
    x, y = np.linspace(-3, 5, 30, dtype=np.float32).reshape(3, 10), np.zeros((3, 10), np.float32)
    build(func_of(THREADS["THREAD_SOFTMAX"]))(x, y)
    e = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(y, e / e.sum(1, keepdims=True), rtol=1e-6)
    numbers, sums = np.arange(32, dtype=np.int32).reshape(4, 8), np.zeros(4, np.int32)
    build(func_of(THREADS["THREAD_TREE"]))(numbers, sums)
    assert (sums == numbers.sum(1)).all()
    line, out = np.arange(16, dtype=np.float32) ** 2, np.zeros(16, np.float32)
    build(func_of(THREADS["THREAD_STENCIL"]))(line, out)
    assert (out == np.convolve(line, [1, 2, 1], "same")).all()


REDUCTION = """
def tree(A: i32[{blocks}, {threads}], C: i32[{blocks}]):
    for b in thread(0, {blocks}, "blockIdx.x"):
        S = alloc(i32[{threads}], scope="shared")
        for t in thread(0, {threads}, "threadIdx.x"):
            S[t] = A[b, t]
            for s in serial(0, {rounds}):
                if t + (1 << s) < {threads} and t % (2 << s) == 0:
                    S[t] = S[t] + S[t + (1 << s)]
            if t == 0:
                C[b] = S[0]
"""


@settings(max_examples=12, deadline=None, derandomize=True)
@given(st.integers(1, 4), st.integers(1, 13))
def test_a_tree_of_any_size_gets_its_barriers_and_sums(blocks: int, threads: int) -> None:
    rounds = max(1, (threads - 1).bit_length())
    func = func_of(REDUCTION.format(blocks=blocks, threads=threads, rounds=rounds))
    arrays = small_integers(func)
    for made in (interpreted(thread_sync(func), arrays), native(func, arrays)):
        assert (made[1] == arrays[0].sum(1)).all()


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


def test_a_barrier_that_some_threads_may_miss_is_refused_with_its_line() -> None:
    text = THREADS["THREAD_TREE"].replace("evaluate", "if t < 4:\n                evaluate", 1)
    with pytest.raises(IRKitError, match=r":6: threads may not agree on the condition") as found:
        lower_thread_loops(func_of(text))
    assert "Move the barrier out" in found.value.hint


@settings(max_examples=8, deadline=None, derandomize=True)
@given(st.integers(1, 6), st.integers(1, 3), st.integers(1, 3))
def test_a_matmul_with_virtual_threads_of_any_size_keeps_its_bits(n: int, t: int, v: int) -> None:
    func = func_of(MATMUL.format(n=n, t=t, g=-(-n // t), v=v))
    arrays = small_integers(func)
    expected = interpreted(func, arrays)
    assert (expected[2] == arrays[2] + arrays[0] @ arrays[1]).all()
    assert same_bits(native(func, arrays), expected)


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
def test_a_reduction_whose_threads_do_not_all_come_at_once_is_left_alone(text: str) -> None:
    func = func_of(text)
    assert lower_cross_thread_reduction(func) is func
    arrays = small_integers(func)
    assert same_bits(native(func, arrays), interpreted(func, arrays))


def test_a_reduction_that_threads_run_again_is_left_alone() -> None:
    func = func_of(AGAIN)
    assert lower_cross_thread_reduction(func) is func


def barriers(text: str) -> int:
    return script(thread_sync(func_of(text))).count("barrier()")


@pytest.mark.parametrize(
    "name", ["THREAD_MATMUL", "THREAD_SOFTMAX", "THREAD_STENCIL", "THREAD_TREE"]
)
def test_barriers_that_were_left_out_come_back(name: str) -> None:
    func = func_of(THREADS[name])
    bare = rewrite(func, lambda stmt: seq() if is_barrier(stmt) else None, on=Evaluate)
    assert bare is not func
    arrays = small_integers(func)
    synced = thread_sync(bare)
    assert same_bits(interpreted(synced, arrays), interpreted(func, arrays))
    assert thread_sync(func) is func


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
def test_a_loop_is_shared_out_if_each_thread_would_do_the_same(
    scope: str, at: str, is_shared_out: bool
) -> None:
    made = unify_thread_bindings(func_of(COPIES.format(scope=scope, at=at)))
    assert ("serial(0, 4)" in script(made)) is not is_shared_out


VIRTUAL = """
def f(A: f32[4], C: f32[4], S: f32[4]):
    for v in thread(0, 2, "vthread"):
        for k in serial(0, 2):
            S[k] = A[v]
            C[k * 2 + v] = S[{at}]
"""


def test_virtual_threads_that_touch_the_same_are_copied_as_a_whole() -> None:
    func = func_of(VIRTUAL.format(at="k"))
    made = inject_virtual_threads(func)
    assert script(made).count("for k") == 2
    assert same_bits(
        interpreted(made, small_integers(func)), interpreted(func, small_integers(func))
    )


def test_virtual_threads_in_a_number_that_is_not_known_stay() -> None:
    text = (
        VIRTUAL.format(at="k")
        .replace("thread(0, 2", "thread(0, n")
        .replace("S: f32[4]", "S: f32[n]")
    )
    func = func_of(text)
    assert inject_virtual_threads(func) is func


BLOCKS = """
def f(A: f32[8], C: f32[8]):
    for b in thread(0, 4, "blockIdx.x"):
        for t in thread(0, 2, "threadIdx.x"):
            C[{at}] = A[b * 2 + t]
"""


@pytest.mark.parametrize(("at", "kind"), [("b * 2 + t", "parallel"), ("b + t", "serial")])
def test_blocks_run_in_parallel_only_where_they_are_apart(at: str, kind: str) -> None:
    made = lower_thread_loops(func_of(BLOCKS.format(at=at)))
    assert [loop.kind for loop in walk(made, For)] == [kind, "serial"]


def test_memory_of_a_thread_moves_into_its_loop_and_shared_memory_stays_whole() -> None:
    func = func_of(THREADS["COOPERATIVE_MATMUL"])
    after = next(s.after for s in DEFAULT.steps(func) if s.name == "compact-buffers")
    text = script(after)
    assert 'S = alloc(f32[4, 4], scope="shared")' in text
    assert 'L = alloc(f32[1, 1], scope="local")' in text
    assert plan_allocations(func) is not func
