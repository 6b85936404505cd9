"""begin_at_first: a choice among elements begins with the first of them."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from irkit import ir, te, topi
from irkit.core import ScheduleError, walk
from irkit.ir import Compare, Expr, PrimFunc, interpret
from irkit.schedule import Schedule, ScheduleTrace

Pair = tuple[Expr, Expr]


def argmax(rows: Any, columns: Any, axis: int = 1, *, last: bool = False) -> PrimFunc:
    x = te.placeholder((rows, columns), name="x")
    return te.create_prim_func([x, topi.argmax(x, axis, last=last)])


def chosen(
    keeps: Callable[[Pair, Pair], Expr],
    start: tuple[int, float] = (2**63 - 1, -np.inf),
    at: Callable[[Any], Any] = lambda k: k,
) -> PrimFunc:
    """Return a choice along rows of seven by some condition, and what it is initialised with."""

    def combine(x: Pair, y: Pair) -> Pair:
        keep = keeps(x, y)
        return ir.select(keep, x[0], y[0]), ir.select(keep, x[1], y[1])

    def nothing(index: ir.DType, value: ir.DType) -> Pair:
        return ir.const(start[0], index), ir.const(start[1], value)

    reducer = te.comm_reducer(combine, nothing, "best")
    x = te.placeholder((3, 7), name="x")
    k = te.reduce_axis((0, 7), name="k")

    def pair(i: te.IterVar) -> tuple[Expr, ...]:
        found = reducer((at(k), x[i, k]), axis=k)
        assert isinstance(found, tuple)
        return found

    best = te.compute((3,), pair, name="best")
    return te.create_prim_func([x, *best])


def first_of(x: Pair, y: Pair) -> Expr:
    return ir.gt(x[1], y[1]) | (ir.eq(x[1], y[1]) & ir.lt(x[0], y[0]))


def comparisons(func: PrimFunc) -> int:
    return len(list(walk(func, on=Compare)))


@settings(max_examples=8, deadline=None, derandomize=True)
@given(
    size=st.tuples(st.integers(1, 4), st.integers(1, 9)),
    axis=st.integers(0, 1),
    last=st.booleans(),
    values=st.lists(
        st.sampled_from([0.0, -0.0, 1.0, 2.0, -np.inf, np.inf, np.nan]), min_size=36, max_size=36
    ),
)
def test_ties_and_nan_are_chosen_as_before(
    size: tuple[int, int], axis: int, last: bool, values: list[float]
) -> None:
    func = argmax(*size, axis, last=last)
    sch = Schedule(func)
    sch.begin_at_first(sch.get_block("argmax"))
    given = np.array(values[: size[0] * size[1]], np.float32).reshape(size)
    wanted, found = (np.zeros(size[1 - axis], np.int64) for _ in range(2))
    interpret(func, given, wanted)
    interpret(sch.func, given, found)
    np.testing.assert_array_equal(found, wanted)
    turned = given if axis else given.T
    where = turned[:, ::-1].argmax(1) if last else turned.argmax(1)
    np.testing.assert_array_equal(found, turned.shape[1] - 1 - where if last else where)


def test_positions_that_rise_are_not_compared() -> None:
    sch = Schedule(chosen(first_of), check="each")
    before = comparisons(sch.func)
    sch.begin_at_first(sch.get_block("best"))
    assert comparisons(sch.func) < before
    with pytest.raises(ScheduleError, match="cannot factor"):
        sch.rfactor(sch.get_loops(sch.get_block("best"))[1])


def test_positions_that_fall_are_compared() -> None:
    falling = chosen(first_of, at=lambda k: 6 - k)
    sch = Schedule(falling)
    sch.begin_at_first(sch.get_block("best"))
    for row in itertools.product((0.0, 1.0), repeat=3):
        given = np.tile(np.array([*row, 0.5, *row], np.float32), (3, 1))
        made = [[np.zeros(3, np.int64), np.zeros(3, np.float32)] for _ in range(2)]
        interpret(falling, given, *made[0])
        interpret(sch.func, given, *made[1])
        np.testing.assert_array_equal(made[0][0], made[1][0])


def test_partial_results_begin_at_their_first_element() -> None:
    sch = Schedule(argmax(3, 24), check="each")
    block = sch.get_block("argmax")
    _, lane = sch.split(sch.get_loops(block)[1], [None, 4])
    part = sch.rfactor(lane)
    sch.begin_at_first(part)
    sch.begin_at_first(block)
    again = Schedule(argmax(3, 24))
    ScheduleTrace.from_json(sch.trace.as_json()).apply(again)
    assert again.func.script() == sch.func.script()


def test_an_initial_value_that_may_win_stays() -> None:
    """All of a row may be minus infinity, which the lowest float is kept instead of."""
    for start in ((-1, -3e38), (0, -np.inf), (3, 0.0)):
        sch = Schedule(chosen(lambda x, y: ir.ge(x[1], y[1]), start))
        with pytest.raises(ScheduleError, match="may win"):
            sch.begin_at_first(sch.get_block("best"))


def test_a_row_that_may_be_empty_stays() -> None:
    sch = Schedule(argmax(te.var("m"), te.var("n")))
    with pytest.raises(ScheduleError, match="cannot be proved that there is one"):
        sch.begin_at_first(sch.get_block("argmax"))


def test_a_guard_that_leaves_out_the_first_element_stays() -> None:
    sch = Schedule(argmax(3, 5))
    _, lane = sch.split(sch.get_loops(sch.get_block("argmax"))[1], [None, 8])
    part = sch.rfactor(lane)
    with pytest.raises(ScheduleError, match="condition holds"):
        sch.begin_at_first(part)


def test_other_reductions_are_refused() -> None:
    x = te.placeholder((3, 7), name="x")
    sch = Schedule(te.create_prim_func([x, topi.sum(x, 1)]))
    with pytest.raises(ScheduleError, match="several values"):
        sch.begin_at_first(sch.get_block("sum"))

    def halves(a: Pair, b: Pair) -> Pair:
        return a[0] + b[0], ir.select(ir.gt(a[1], b[1]), a[1], b[1])

    def nothing(index: ir.DType, value: ir.DType) -> Pair:
        return ir.const(0, index), ir.const(-np.inf, value)

    k = te.reduce_axis((0, 7), name="k")
    reducer = te.comm_reducer(halves, nothing, "both")

    def pair(i: te.IterVar) -> tuple[Expr, ...]:
        found = reducer((k, x[i, k]), axis=k)
        assert isinstance(found, tuple)
        return found

    both = te.compute((3,), pair, name="both")
    sch = Schedule(te.create_prim_func([x, *both]))
    with pytest.raises(ScheduleError, match="keep all"):
        sch.begin_at_first(sch.get_block("both"))
