"""unannotate: hints are removed."""

import pytest

from irkit.core import ScheduleError
from irkit.schedule import Schedule
from tests.schedule.kernels import chain


def test_a_hint_that_is_not_there_cannot_be_taken_away() -> None:
    sch = Schedule(chain(8))
    sch.annotate(sch.get_block("B"), "mine", 1)
    with pytest.raises(ScheduleError, match="there are: mine"):
        sch.unannotate(sch.get_block("B"), "yours")
