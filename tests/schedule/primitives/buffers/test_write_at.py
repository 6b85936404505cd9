"""write_at: a block writes to a copy of a part, which is copied back after each iteration."""

import pytest

from irkit.core import ScheduleError
from irkit.ir import parse
from irkit.schedule import Schedule
from tests.schedule.kernels import assert_same_natively, matmul
from tests.schedule.primitives.buffers.programs import tiled


def test_a_tile_is_written_at_the_end_of_each_iteration() -> None:
    sch, loops = tiled(8, 4)
    block = sch.get_block("C")
    assert sch.write_at(loops[1], block, 0).name == "C_local_out"
    assert_same_natively(matmul(8, 8, 8), sch.func)


def test_write_at_refuses_a_buffer_that_another_block_accesses() -> None:
    text = """def f(A: f32[8], C: f32[8], D: f32[8]):
    for i in serial(0, 8):
        with block("C"):
            v = axis.spatial(8, i)
            C[v] = A[v]
        with block("D"):
            v = axis.spatial(8, i)
            D[v] = C[v]
"""
    sch = Schedule(parse(text), check="each")
    block = sch.get_block("C")
    (loop,) = sch.get_loops(block)
    with pytest.raises(ScheduleError, match="something else"):
        sch.write_at(loop, block, "C")
    names = [each.name for each in sch.stage_mem(loop, "C")]
    assert names == ["C_local_in", "C_local_out"]
