"""A schedule that is printed as Python is read back, and nothing else is."""

import pytest

from irkit.core import ParseError
from irkit.schedule import ScheduleTrace, read_schedule
from tests.fuzz.generators.schedules.test_schedule_samples import draw_samples


def test_what_is_printed_is_read_back() -> None:
    primitives = set[str]()
    for sample in draw_samples("schedules", 60):
        assert isinstance(sample.schedule, ScheduleTrace)
        printed = sample.schedule.as_python()
        assert read_schedule(f"# a comment\n\n{printed}") == sample.schedule.without_where()
        primitives |= {step.primitive for step in sample.schedule.steps}
    assert len(primitives) > 20


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import os", "edited:1: expected a call of a primitive of 'sch', found 'import os'"),
        ("\nos.system('x')", "edited:2: expected a call such as sch.split"),
        ("sch.split(i, open('x'))", "expected a number, text, name"),
        ("sch.split(i, [1 for _ in x])", "expected a number"),
        ("a.b = sch.split(i)", "expected names on the left"),
        ("sch.split(**x)", "is not possible here"),
        ("sch.split(", "edited:1: this is not Python"),
        ("x = 3", "expected a call of a primitive"),
        ("sch.a.b(3)", "expected a call such as"),
        ("sch.split(f'{x}')", "expected a number"),
        ("(" * 10_000, "this is not Python"),
    ],
)
def test_anything_else_is_refused_with_its_line(text: str, said: str) -> None:
    with pytest.raises(ParseError) as error:
        read_schedule(text, file="edited")
    assert said in str(error.value)
