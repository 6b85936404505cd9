"""pragma: a hint that is typed and honoured."""

from typing import Any

import pytest

from irkit.core import ScheduleError
from irkit.schedule import Schedule
from irkit.schedule.primitives.loops.pragma import PRAGMAS
from tests.schedule.kernels import all_loops, chain


def test_a_pragma_is_a_hint_that_is_honoured() -> None:
    sch = Schedule(chain(8), check="each")
    loop = all_loops(sch)[0]
    sch.pragma(loop, "auto_unroll_max_step", 16)
    sch.pragma(loop, "unroll_explicit", True)
    assert dict(sch.loop(loop).attrs) == {"auto_unroll_max_step": 16, "unroll_explicit": True}


@pytest.mark.parametrize(
    ("key", "value"),
    [("auto_unroll_max_step", True), ("auto_unroll_max_step", -1), ("unroll_explicit", 1)],
)
def test_a_pragma_has_a_type(key: str, value: Any) -> None:
    sch = Schedule(chain(8))
    with pytest.raises(ScheduleError, match=PRAGMAS[key].__name__):
        sch.pragma(all_loops(sch)[0], key, value)


def test_a_pragma_that_nothing_honours_is_refused() -> None:
    sch = Schedule(chain(8))
    with pytest.raises(ScheduleError, match="unknown pragma"):
        sch.pragma(all_loops(sch)[0], "parallel_launch_point", True)
