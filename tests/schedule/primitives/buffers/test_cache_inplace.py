"""cache_inplace: a buffer that a block updates in place is copied in and out."""

import pytest

from irkit import te
from irkit.core import ScheduleError
from irkit.ir import parse
from irkit.schedule import Schedule
from tests.schedule.kernels import assert_same_natively, matmul
from tests.schedule.primitives.buffers.programs import IN_PLACE


def test_a_reduction_over_nothing_fills_nothing() -> None:
    n = te.var("n")
    a = te.placeholder((8, n), name="A")
    r = te.reduce_axis((0, n // 2), name="r")
    c = te.compute((8,), lambda i: te.max(a[i, r], axis=r), name="C")
    sch = Schedule(te.create_prim_func([a, c]), check="each")
    made = sch.cache_inplace(sch.get_block("C"), 0)
    assert [each.name for each in made] == ["C_local_in", "C_local_out"]


def test_a_block_updates_a_copy_in_place() -> None:
    sch = Schedule(parse(IN_PLACE), check="each")
    names = [each.name for each in sch.cache_inplace(sch.get_block("A"), "A")]
    assert names == ["A_local_in", "A_local_out"]
    assert_same_natively(parse(IN_PLACE), sch.func)


def test_cache_inplace_refuses_a_buffer_that_is_only_read() -> None:
    sch = Schedule(matmul(4, 4, 4))
    with pytest.raises(ScheduleError, match="both read and write"):
        sch.cache_inplace(sch.get_block("C"), "A")
