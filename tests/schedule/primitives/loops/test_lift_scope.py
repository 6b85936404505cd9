"""lift_scope: a loop or `if` is interchanged with the scope directly around it."""

import pytest

from irkit.core import ScheduleError, walk
from irkit.ir import For, If, parse
from irkit.schedule import Schedule
from tests.schedule.kernels import all_loops
from tests.schedule.primitives.loops.programs import planes

GUARDED = """def f(A: f32[8, 4], B: f32[8, 4], n: i64):
    for i in serial(0, 8):
        if {cond}:
            for j in serial(0, 4):
                with block("B"):
                    v = axis.spatial(8, i)
                    w = axis.spatial(4, j)
                    B[v, w] = A[v, w]
"""


def shape(sch: Schedule) -> list[str]:
    return [type(stmt).__name__ for stmt in walk(sch.func, on=(For, If))]


def test_an_if_that_does_not_ask_about_a_loop_moves_out_of_it() -> None:
    sch = Schedule(parse(GUARDED.format(cond="n > 2")), check="each")
    sch.lift_scope(sch.get_block("B"))
    assert shape(sch) == ["If", "For", "For"]


def test_a_loop_moves_out_of_an_if() -> None:
    sch = Schedule(parse(GUARDED.format(cond="i > 2")), check="each")
    sch.lift_scope(all_loops(sch)[1])
    assert shape(sch) == ["For", "For", "If"]
    sch.lift_scope(all_loops(sch)[1])
    assert shape(sch) == ["For", "For", "If"]


def test_both_branches_of_an_if_get_the_loop() -> None:
    text = (
        GUARDED.format(cond="n > 2")
        + """        else:
            with block("C"):
                B[i, 0] = f32(7.0)
"""
    )
    sch = Schedule(parse(text), check="each")
    sch.lift_scope(sch.get_block("B"))
    assert shape(sch) == ["If", "For", "For", "For"]


@pytest.mark.parametrize(
    ("cond", "reason"),
    [("i > 2", "its condition uses"), ("B[0, 0] > f32(2.0)", "which the loop writes")],
)
def test_an_if_that_may_change_stays(cond: str, reason: str) -> None:
    sch = Schedule(parse(GUARDED.format(cond=cond)))
    with pytest.raises(ScheduleError, match=reason):
        sch.lift_scope(sch.get_block("B"))


def test_a_scope_with_nothing_around_stays() -> None:
    sch = Schedule(planes(3, 4))
    with pytest.raises(ScheduleError, match="not the only statement"):
        sch.lift_scope(all_loops(sch)[0])
    with pytest.raises(ScheduleError, match="no `if` around"):
        sch.lift_scope(sch.get_block("B"))


def test_a_loop_does_not_move_out_of_an_if_whose_condition_it_writes() -> None:
    sch = Schedule(parse(GUARDED.format(cond="B[0, 0] > f32(2.0)")))
    with pytest.raises(ScheduleError, match="which the loop writes"):
        sch.lift_scope(all_loops(sch)[1])
