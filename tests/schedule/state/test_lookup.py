"""The error for an unknown name lists the known ones."""

import pytest

from irkit.core import ScheduleError
from irkit.schedule import Schedule
from tests.schedule.kernels import chain


def test_the_error_for_an_unknown_block_lists_the_known_ones() -> None:
    with pytest.raises(ScheduleError, match="B, C, D"):
        Schedule(chain(8)).get_block("E")
