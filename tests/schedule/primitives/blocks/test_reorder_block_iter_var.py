"""reorder_block_iter_var: the axes of a block are permuted."""

import pytest

from irkit.core import ScheduleError, walk
from irkit.ir import Block
from irkit.schedule import Schedule
from tests.schedule.kernels import matmul


def test_axes_are_listed_in_another_order() -> None:
    sch = Schedule(matmul(3, 4, 5), check="each")
    sch.reorder_block_iter_var(sch.get_block("C"), [2, 0, 1])
    (block,) = walk(sch.func, on=Block)
    assert [axis.var.name for axis in block.axes] == ["vr", "vi", "vj"]


@pytest.mark.parametrize("order", [[0, 1], [0, 1, 1], [0, 1, 3], [-1, 0, 1]])
def test_an_order_that_is_not_a_permutation_is_refused(order: list[int]) -> None:
    sch = Schedule(matmul(3, 4, 5))
    with pytest.raises(ScheduleError, match="not a permutation"):
        sch.reorder_block_iter_var(sch.get_block("C"), order)
