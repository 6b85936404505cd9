"""profile_loops: the loop that takes the time is found, what is counted is exact, results stay."""

import numpy as np
import pytest

import irkit
from irkit.core import IRKitError, Target, rewrite
from irkit.ir import Evaluate, PrimFunc, Stmt, evaluates, interpret, parse, seq
from irkit.passes.loop import time_loops
from irkit.phases import LoopProfile, profile_loops
from irkit.runtime import build_kernels, num_threads, set_num_threads
from tests.passes.loop.kernels import kernel

SLOW = """\
def f(A: f32[{rows}, 64], n: i64):
    for i in serial(0, {rows}):
        for j in serial(0, 64):
            A[i, j] = A[i, j] * 0.5
    for slow in serial(0, n):
        A[0, 0] = A[0, 0] * 0.999 + 1.0
    for k in parallel(0, {rows}):
        for l in serial(0, 64):
            A[k, l] = A[k, l] + 1.0
"""


def profile(n: int, rows: int = 64, least_work: int = 100) -> LoopProfile:
    func = irkit.lower(parse(SLOW.format(rows=rows)))
    arrays = [np.ones((rows, 64), np.float32), n]
    return profile_loops(func, arrays, seconds=0.05, least_work=least_work)


def test_the_slow_loop_is_found_and_each_iteration_is_counted() -> None:
    made = profile(60_000)
    assert [loop.var for loop in made.loops] == ["i", "j", "slow", "k", "l"]
    assert [loop.depth for loop in made.loops] == [0, 1, 0, 0, 1]
    assert [loop.iterations for loop in made.loops] == [64, 64 * 64, 60_000, 64, 64 * 64]
    slow = max(made.loops, key=lambda loop: loop.own)
    assert slow.var == "slow"
    assert slow.line == 7
    assert 0.5 < slow.seconds / made.timed < 1.1
    assert "slow (line 7, serial)" in str(made)


def test_a_function_with_blocks_is_refused() -> None:
    with pytest.raises(IRKitError, match="blocks"):
        profile_loops(kernel("MATMUL"), [])


def test_without_iterations_the_same_loop_takes_no_time() -> None:
    (slow,) = (loop for loop in profile(0).loops if loop.var == "slow")
    assert slow.iterations == 0
    assert slow.seconds < 5e-6


def test_a_clock_that_never_stops_would_be_seen() -> None:
    """Plant it: without the stop, the clock of the loop is far below 0."""
    func = time_loops(irkit.lower(parse(SLOW.format(rows=4))), least_work=100)

    def never_stop(stmt: Evaluate) -> Stmt | None:
        return seq() if evaluates(stmt, "stop_clock") else None

    for made, is_sane in ((func, True), (rewrite(func, never_stop, on=Evaluate), False)):
        assert isinstance(made, PrimFunc)
        kernel = build_kernels([made], Target())[0]
        kernel(np.ones((4, 64), np.float32), 10)
        assert all(0 <= each.ticks < 1 << 40 for each in kernel.clocks.read()) == is_sane


@pytest.mark.parametrize("threads", [1, 4])
def test_results_and_counts_are_those_of_the_interpreter_with_any_threads(threads: int) -> None:
    func = time_loops(irkit.lower(parse(SLOW.format(rows=16))), least_work=1)
    before = num_threads()
    set_num_threads(threads)
    try:
        one, other = np.ones((16, 64), np.float32), np.ones((16, 64), np.float32)
        kernel = build_kernels([func], Target())[0]
        kernel.clocks.reset()
        kernel(one, 5)
        counted = [each.iterations for each in kernel.clocks.read()]
    finally:
        set_num_threads(before)
    interpret(func, other, 5)
    np.testing.assert_allclose(one, other, rtol=1e-6)
    assert counted == [16, 16 * 64, 5, 16, 16 * 64]
