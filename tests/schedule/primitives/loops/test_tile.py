"""tile: two loops are split and their parts ordered."""

import pytest

from irkit.core import ScheduleError, walk
from irkit.ir import For
from irkit.schedule import Schedule
from tests.schedule.kernels import matmul
from tests.schedule.primitives.loops.programs import ends


def test_a_tile_is_two_splits_and_a_reorder() -> None:
    sch = Schedule(matmul(9, 10, 3), check="each")
    i, j, _ = sch.get_loops(sch.get_block("C"))
    made = sch.tile(i, j, 4, 5)
    assert [ref.var for ref in made] == [ref.var for ref in sch.get_loops(sch.get_block("C"))[:4]]
    assert ends(sch, made) == ["3", "2", "4", "5"]
    assert str(sch.trace.steps[-1]).endswith("sch.tile(i, j, 4, 5)")
    spans = [loop.span for loop in walk(sch.func, on=For)][:4]
    assert all(span is not None and span.name.startswith("tile#") for span in spans)


def test_a_tile_that_fails_changes_nothing() -> None:
    sch = Schedule(matmul(8, 8, 8))
    i, _, r = sch.get_loops(sch.get_block("C"))
    sch.fission(i, sch.decompose_reduction(sch.get_block("C"), r))
    before = sch.func
    with pytest.raises(ScheduleError, match="not in one nest"):
        sch.tile(i, sch.get_loops(sch.get_block("C"))[1], 4, 4)
    assert sch.func is before
