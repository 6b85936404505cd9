"""reorder: loops are permuted where no iteration depends on another one."""

import pytest
from hypothesis import given, settings, strategies as st

from irkit.core import ScheduleError
from irkit.ir import parse
from irkit.schedule import Schedule
from tests.schedule.kernels import assert_same_results, chain, matmul

WAVE = """def f(A: f32[9, 9]):
    for i in serial(0, 8):
        for j in serial(0, 8):
            with block("B"):
                v = axis.spatial(8, i)
                w = axis.spatial(8, j)
                A[v + 1, w] = A[v, w + 1]
"""


def test_a_wave_is_not_reordered() -> None:
    sch = Schedule(parse(WAVE))
    i, j = sch.get_loops(sch.get_block("B"))
    with pytest.raises(ScheduleError, match="same element"):
        sch.reorder(j, i)


@settings(max_examples=12, deadline=None, derandomize=True)
@given(order=st.permutations([0, 1, 2]))
def test_any_order_of_a_matrix_product_gives_the_same(order: list[int]) -> None:
    sch = Schedule(matmul(3, 4, 5))
    loops = sch.get_loops(sch.get_block("C"))
    if order != sorted(order):  # A reduction that is not innermost needs its start apart.
        sch.decompose_reduction(sch.get_block("C"), loops[0])
    sch.reorder(*(loops[at] for at in order))
    found = [loop.var for loop in sch.get_loops(sch.get_block("C"))]
    assert found == [loops[at].var for at in order]
    assert_same_results(matmul(3, 4, 5), sch.func)


def test_reordering_loops_of_different_nests_is_refused() -> None:
    sch = Schedule(chain(8))
    (b,), (c,) = (sch.get_loops(sch.get_block(name)) for name in "BC")
    with pytest.raises(ScheduleError, match="not in one nest"):
        sch.reorder(b, c)


def test_a_reduction_that_is_not_a_sum_keeps_the_order_of_its_steps() -> None:
    text = """def f(A: f32[4, 4], B: f32[3]):
    for i in serial(0, 3):
        for k in serial(0, 4):
            for m in serial(0, 4):
                with block("B"):
                    vi = axis.spatial(3, i)
                    vk = axis.reduce(4, k)
                    vm = axis.reduce(4, m)
                    with init():
                        B[vi] = f32(0.0)
                    B[vi] = B[vi] * f32(2.0) + A[vk, vm]
"""
    sch = Schedule(parse(text), check="each")
    _, k, m = sch.get_loops(sch.get_block("B"))
    with pytest.raises(ScheduleError, match="taken in any order"):
        sch.reorder(m, k)
    other = Schedule(parse(text.replace("B[vi] * f32(2.0)", "B[vi]")), check="each")
    other.reorder(*other.get_loops(other.get_block("B"))[:0:-1])
