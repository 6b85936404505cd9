"""Stages are inlined where computing a value again costs less than memory for it."""

from collections.abc import Callable

import numpy as np
import pytest

import irkit
from irkit import te
from irkit.autoschedule import auto_schedule, blocks_of, inline_stages
from irkit.ir import Expr, PrimFunc, Var
from irkit.schedule import Schedule
from irkit.te import Tensor

SIZE = 40


def left(func: PrimFunc, kept: frozenset[str] = frozenset()) -> list[str]:
    """Inline, and list the stages that are left."""
    sch = Schedule(func)
    inline_stages(sch, kept=kept)
    return [block.name for block in blocks_of(sch)]


def slopes(first: Callable[[Tensor, Var, Var], Expr]) -> PrimFunc:
    """Make two stages, of which the second reads neighbours in the first."""
    x = te.placeholder((SIZE + 1, SIZE), name="x")
    a = te.compute((SIZE + 1, SIZE), lambda i, j: first(x, i, j), name="a")
    b = te.compute((SIZE, SIZE), lambda i, j: a[i + 1, j] - a[i, j], name="b")
    return te.create_prim_func([x, b])


def test_a_stage_of_little_arithmetic_is_computed_where_it_is_read_twice() -> None:
    assert left(slopes(lambda x, i, j: x[i, j] * 2.0 + 1.0)) == ["b"]
    assert left(slopes(lambda x, i, j: x[i, j] * 2.0 + 1.0), frozenset({"a"})) == ["a", "b"]


@pytest.mark.parametrize(
    "first",
    [
        lambda x, i, j: te.exp(x[i, j]),
        lambda x, i, j: 1.0 / x[i, j],
        lambda x, i, j: te.if_then_else(te.gt(i, 0), x[i, j] + 1.0, 0.0),
    ],
    ids=["function", "quotient", "guard"],
)
def test_what_is_dear_is_computed_once(first: Callable[[Tensor, Var, Var], Expr]) -> None:
    assert left(slopes(first)) == ["a", "b"]


def test_a_value_that_is_repeated_along_an_axis_is_computed_once() -> None:
    x, s = te.placeholder((SIZE, SIZE), name="x"), te.placeholder((SIZE,), name="s")
    a = te.compute((SIZE,), lambda j: s[j] * 2.0, name="a")
    b = te.compute((SIZE, SIZE), lambda i, j: x[i, j] * a[j] + a[j], name="b")
    assert left(te.create_prim_func([x, s, b])) == ["a", "b"]


def test_a_stage_with_too_many_readers_or_neighbours_is_computed_once() -> None:
    x = te.placeholder((SIZE + 4, SIZE + 4), name="x")

    def box(of: Tensor, size: int, name: str) -> Tensor:
        def cell(i: Var, j: Var) -> Expr:
            total: Expr = of[i, j] * 0.1
            for at in range(1, 9):
                total = total + of[i + at // 3, j + at % 3] * 0.1
            return total

        return te.compute((size, size), cell, name=name)

    a = box(x, SIZE + 2, "a")
    assert left(te.create_prim_func([x, box(a, SIZE, "b")])) == ["a", "b"]


def test_a_stage_that_a_reduction_reads_often_or_that_is_a_result_stays() -> None:
    x, k = te.placeholder((SIZE, SIZE), name="x"), te.reduce_axis((0, SIZE), name="k")
    w = te.reduce_axis((0, 3), name="w")
    a = te.compute((SIZE, SIZE), lambda i, j: x[i, j] + 1.0, name="a")
    b = te.compute((SIZE, SIZE), lambda i, j: a[i, j] * a[i, j], name="b")
    s = te.compute((SIZE,), lambda i: te.sum(a[i, k], axis=k), name="s")
    t = te.compute((SIZE, SIZE - 2), lambda i, j: te.sum(a[i, j + w], axis=w), name="t")
    assert left(te.create_prim_func([x, b, s])) == ["b", "s"]
    assert left(te.create_prim_func([x, t])) == ["a", "t"]
    assert left(te.create_prim_func([x, a, b])) == ["a", "b"]


@pytest.mark.parametrize("size", [1, 2, 9, 40])
def test_stages_of_neighbours_that_become_one_compute_the_same(size: int) -> None:
    x = te.placeholder((size + 4, size + 4), name="x")
    a = te.compute(
        (size + 2, size + 2),
        lambda i, j: x[i + 1, j + 1] * 4.0 - (x[i, j + 1] + x[i + 2, j + 1] + x[i + 1, j]),
        name="a",
    )
    b = te.compute((size + 1, size), lambda i, j: a[i + 1, j] - a[i, j + 1], name="b")
    c = te.compute((size, size + 1), lambda i, j: te.maximum(a[i, j + 1] - a[i, j], 0.0), name="c")
    d = te.compute((size, size), lambda i, j: b[i + 1, j] + b[i, j] - c[i, j + 1], name="d")
    func = te.create_prim_func([x, d])
    scheduled = auto_schedule(func)
    assert [block.name for block in blocks_of(Schedule(scheduled))] == ["d"]
    given = np.random.default_rng(size).integers(-9, 9, (size + 4, size + 4)).astype(np.float32)
    found = [np.full((size, size), np.nan, np.float32) for _ in range(2)]
    irkit.build(func, schedule="none")(given, found[0])
    irkit.build(scheduled)(given, found[1])
    np.testing.assert_array_equal(found[0], found[1])
