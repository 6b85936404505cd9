"""merge: adjacent nests become one where the order allows it."""

import pytest

from irkit import te
from irkit.core import ScheduleError, same
from irkit.ir import PrimFunc, as_scheduled
from irkit.schedule import Schedule
from tests.schedule.kernels import all_loops, chain, matmul
from tests.schedule.primitives.loops.programs import ORDERS, apart, planes, together


@pytest.mark.parametrize(("b", "c", "free"), ORDERS)
def test_nests_are_merged_only_if_no_later_iteration_is_needed(b: str, c: str, free: bool) -> None:
    sch = Schedule(apart(b, c), check="each")
    first, second = all_loops(sch)
    if free:
        assert sch.merge(first, second).var is first.var
        assert same(sch.func, together(b, c))
        return
    with pytest.raises(ScheduleError, match="a later iteration"):
        sch.merge(first, second)


def test_a_chain_of_three_is_merged_at_once() -> None:
    sch = Schedule(chain(8), check="each")
    sch.merge(*all_loops(sch))
    assert len(all_loops(sch)) == 1


def test_complete_nests_are_merged_and_split_again() -> None:
    func = planes(3, 5)
    sch = Schedule(func, check="each")
    inner = [sch.get_loops(sch.get_block(name))[1] for name in "BC"]
    sch.merge(*inner)
    outer, _ = all_loops(sch)
    sch.fission(outer, sch.get_block("B"))
    assert same(sch.func, as_scheduled(func))


def test_a_statement_between_the_nests_moves_before_them_if_the_order_allows_it() -> None:
    sch = Schedule(chain(8), check="each")
    b, _, d = all_loops(sch)
    with pytest.raises(ScheduleError, match="a statement between them"):
        sch.merge(b, d)
    other = Schedule(unrelated(), check="each")
    first, _, third = all_loops(other)
    other.merge(first, third)
    assert len(all_loops(other)) == 2


def unrelated() -> PrimFunc:
    a = te.placeholder((8,), name="A")
    b = te.compute((8,), lambda i: a[i] + 1.0, name="B")
    c = te.compute((8,), lambda i: a[i] * 2.0, name="C")
    d = te.compute((8,), lambda i: b[i] - 1.0, name="D")
    return te.create_prim_func([a, d, c])


def test_nests_that_differ_are_not_merged() -> None:
    sch = Schedule(matmul(4, 4, 4))
    with pytest.raises(ScheduleError, match="two or more"):
        sch.merge(all_loops(sch)[0])
    with pytest.raises(ScheduleError, match="not in one sequence of statements"):
        sch.merge(*all_loops(sch)[:2])
    init = sch.decompose_reduction(sch.get_block("C"), all_loops(sch)[0])
    start, steps = (sch.get_loops(block) for block in (init, sch.get_block("C")))
    with pytest.raises(ScheduleError, match="different depths"):
        sch.merge(start[1], steps[2])
    with pytest.raises(ScheduleError, match="does not come before"):
        sch.merge(steps[0], start[0])
    sch.merge(start[1], steps[1])


def test_nests_of_other_extent_or_marked_are_not_merged() -> None:
    a = te.placeholder((8,), name="A")
    b = te.compute((8,), lambda i: a[i] + 1.0, name="B")
    c = te.compute((7,), lambda i: a[i] + b[i], name="C")
    sch = Schedule(te.create_prim_func([a, c]))
    with pytest.raises(ScheduleError, match="same extent"):
        sch.merge(*all_loops(sch))
    sch.annotate(all_loops(sch)[0], "mine", 1)
    with pytest.raises(ScheduleError, match="marked mine"):
        sch.merge(*all_loops(sch))
