"""No primitive makes iterations meet of a loop that has no order."""

import numpy as np
import pytest

from irkit.core import ScheduleError
from irkit.ir import find_race, parse
from irkit.schedule import Schedule
from irkit.schedule.checks import unordered_loops
from irkit.schedule.trace import traced_schedule

LOOPS = ("parallel(0, 4)", "vectorized(0, 4)", 'thread(0, 4, "blockIdx.x")')
DIAGONALS = """
def f(A: f32[4], C: f32[8]):
    for j in serial(0, 4):
        for i in {}:
            with block("C"):
                vi = axis.spatial(4, i)
                vj = axis.reduce(4, j)
                C[vi + vj] = C[vi + vj] + A[vi]
"""
PADDED = """
def f(A: f32[50], C: f32[50]):
    T = alloc(f32[52])
    for i in parallel(0, 4):
        for j in serial(0, 18):
            with block("T"):
                v = axis.spatial(52, i * 16 + j)
                where(i * 16 + j < 52)
                T[v] = A[v - 1] if v >= 1 and v < 51 else f32(0.0)
        for j in serial(0, 16):
            with block("C"):
                v = axis.spatial(50, i * 16 + j)
                where(i * 16 + j < 50)
                C[v] = T[v] + T[v + 1] + T[v + 2]
"""


def reordered(loop: str) -> Schedule:
    """Move the loop over diagonals, in which iterations meet, into a loop without an order."""
    sch = Schedule(parse(DIAGONALS.format(loop)))
    sch.reorder(*reversed(sch.get_loops(sch.get_block("C"))))
    return sch


@pytest.mark.parametrize("loop", LOOPS)
def test_a_loop_that_carries_a_dependence_does_not_move_into_one_without_an_order(
    loop: str,
) -> None:
    with pytest.raises(ScheduleError, match=r"'i' may then write an element of 'C' that another"):
        reordered(loop)


def test_threads_in_lockstep_may_take_turns() -> None:
    assert reordered('thread(0, 4, "threadIdx.x")').func.body


def test_what_is_refused_races(monkeypatch: pytest.MonkeyPatch) -> None:
    def accept(*_: object) -> None:
        pass

    monkeypatch.setattr(traced_schedule, "check_meetings", accept)
    race = find_race(reordered(LOOPS[0]).func, np.ones(4, "f4"), np.ones(8, "f4"))
    assert race is not None
    assert str(race).startswith("two iterations of the parallel loop over 'i' meet")


@pytest.mark.parametrize("at", [0, 1])
def test_padding_that_several_iterations_copy_is_only_filled_before_all_of_them(at: int) -> None:
    sch = Schedule(parse(PADDED), check="each")
    block = sch.get_block("T")
    loop = sch.get_loops(block)[1]
    with pytest.raises(ScheduleError, match=r"decompose the padding of 'T': one iteration of the"):
        sch.decompose_padding(block, loop)
    serial = Schedule(parse(PADDED.replace("parallel", "serial")), check="each")
    block = serial.get_block("T")
    serial.decompose_padding(block, serial.get_loops(block)[1])


def test_padding_is_filled_in_each_iteration_that_has_it_to_itself() -> None:
    text = PADDED.replace("    T = alloc(f32[52])\n", "").replace(
        "(0, 4):\n", "(0, 4):\n        T = alloc(f32[52])\n"
    )
    sch = Schedule(parse(text), check="each")
    block = sch.get_block("T")
    sch.decompose_padding(block, sch.get_loops(block)[1])


def test_what_iterations_write_remains_one_value_for_each_element() -> None:
    before, after = parse(PADDED), parse(PADDED.replace("else f32(0.0)", "else f32(i)"))
    unordered_loops.check_meetings(before, before, "keep")
    with pytest.raises(ScheduleError, match="'T' that another one accesses"):
        unordered_loops.check_meetings(before, after, "change")
    unordered_loops.check_meetings(after, after, "keep")
