"""Conditions over axes: limits of the parser, and printing."""

import pytest

from irkit.core import ScheduleError
from irkit.schedule import Schedule
from irkit.schedule.arguments.index_map import map_from, map_text
from tests.schedule.kernels import chain


def test_the_error_for_a_condition_with_and_shows_how_to_write_it() -> None:
    sch = Schedule(chain(8))
    with pytest.raises(ScheduleError, match="Join conditions with &"):
        sch.set_store_predicate(sch.get_block("B"), lambda i: i < 4 and i > 2)


def test_a_condition_gives_a_truth_value() -> None:
    sch = Schedule(chain(8))
    with pytest.raises(ScheduleError, match="one bool expression"):
        sch.set_store_predicate(sch.get_block("B"), lambda i: i + 1)


def test_a_condition_prints_as_it_reads() -> None:
    text = map_text(lambda i, j: (i < 4) & ~(j + 1 == 3) | (i != j), 2, is_condition=True)
    assert map_text(map_from(text), 2, is_condition=True) == text


@pytest.mark.parametrize("text", ["lambda i: i < j", "lambda i: 0 < i < 4", "lambda i: i in i"])
def test_a_condition_is_read_within_limits(text: str) -> None:
    with pytest.raises(ScheduleError):
        map_from(text)
