"""Neighbouring pointwise stages that read the same input run in one nest, with equal results."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from irkit import te
from irkit.autoschedule import Machine, auto_schedule
from irkit.core import Target, walk
from irkit.ir import Block, Buffer, Expr, For, PrimFunc, Var, as_int, interpret, verify
from irkit.phases import DEFAULT
from irkit.runtime import compile_functions
from irkit.schedule import BlockRef, Schedule
from tests.draws import few_or_all


def stages(*shape: int, shifts: tuple[int, ...] = (0, 0), chain: bool = False) -> PrimFunc:
    """Return a stage for each shift, which reads ``x`` that far away along the last axis, and a
    stage that reads the neighbours of the first if ``chain``."""
    x = te.placeholder(shape, name="x")

    def stage(n: int, by: int) -> te.Tensor:
        def cell(*at: Var) -> Expr:
            there = (*at[:-1], at[-1] + by)
            inside = te.all(te.ge(there[-1], 0), te.lt(there[-1], shape[-1]))
            return te.if_then_else(inside, x[there], 0.0) + x[at] * float(n + 1)

        return te.compute(shape, cell, name=f"s{n}")

    made = [stage(n, by) for n, by in enumerate(shifts)]
    if chain:
        first = made[0]

        def last(*at: Var) -> Expr:
            there = (*at[:-1], (at[-1] + 1) % shape[-1])
            return first[there] + x[at]

        made.append(te.compute(shape, last, name="last"))
    return te.create_prim_func([x, *made])


def nests(func: PrimFunc) -> int:
    """Count the outermost loops around blocks."""
    sch = Schedule(func)
    return len({sch.get_loops(BlockRef(each.name))[0].var for each in walk(func, on=Block)})


def check(func: PrimFunc, *machines: Machine) -> None:
    """Compare scheduled code, interpreted and native, with the loops as written."""
    rng = np.random.default_rng(0)
    shapes = [
        [as_int(size) or 0 for size in each.shape]
        for each in func.params
        if isinstance(each, Buffer)
    ]
    given = rng.integers(-4, 5, shapes[0]).astype(np.float32)
    wanted = [np.zeros(shape, np.float32) for shape in shapes[1:]]
    interpret(func, given, *wanted)
    for machine in machines or (Machine(),):
        scheduled = auto_schedule(func, machine)
        assert verify(scheduled) == []
        found = [np.full(shape, 7, np.float32) for shape in shapes[1:]]
        native = [each.copy() for each in found]
        interpret(scheduled, given, *found)
        compile_functions({"main": DEFAULT.run(scheduled)}, Target())["main"](given, *native)
        for one, other, right in zip(found, native, wanted, strict=True):
            np.testing.assert_array_equal(one, right)
            np.testing.assert_array_equal(other, right)


@settings(max_examples=few_or_all(8, 20), deadline=None, derandomize=True)
@given(
    shape=st.lists(
        st.sampled_from([1, 2, 3, 7, 8, 13, 16, 17, 31, 33, 64]), min_size=1, max_size=3
    ),
    shifts=st.lists(st.integers(-2, 2), min_size=2, max_size=6),
    chain=st.booleans(),
    vector_bytes=st.sampled_from([16, 32, 64]),
)
def test_merged_stages_keep_their_results(
    shape: list[int], shifts: list[int], chain: bool, vector_bytes: int
) -> None:
    shape = [min(size, 5) for size in shape[:-1]] + shape[-1:]
    func = stages(*shape, shifts=tuple(shifts), chain=chain)
    check(func, Machine.with_vectors(vector_bytes))


@pytest.mark.parametrize(("count", "left"), [(2, 1), (4, 1), (5, 2)])
def test_stages_that_read_an_input_together_share_a_nest(count: int, left: int) -> None:
    scheduled = auto_schedule(stages(6, 70, shifts=(0,) * count))
    assert nests(scheduled) == left
    assert any(loop.kind == "vectorized" for loop in walk(scheduled, on=For))


def test_a_stage_that_needs_a_neighbour_of_another_stays_apart() -> None:
    func = stages(6, 70, shifts=(0,), chain=True)
    assert nests(auto_schedule(func)) == 2
    check(func)


def test_stages_without_a_common_input_stay_apart() -> None:
    x, y = (te.placeholder((6, 70), name=name) for name in "xy")
    one = te.compute((6, 70), lambda i, j: x[i, j] + 1.0, name="one")
    two = te.compute((6, 70), lambda i, j: y[i, j] + 1.0, name="two")
    assert nests(auto_schedule(te.create_prim_func([x, y, one, two]))) == 2


def test_stages_of_other_extents_stay_apart() -> None:
    x = te.placeholder((6, 70), name="x")
    one = te.compute((6, 70), lambda i, j: x[i, j] + 1.0, name="one")
    two = te.compute((6, 69), lambda i, j: x[i, j] + 1.0, name="two")
    assert nests(auto_schedule(te.create_prim_func([x, one, two]))) == 2
