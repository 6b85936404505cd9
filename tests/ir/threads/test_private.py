"""Memory of each thread for native code: moved into the loops over threads, or a row for each."""

import numpy as np
import pytest

import irkit
from irkit.core import IRKitError, deep_recursion, walk
from irkit.ir import Allocate, For, InterpretedFunction, PrimFunc, parse, script, verify
from irkit.ir.threads import split_threads, with_own_memory
from irkit.passes.loop import plan_allocations
from irkit.phases import DEFAULT


def owned(text: str) -> PrimFunc:
    func = parse(text)
    with deep_recursion:
        body = with_own_memory(func.body, lambda loop: loop.kind == "thread", scope="global")
    made = func.replace(body=body)
    assert verify(made) == []
    return made


MOVED = """
def f(A: f32[2, 4], C: f32[2, 4]):
    R = alloc(f32[1], scope="local")
    for b in thread(0, 2, "blockIdx.x"):
        for t in thread(0, 4, "threadIdx.x"):
            R[0] = A[b, t]
            C[b, t] = R[0]
"""


def test_memory_of_one_nest_moves_into_its_innermost_loop() -> None:
    made = script(owned(MOVED))
    assert made.index('thread(0, 4, "threadIdx.x")') < made.index("R = alloc(f32[1]")


ROWS = """
def f(A: f32[2, 4], C: f32[2, 4]):
    for b in thread(0, 2, "blockIdx.x"):
        R = alloc(f32[2], scope="local")
        for t in thread(0, 4, "threadIdx.x"):
            R[0] = A[b, t]
        R[1] = f32(3.0)
        for u in thread(2, 6, "threadIdx.x"):
            C[b, u - 2] = R[0] + R[1]
"""


def test_memory_of_two_loops_has_a_row_for_each_thread() -> None:
    made = owned(ROWS)
    (home,) = walk(made.body, Allocate)
    assert (home.buffer.scope, [dim.value for dim in home.buffer.shape]) == ("global", [8])
    assert "for thread in serial(0, 4)" in script(made)  # R[1] is stored in each row.
    a, c = np.arange(8, dtype=np.float32).reshape(2, 4), np.zeros((2, 4), np.float32)
    for func in (parse(ROWS), split_threads(parse(ROWS))):
        irkit.build(func)(a, c)
        np.testing.assert_array_equal(c, a + 3)


def test_memory_inside_its_threads_stays() -> None:
    func = owned(MOVED)
    assert split_threads(func) is func


@pytest.mark.parametrize("scope", ["", ', scope="shared"'])
def test_memory_of_a_block_stays(scope: str) -> None:
    func = parse(MOVED.replace(', scope="local"', scope))
    assert split_threads(func) is func


def test_an_unknown_number_of_threads_is_refused() -> None:
    text = """
def f(A: i64[4], C: f32[4]):
    R = alloc(f32[1], scope="local")
    for k in serial(0, 4):
        for t in thread(0, k + 1, "threadIdx.x"):
            R[0] = f32(1.0)
"""
    with pytest.raises(IRKitError, match=r"each thread has its own 'R'.* not known how many"):
        owned(text)


def test_only_loops_that_a_claim_names_get_rows() -> None:
    text = ROWS.replace('"threadIdx.x"', '"vthread"')
    func = parse(text)
    with deep_recursion:
        body = with_own_memory(func.body, lambda loop: loop.thread == "vthread")
    (home,) = walk(body, Allocate)
    assert (home.buffer.scope, [dim.value for dim in home.buffer.shape]) == ("local", [8])
    assert len(list(walk(body, For))) == 4


NESTED = """
def f(A: f32[4], C: f32[4]):
    R = alloc(f32[1], scope="local")
    for t in thread(0, 4, "threadIdx.x"):
        R[0] = f32(0.0)
        for u in thread(0, 4, "threadIdx.x"):
            R[0] = R[0] + A[u]
        C[t] = R[0]
"""


@pytest.mark.parametrize("inside", [False, True])
def test_a_loop_of_the_same_axis_inside_is_run_by_one_thread(inside: bool) -> None:
    text = NESTED
    if inside:
        lines = NESTED.splitlines(keepends=True)
        text = "".join([*lines[:2], lines[3], "    " + lines[2], *lines[4:]])
    func, a = parse(text), np.arange(4, dtype=np.float32)
    for each in (func, split_threads(func), plan_allocations(func), DEFAULT.run(func)):
        for run in (irkit.build(each), InterpretedFunction(each)):
            c = np.zeros(4, np.float32)
            run(a, c)
            np.testing.assert_array_equal(c, np.full(4, 6))
