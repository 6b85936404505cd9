"""annotate: hints are data, and are added, replaced and removed."""

from typing import Any

import pytest

from irkit.core import ScheduleError, same
from irkit.ir import as_scheduled, parse, script
from irkit.schedule import Schedule
from tests.schedule.kernels import all_loops, chain


def test_hints_are_added_replaced_and_removed() -> None:
    sch = Schedule(chain(8), check="each")
    block, loop = sch.get_block("B"), all_loops(sch)[0]
    sch.annotate(block, "mine", 1)
    sch.annotate(block, "mine", ((1, 2), "x"))  # pyright: ignore[reportArgumentType] -- mixed depth
    sch.annotate(loop, "a.b", True)
    text = script(sch.func)
    assert same(parse(text), sch.func)
    assert 'with block("B", mine=((1, 2), "x")):' in text
    sch.unannotate(block, "mine")
    sch.unannotate(loop, "a.b")
    assert same(sch.func, as_scheduled(chain(8)))


@pytest.mark.parametrize("value", [1j, object, (((1,),),), b"x"])
def test_a_hint_is_data(value: Any) -> None:
    sch = Schedule(chain(8))
    with pytest.raises(ScheduleError):
        sch.annotate(sch.get_block("B"), "mine", value)
    with pytest.raises(ScheduleError, match="needs a key"):
        sch.annotate(sch.get_block("B"), "", 1)
