"""fission: the body of a loop is split where the order allows it."""

import pytest

from irkit.core import ScheduleError, same
from irkit.ir import parse
from irkit.schedule import Schedule
from tests.schedule.kernels import all_loops
from tests.schedule.primitives.loops.programs import ORDERS, apart, planes, together


@pytest.mark.parametrize(("b", "c", "free"), ORDERS)
def test_a_loop_is_split_after_a_block_only_if_the_order_allows_it(
    b: str, c: str, free: bool
) -> None:
    sch = Schedule(together(b, c), check="each")
    (loop,) = all_loops(sch)
    if free:
        sch.fission(loop, sch.get_block("B"))
        assert same(sch.func, apart(b, c))
        return
    with pytest.raises(ScheduleError, match="a later iteration"):
        sch.fission(loop, sch.get_block("B"))


def test_a_split_after_the_inner_loop_leaves_it_whole() -> None:
    sch = Schedule(planes(3, 5), check="each")
    rows = [sch.get_loops(sch.get_block(name))[0] for name in "BC"]
    row = sch.merge(*rows)
    first, _ = sch.fission(row, sch.get_loops(sch.get_block("B"))[1])
    assert first.var is row.var
    assert len(all_loops(sch)) == 4


def test_a_cut_needs_two_parts() -> None:
    sch = Schedule(planes(3, 5))
    rows = [sch.get_loops(sch.get_block(name)) for name in "BC"]
    with pytest.raises(ScheduleError, match="nothing in it follows"):
        sch.fission(rows[0][0], sch.get_block("B"))
    with pytest.raises(ScheduleError, match="not inside"):
        sch.fission(rows[0][0], sch.get_block("C"))
    with pytest.raises(ScheduleError, match="not inside"):
        sch.fission(rows[0][0], rows[0][0])


def test_a_loop_is_not_split_inside_an_allocation() -> None:
    text = """def f(A: f32[8], C: f32[8]):
    for i in serial(0, 8):
        T = alloc(f32[1])
        with block("T"):
            v = axis.spatial(8, i)
            T[0] = A[v]
        with block("C"):
            w = axis.spatial(8, i)
            C[w] = T[0]
"""
    sch = Schedule(parse(text))
    with pytest.raises(ScheduleError, match="statements other than loops"):
        sch.fission(all_loops(sch)[0], sch.get_block("T"))
