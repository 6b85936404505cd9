"""fuse: nested loops become one over their product."""

import pytest

from irkit.core import ScheduleError
from irkit.ir import script
from irkit.schedule import Schedule
from tests.schedule.kernels import assert_same_results, chain, matmul


def test_fused_loops_run_over_the_product() -> None:
    sch = Schedule(matmul(3, 5, 2))
    i, j, _ = sch.get_loops(sch.get_block("C"))
    fused = sch.fuse(i, j)
    assert script(sch.loop(fused).end) == "15"
    assert_same_results(matmul(3, 5, 2), sch.func)


def test_loops_that_are_not_nested_directly_cannot_be_fused() -> None:
    sch = Schedule(matmul(3, 5, 2))
    i, _, r = sch.get_loops(sch.get_block("C"))
    with pytest.raises(ScheduleError, match="not the only statement"):
        sch.fuse(i, r)


@pytest.mark.parametrize("name", ["fuse", "reorder"])
def test_no_loops_at_all_are_refused(name: str) -> None:
    with pytest.raises(ScheduleError, match=f"{name} was given no loops"):
        getattr(Schedule(chain(16)), name)()
