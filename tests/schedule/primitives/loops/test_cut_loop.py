"""cut_loop: a loop is cut in two at a value of its variable."""

import pytest

from irkit.core import ScheduleError, walk
from irkit.ir import Block, parse
from irkit.schedule import Schedule
from tests.schedule.kernels import chain, matmul


def test_a_reduction_continues_in_later_parts_without_initialising_again() -> None:
    sch = Schedule(matmul(4, 4, 8), check="each")
    *_, r = sch.get_loops(sch.get_block("C"))
    _, later = sch.cut_loop(r, 3)
    first, second = walk(sch.func, on=Block)
    assert first.init is not None
    assert second.init is None
    sch.decompose_reduction(sch.get_block("C"), r)
    sch.shift_loop(later)
    sch.split(later, [None, 2])


@pytest.mark.parametrize("at", [-1, 0, 8, 9])
def test_a_cut_outside_of_the_range_is_refused(at: int) -> None:
    sch = Schedule(chain(8))
    with pytest.raises(ScheduleError, match="inside its range"):
        sch.cut_loop(sch.get_loops(sch.get_block("B"))[0], at)


def test_a_reduction_that_may_be_initialised_in_a_later_part_is_not_cut() -> None:
    text = """def f(A: f32[4], B: f32[3]):
    for i in serial(0, 3):
        for k in serial(0, 4):
            with block("B"):
                vi = axis.spatial(3, i)
                vk = axis.reduce(4, 3 - k)
                with init():
                    B[vi] = f32(0.0)
                B[vi] = B[vi] + A[vk]
"""
    sch = Schedule(parse(text))
    with pytest.raises(ScheduleError, match="start in the first part only"):
        sch.cut_loop(sch.get_loops(sch.get_block("B"))[1], 2)
