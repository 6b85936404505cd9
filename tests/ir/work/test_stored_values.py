"""Estimates of a loop's work, held against a count of the stores that run."""

import math
from collections import Counter
from textwrap import dedent

import pytest

from irkit.core import any_node, free_symbols, walk
from irkit.ir import Call, Div, Expr, FloorDiv, For, Load, Var, evaluate, parse, stored_values

NEST = """
def f(A: f32[n, m], C: f32[n, m]):
    for i in parallel(0, n):
        for j in serial(0, {columns}):
            C[i, j] = A[i, j]
        for j_1 in serial(0, 4):
            C[i, j_1] = A[i, j_1]
"""


def loop_of(text: str) -> For:
    return next(walk(parse(dedent(text)), on=For))


def at(estimate: Expr, **sizes: int) -> float:
    found = {var: sizes[var.name] for var in free_symbols(estimate) if isinstance(var, Var)}
    return float(evaluate(estimate, found))


@pytest.mark.parametrize("rows", [0, 1, 7, 300])
@pytest.mark.parametrize("columns", [0, 1, 5, 64])
def test_the_estimate_of_a_box_is_the_number_of_its_values(rows: int, columns: int) -> None:
    estimate = stored_values(loop_of(NEST.format(columns="m")))
    assert at(estimate, n=rows, m=columns) == rows * (columns + 4)


@pytest.mark.parametrize("columns", ["i + 1", "m // 8 + i % 2", "min(i, m)", "max(i - 7, 0)"])
def test_loops_that_depend_on_others_are_estimated_within_a_factor(columns: str) -> None:
    estimate = stored_values(loop_of(NEST.format(columns=columns)))
    for rows, m in ((40, 30), (200, 1000)):
        whole = sum(int(eval(columns, {"i": i, "m": m})) + 4 for i in range(rows))
        assert whole / 1.5 <= at(estimate, n=rows, m=m) <= whole * 1.5


def test_nothing_that_may_trap_or_is_known_only_inside_is_computed() -> None:
    text = """
    def f(A: i64[n], C: f32[n, m], k: i64):
        for i in parallel(0, n):
            for j in serial(0, A[i]):
                C[i, j] = f32(0.0)
            t: i64 = A[i] + 1
            for j_1 in serial(0, t):
                C[i, j_1] = f32(0.0)
            if k != 0:
                for j_2 in serial(0, n // k):
                    C[i, j_2] = f32(0.0)
    """
    estimate = stored_values(loop_of(text))
    assert not any_node(estimate, (Load, Call, Div, FloorDiv))
    assert at(estimate, n=10) == 30


def test_lanes_count_and_enormous_sizes_do_not_wrap() -> None:
    text = """
    def f(C: f32[n, m, 8]):
        for i in parallel(0, n):
            for j in serial(0, m):
                C[i, j, ramp(0, 1, 8)] = broadcast(f32(0.0), 8)
    """
    estimate = stored_values(loop_of(text))
    assert at(estimate, n=3, m=5) == 120
    assert at(estimate, n=1 << 40, m=1 << 40) == 8.0 * 2.0**80


def test_the_estimate_of_a_deep_nest_stays_small() -> None:
    names = [f"i{n}" for n in range(60)]
    lines = [f"{'    ' * (n + 1)}for {name} in serial(0, n):" for n, name in enumerate(names)]
    text = "\n".join(["def f(C: f32[n]):", *lines, "    " * 61 + "C[i0] = f32(0.0)"])
    used = Counter(type(node) for node in walk(stored_values(loop_of(text))))
    assert sum(used.values()) < 40
    assert math.isfinite(at(stored_values(loop_of(text)), n=2))
