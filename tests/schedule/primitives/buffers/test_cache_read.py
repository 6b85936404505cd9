"""cache_read: a block reads a copy of a buffer that does not change in between."""

from typing import Any

import pytest

from irkit.core import ScheduleError
from irkit.ir import Buffer, parse
from irkit.schedule import Schedule
from tests.schedule.kernels import assert_same_results, block_names, chain, matmul


def test_a_cached_operand_is_copied_in() -> None:
    sch = Schedule(matmul(4, 5, 6))
    a = sch.func.params[0]
    assert isinstance(a, Buffer)
    made = sch.cache_read(sch.get_block("C"), a)
    assert block_names(sch.func) == [made.name, "C"]
    sch.transform_layout(made, lambda i, j: [j, i])
    assert_same_results(matmul(4, 5, 6), sch.func)


def test_a_buffer_written_in_the_same_loops_cannot_be_cached() -> None:
    sch = Schedule(matmul(4, 5, 6))
    c = sch.func.params[2]
    assert isinstance(c, Buffer)
    with pytest.raises(ScheduleError, match="written in the same loops"):
        sch.cache_read(sch.get_block("C"), c)


def test_copies_of_copies_have_unique_names() -> None:
    sch = Schedule(chain(8), check="each")
    block = sch.get_block("B")
    made = [sch.reindex(block, "A"), sch.cache_read(block, "A_reindex", "local")]
    made.append(sch.cache_read(block, "A_reindex_local", "local"))
    assert len(set(made)) == 3
    again = Schedule(chain(8))
    sch.trace.apply(again)


SHARED_ROWS = """def f(A: f32[4, 6], C: f32[4, 6]):
    B = alloc(f32[4, 6])
    for i in {}(0, 4):
        for j in serial(0, 6):
            with block("B"):
                v = axis.spatial(4, i)
                w = axis.spatial(6, j)
                B[v, w] = A[v, w] * f32(2.0)
        for j2 in serial(0, 6):
            with block("C"):
                v2 = axis.spatial(4, i)
                w2 = axis.spatial(6, j2)
                C[v2, w2] = B[v2, w2]
"""


@pytest.mark.parametrize("primitive", [Schedule.cache_read, Schedule.reindex_cache_read])
def test_a_copy_of_all_that_parallel_iterations_write_is_refused(primitive: Any) -> None:
    more: tuple[Any, ...] = ("local",)
    if primitive is Schedule.reindex_cache_read:
        more = ("local", lambda v, w: [w, v])
    sch = Schedule(parse(SHARED_ROWS.format("parallel")))
    with pytest.raises(ScheduleError, match="other iterations of the parallel loop 'i' write it"):
        primitive(sch, sch.get_block("C"), "B", *more)
    with pytest.raises(ScheduleError, match="other iterations of the parallel loop 'i' write it"):
        sch.reindex(sch.get_block("C"), "B")
    sch = Schedule(parse(SHARED_ROWS.format("serial")), check="each")
    primitive(sch, sch.get_block("C"), "B", *more)
    sch = Schedule(parse(SHARED_ROWS.format("parallel")), check="each")
    sch.cache_read(sch.get_block("B"), "A", "local")  # Nobody writes the input.
