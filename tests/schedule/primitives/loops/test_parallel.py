"""parallel: dependent iterations do not run in parallel."""

import pytest

from irkit.core import ScheduleError
from irkit.ir import parse
from irkit.schedule import Schedule
from tests.schedule.kernels import all_loops

SHIFT = """def f(A: f32[9]):
    for i in serial(0, 8):
        with block("B"):
            v = axis.spatial(8, i)
            A[v + 1] = A[v] + f32(1.0)
"""

PAIR = """def f(A: f32[9], B: f32[9], C: f32[9]):
    for i in serial(0, 8):
        with block("B"):
            v = axis.spatial(8, i)
            B[v] = A[v] + f32(1.0)
        with block("C"):
            w = axis.spatial(8, i)
            C[w] = B[w]
"""


@pytest.mark.parametrize("mark", ["parallel", "vectorize"])
@pytest.mark.parametrize(
    "text",
    [SHIFT, PAIR.replace("= B[w]", "= B[w + 1]"), PAIR.replace("B[v] =", "B[0] =")],
    ids=["carried", "reads ahead", "one element"],
)
def test_iterations_that_share_elements_are_not_parallel(text: str, mark: str) -> None:
    sch = Schedule(parse(text))
    (loop,) = sch.get_loops(sch.get_block("B"))
    with pytest.raises(ScheduleError, match="same element"):
        getattr(sch, mark)(loop)


@pytest.mark.parametrize("mark", ["parallel", "vectorize"])
def test_blocks_that_communicate_within_an_iteration_can_be_parallel(mark: str) -> None:
    sch = Schedule(parse(PAIR))
    (loop,) = sch.get_loops(sch.get_block("B"))
    getattr(sch, mark)(loop)


def test_a_loop_that_overlaps_the_next_tile_is_refused() -> None:
    text = """def f(A: f32[9]):
    for t in serial(0, 3):
        for i in serial(0, 4):
            with block("B"):
                v = axis.spatial(8, t * 2 + i)
                A[v] = f32(1.0)
"""
    sch = Schedule(parse(text))
    tile, _ = sch.get_loops(sch.get_block("B"))
    with pytest.raises(ScheduleError, match="same element"):
        sch.parallel(tile)


OPAQUE = """def f(A: f32[8]):
    for i in serial(0, 8):
        with block("B"):
            v = axis.opaque(8, i)
            A[v] = f32(1.0)
"""


@pytest.mark.parametrize("mark", ["parallel", "vectorize"])
def test_the_order_of_an_opaque_axis_is_kept(mark: str) -> None:
    sch = Schedule(parse(OPAQUE))
    with pytest.raises(ScheduleError, match="opaque axis"):
        getattr(sch, mark)(all_loops(sch)[0])
    with pytest.raises(ScheduleError, match="opaque axis"):
        sch.bind(all_loops(sch)[0], "threadIdx.x")
