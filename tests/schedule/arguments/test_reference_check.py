"""Arguments that should be block or loop references and are not are refused."""

import pytest

from irkit.core import ScheduleError
from irkit.schedule import Schedule
from tests.schedule.kernels import chain


def test_the_error_for_a_wrong_argument_shows_how_to_get_a_reference() -> None:
    sch = Schedule(chain(16))
    (loop,) = sch.get_loops(sch.get_block("B"))
    with pytest.raises(
        ScheduleError, match="split takes a loop as 'loop', found str 'i'"
    ) as caught:
        sch.split("i", [4, 4])  # pyright: ignore[reportArgumentType] -- the mistake
    assert "get_loops(block)" in str(caught.value)
    with pytest.raises(ScheduleError, match="takes a block as 'block', found LoopRef"):
        sch.compute_inline(loop)  # pyright: ignore[reportArgumentType] -- the mistake
    with pytest.raises(ScheduleError, match="reorder takes a loop as"):
        sch.reorder(loop, "j")  # pyright: ignore[reportArgumentType] -- the mistake
    with pytest.raises(ScheduleError, match="takes a block"):
        sch.get_loops("B")  # pyright: ignore[reportArgumentType] -- the mistake
