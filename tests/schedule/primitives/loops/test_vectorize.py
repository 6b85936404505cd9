"""vectorize: dependent iterations do not become lanes."""

import pytest

from irkit.core import ScheduleError
from irkit.schedule import Schedule
from tests.schedule.kernels import assert_same_results, chain, matmul


def test_parts_of_a_fused_loop_are_known_to_be_disjoint() -> None:
    sch = Schedule(matmul(5, 7, 2))
    i, j, _ = sch.get_loops(sch.get_block("C"))
    far, near = sch.split(sch.fuse(i, j), [None, 4])
    sch.parallel(far)
    sch.vectorize(near)
    assert_same_results(matmul(5, 7, 2), sch.func)


@pytest.mark.parametrize("mark", ["parallel", "vectorize"])
def test_the_loop_of_a_reduction_is_neither_parallel_nor_vectorized(mark: str) -> None:
    sch = Schedule(matmul(4, 4, 4))
    *_, reduced = sch.get_loops(sch.get_block("C"))
    with pytest.raises(ScheduleError, match="reduce axis"):
        getattr(sch, mark)(reduced)


def test_overlapping_chunks_are_not_parallel() -> None:
    sch = Schedule(chain(10))
    outer, inner = sch.split(sch.get_loops(sch.get_block("B"))[0], factor=4, tail="shift")
    sch.vectorize(inner)
    with pytest.raises(ScheduleError, match="same element"):
        sch.parallel(outer)
