"""read_at: a block reads a copy of the part that each iteration of a loop reads."""

import pytest

from irkit.core import ScheduleError
from irkit.ir import parse
from irkit.schedule import Schedule
from tests.schedule.kernels import assert_same_natively, chain
from tests.schedule.primitives.buffers.programs import IN_PLACE, sizes

WINDOWS = """def f(A: f32[10], C: f32[8]):
    for i in serial(0, 4):
        for j in serial(0, 2):
            with block("C"):
                v = axis.spatial(8, i * 2 + j)
                C[v] = (A[v - 1] if v >= 1 else f32(0.0)) + A[v + 2]
"""


def test_a_part_that_reaches_beyond_the_buffer_is_clamped() -> None:
    sch = Schedule(parse(WINDOWS), check="each")
    block = sch.get_block("C")
    copy = sch.read_at(sch.get_loops(block)[0], block, "A", "shared")
    assert copy.name == "A_shared_in"
    assert "v0" in sch.mod.script()
    assert_same_natively(parse(WINDOWS), sch.func)
    assert sizes(sch.func)["A_shared"] == 5


def test_a_row_is_read_where_another_block_computed_it() -> None:
    sch = Schedule(chain(16), check="each")
    i, _ = sch.split(sch.get_loops(sch.get_block("D"))[0], [None, 4])
    sch.compute_at(sch.get_block("C"), i)
    sch.read_at(i, sch.get_block("C"), "B")
    with pytest.raises(ScheduleError, match="allocated there"):
        sch.read_at(i, sch.get_block("D"), "C")


def test_read_at_refuses_a_buffer_that_is_written_there() -> None:
    sch = Schedule(parse(IN_PLACE))
    block = sch.get_block("A")
    with pytest.raises(ScheduleError, match="written there"):
        sch.read_at(sch.get_loops(block)[0], block, "A")


def test_a_block_that_is_not_under_the_loop_is_refused() -> None:
    sch = Schedule(chain(8))
    (loop,) = sch.get_loops(sch.get_block("B"))
    with pytest.raises(ScheduleError, match="not under the loop"):
        sch.read_at(loop, sch.get_block("D"), "A")
    with pytest.raises(ScheduleError, match="writes no buffer"):
        sch.write_at(loop, sch.get_block("B"), "A")
