"""Index maps: parsing executes nothing, and printing round-trips."""

import pytest

from irkit.core import ScheduleError
from irkit.schedule.arguments.index_map import map_from, map_text


@pytest.mark.parametrize(
    "text",
    ["1", "lambda i: open(i)", "lambda i: i.real", "lambda i: x", "lambda i: " + "(" * 900, "("],
)
def test_an_index_map_executes_nothing(text: str) -> None:
    with pytest.raises(ScheduleError):
        map_from(text)


def test_an_index_map_prints_as_it_reads() -> None:
    text = map_text(lambda n, c: (n, c // 8, c % 8), 2)
    assert map_from(text)(3, 17) == (3, 2, 1)
    assert map_text(map_from(text), 2) == text


def test_an_index_map_may_take_any_number_of_indices() -> None:
    text = map_text(lambda *i: (*i[:-1], i[-1] // 2, i[-1] % 2), 3)
    assert text == "lambda d0, d1, d2: (d0, d1, d2 // 2, d2 % 2)"
