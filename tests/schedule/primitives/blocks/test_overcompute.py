"""overcompute: a guard is removed where nobody reads the additional elements."""

import numpy as np
import pytest

import irkit
from irkit import te
from irkit.core import ScheduleError, walk
from irkit.ir import Block, Conditional, Expr, PrimFunc, interpret, parse
from irkit.schedule import Schedule
from tests.schedule.kernels import assert_same_results, chain, matmul_relu
from tests.schedule.programs import refuses


def test_overcompute_removes_the_guard_of_the_block() -> None:
    sch = Schedule(matmul_relu(3, 10, 4))
    block = sch.get_block("C")
    _, j, _ = sch.get_loops(block)
    sch.split(j, [None, 4])
    sch.overcompute(block)
    (found,) = [each for each in walk(sch.func, on=Block) if each.name == "C"]
    assert found.predicate is None
    assert_same_results(matmul_relu(3, 10, 4), sch.func)


def test_a_parameter_with_enough_elements_needs_no_guard() -> None:
    def func() -> PrimFunc:
        a = te.placeholder((12,), name="A")
        return te.create_prim_func([a, te.compute((10,), lambda i: a[i] + 1.0, name="C")])

    sch = Schedule(func())
    block = sch.get_block("C")
    store = sch.cache_write(block)
    outer, _ = sch.split(sch.get_loops(block)[0], [None, 4])
    sch.reverse_compute_at(store, outer)
    sch.overcompute(block)
    assert not any(True for _ in walk(sch.get(block), on=Conditional))
    assert_same_results(func(), sch.func)


def test_a_guard_on_a_reduction_stays() -> None:
    sch = Schedule(matmul_relu(3, 4, 10))
    block = sch.get_block("C")
    *_, r = sch.get_loops(block)
    sch.split(r, [None, 4])
    with pytest.raises(ScheduleError, match="is a reduce axis"):
        sch.overcompute(block)


TWO_WRITERS = """def f(A: f32[8], C: f32[8]):
    B = alloc(f32[8])
    for i in serial(0, 8):
        with block("B"):
            v = axis.spatial(8, i)
            B[v] = A[v]
    for i in serial(0, 8):
        with block("D"):
            v = axis.spatial(8, i)
            where(v < 4)
            B[v] = A[v] * f32(2.0)
    for i in serial(0, 8):
        with block("C"):
            v = axis.spatial(8, i)
            C[v] = B[v]
"""


def same_place(i: Expr) -> tuple[Expr, ...]:
    return (i // 1,)


def test_a_guard_that_protects_elements_of_another_block_stays() -> None:
    reason = "can be false for an existing element"
    refuses(parse(TWO_WRITERS), lambda s: s.overcompute(s.get_block("D")), reason)


def test_an_index_that_does_not_grow_with_its_axis_keeps_the_guard() -> None:
    sch = Schedule(chain(7), check="each")
    sch.transform_layout(sch.get_block("B"), same_place)
    sch.split(sch.get_loops(sch.get_block("B"))[0], [None, 4])
    with pytest.raises(ScheduleError, match="at its own axes"):
        sch.overcompute(sch.get_block("B"))


OPEN = """def f(A: f32[m, 6], C: f32[m]):
    B = alloc(f32[m])
    for i in serial(0, m):
        for k in serial(0, 6):
            with block("B"):
                v = axis.spatial(m, i)
                w = axis.reduce(6, k)
                with init():
                    B[v] = f32(0.0)
                B[v] = B[v] + A[v, w]
    for i in serial(0, m):
        with block("C"):
            v = axis.spatial(m, i)
            C[v] = B[v]
"""


@pytest.mark.parametrize("repeat", [(), (0,)])
@pytest.mark.parametrize("count", [0, 1, 3, 4, 5, 8, 13])
def test_an_extent_that_is_not_constant_grows_to_a_multiple(
    repeat: tuple[int, ...], count: int
) -> None:
    func = parse(OPEN)
    sch = Schedule(func, check="each")
    block = sch.get_block("B")
    i, k = sch.get_loops(block)
    outer, inner = sch.split(i, [None, 4])
    sch.reorder(outer, k, inner)
    sch.reverse_compute_at(sch.get_block("C"), outer)
    sch.overcompute(block, repeat)
    found = sch.get(block)
    assert found.predicate is None
    assert any(True for _ in walk(found, on=Conditional))
    values = np.arange(count * 6, dtype=np.float32).reshape(count, 6)
    for each in (func, sch.func, irkit.lower(sch.func)):
        result = np.full(count, -1.0, np.float32)
        interpret(each, values, result)
        np.testing.assert_array_equal(result, values.sum(axis=1))


ALWAYS_EIGHT = """def f(A: f32[m], C: f32[m]):
    B = alloc(f32[m])
    for i in serial(0, 8):
        with block("B"):
            v = axis.spatial(m, i)
            where(i < m)
            B[v] = A[v]
    for i in serial(0, m):
        with block("C"):
            v = axis.spatial(m, i)
            C[v] = B[v]
"""


def test_repeating_needs_an_element() -> None:
    sch = Schedule(parse(ALWAYS_EIGHT))
    with pytest.raises(ScheduleError, match="may have no element to repeat"):
        sch.overcompute(sch.get_block("B"), (0,))


def test_an_axis_to_repeat_along_must_exist() -> None:
    sch = Schedule(matmul_relu(3, 10, 4))
    with pytest.raises(ScheduleError, match="has 3 axes, none at 3"):
        sch.overcompute(sch.get_block("C"), (3,))
