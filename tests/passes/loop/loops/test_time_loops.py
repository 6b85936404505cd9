"""time_loops: clocks stand around the loops that run long enough, and nothing else changes."""

import pytest

import irkit
from irkit.core import IRKitError, walk
from irkit.ir import Evaluate, PrimFunc, evaluates, is_hint, parse, script, verify
from irkit.passes.loop import (
    eliminate_common_subexpressions,
    loops_worth_timing,
    remove_no_ops,
    simplify,
    time_loops,
    unroll_loops,
)
from tests.passes.loop.kernels import KERNELS, kernel

NEST = """\
def f(A: f32[64, 256], n: i64):
    for i in parallel(0, 64):
        for j in serial(0, 256):
            A[i, j] = exp(A[i, j])
        for k in vectorized(0, 256):
            A[i, k] = A[i, k] + 1.0
    for m in serial(2, n):
        A[m, 0] = 0.0
"""


def numbers(func: PrimFunc, name: str) -> list[str]:
    return [script(stmt).strip() for stmt in walk(func.body, Evaluate) if evaluates(stmt, name)]


def test_loops_that_run_long_get_clocks_with_numbers_in_the_order_of_the_text() -> None:
    made = time_loops(parse(NEST), least_work=512)
    assert numbers(made, "start_clock") == [
        "evaluate(start_clock(0, 64))",
        "evaluate(start_clock(1, 256))",
    ]
    assert len(numbers(made, "stop_clock")) == 2
    assert verify(made) == []
    assert [loop.var.name for loop, _ in loops_worth_timing(parse(NEST), least_work=512)] == [
        "i",
        "j",
    ]
    assert [around for _, around in loops_worth_timing(parse(NEST), least_work=512)] == [None, 0]
    assert script(parse(script(made))) == script(made)


def test_a_loop_without_constant_bounds_counts_how_often_it_runs() -> None:
    assert "evaluate(start_clock(2, n - 2))" in script(time_loops(parse(NEST), least_work=64))


def test_short_loops_stay_and_so_does_what_has_clocks() -> None:
    func = parse(NEST)
    assert time_loops(func, least_work=10**9) is func
    made = time_loops(func, least_work=512)
    assert time_loops(made, least_work=1) is made


@pytest.mark.parametrize("name", KERNELS)
def test_without_the_clocks_the_lowered_function_is_as_it_was(name: str) -> None:
    func = irkit.lower(kernel(name))
    made = time_loops(func, least_work=8)

    def without(line: str) -> bool:
        return "_clock(" not in line and "timed_loops" not in line

    kept = "\n".join(filter(without, script(made).split("\n")))
    assert kept == script(func)
    assert loops_worth_timing(func, least_work=8)


def test_passes_keep_clocks_where_they_are() -> None:
    made = time_loops(parse(NEST), least_work=64)
    clocks = [stmt for stmt in walk(made.body, Evaluate) if is_hint(stmt)]
    for each in (simplify, remove_no_ops, eliminate_common_subexpressions, unroll_loops):
        made = each(made)
    assert len([stmt for stmt in walk(made.body, Evaluate) if is_hint(stmt)]) == len(clocks) == 6


@pytest.mark.parametrize("number", ["n", "-1", "4096", "True"])
def test_the_number_of_a_clock_is_a_constant(number: str) -> None:
    func = parse(f"def f(A: f32[4], n: i64):\n    evaluate(stop_clock({number}))\n")
    assert "stop_clock" in str(verify(func)[0])


def test_a_kernel_without_clocks_says_how_to_get_them() -> None:
    built = irkit.build(parse(NEST))
    with pytest.raises(IRKitError, match="has no clocks"):
        _ = built.clocks
