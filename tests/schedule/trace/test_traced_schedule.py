"""Each primitive is recorded, checked, and undone if it fails."""

import pytest

from irkit.core import ScheduleError
from irkit.schedule import Schedule
from tests.schedule.kernels import chain


def test_a_step_that_failed_is_not_in_the_trace() -> None:
    sch = Schedule(chain(16))
    (loop,) = sch.get_loops(sch.get_block("B"))
    before, steps = sch.func, len(sch.trace)
    with pytest.raises(ScheduleError):
        sch.split(loop, [3, 3])
    assert sch.func is before
    assert len(sch.trace) == steps


def test_the_span_of_every_new_loop_names_its_step_and_line() -> None:
    sch = Schedule(chain(16))
    (loop,) = sch.get_loops(sch.get_block("B"))
    outer, _ = sch.split(loop, [4, 4])
    span = sch.loop(outer).span
    assert span is not None
    assert (span.kind, span.name) == ("schedule", "split#3")
    assert span.file == __file__
    assert __file__ in sch.trace.steps[2].where


def test_a_copy_of_a_schedule_is_independent() -> None:
    sch = Schedule(chain(16))
    (loop,) = sch.get_loops(sch.get_block("B"))
    other = sch.copy()
    other.split(loop, [4, 4])
    assert len(other.trace) == len(sch.trace) + 1
    assert sch.loop(loop)
