"""The error for an unknown name lists the known ones."""

import pytest

from irkit.core import ScheduleError
from irkit.schedule import Schedule
from tests.schedule.kernels import chain


def test_a_block_that_does_not_exist_is_an_error_that_lists_those_that_do() -> None:
    with pytest.raises(ScheduleError, match="B, C, D"):
        Schedule(chain(8)).get_block("E")
