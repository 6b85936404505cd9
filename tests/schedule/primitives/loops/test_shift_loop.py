"""shift_loop: a loop begins elsewhere and keeps its extent."""

import pytest

from irkit.core import ScheduleError
from irkit.schedule import Schedule
from tests.schedule.kernels import chain
from tests.schedule.primitives.loops.programs import ranges


def test_a_shifted_loop_computes_the_same() -> None:
    sch = Schedule(chain(8), check="each")
    (loop,) = sch.get_loops(sch.get_block("C"))
    sch.shift_loop(loop, 5)
    assert ranges(sch)[1] == "5:13"
    sch.shift_loop(loop, 0)
    assert ranges(sch)[1] == "0:8"


def test_a_thread_loop_is_not_shifted() -> None:
    sch = Schedule(chain(8))
    (loop,) = sch.get_loops(sch.get_block("C"))
    sch.bind(loop, "threadIdx.x")
    with pytest.raises(ScheduleError, match="begins at 0"):
        sch.shift_loop(loop, 2)
