"""An error shows the program with the line it is about marked."""

import pytest

from irkit.core import ScheduleError
from irkit.schedule import Schedule
from tests.schedule.kernels import matmul


def test_an_error_shows_the_program_with_the_line_marked() -> None:
    sch = Schedule(matmul(8, 8, 8))
    *_, k = sch.get_loops(sch.get_block("C"))
    with pytest.raises(ScheduleError) as caught:
        sch.vectorize(k)
    text = str(caught.value)
    (line,) = [line for line in text.splitlines() if line.startswith(">")]
    assert "for r in serial(0, 8):" in line
    assert "the reduce axis 'vr' of block 'C' uses it" in text
