"""unannotate: hints are removed."""

import pytest

from irkit.core import ScheduleError
from irkit.schedule import Schedule
from tests.schedule.kernels import chain


def test_a_missing_hint_cannot_be_removed() -> None:
    sch = Schedule(chain(8))
    sch.annotate(sch.get_block("B"), "mine", 1)
    with pytest.raises(ScheduleError, match="there are: mine"):
        sch.unannotate(sch.get_block("B"), "yours")
