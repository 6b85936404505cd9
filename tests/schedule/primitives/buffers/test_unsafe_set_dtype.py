"""unsafe_set_dtype: a buffer gets another type, which may change results."""

import pytest

from irkit.core import ScheduleError, walk
from irkit.ir import Allocate
from irkit.schedule import Schedule
from tests.schedule.kernels import matmul_relu


def test_a_buffer_may_be_kept_in_another_type() -> None:
    sch = Schedule(matmul_relu(4, 4, 4), check="each")
    sch.unsafe_set_dtype(sch.get_block("C"), "f64")
    (home,) = walk(sch.func, on=Allocate)
    assert str(home.buffer.dtype) == "f64"
    with pytest.raises(ScheduleError, match="cannot be a vector"):
        sch.unsafe_set_dtype(sch.get_block("C"), "f32x4")
