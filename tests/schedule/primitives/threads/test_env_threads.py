"""env_threads: a nest inside a launch of threads still runs once."""

import pytest

from irkit.core import ScheduleError, walk
from irkit.ir import For, If, parse, script
from irkit.schedule import Schedule
from tests.schedule.kernels import chain, matmul


def test_the_first_of_the_threads_runs_the_nest() -> None:
    sch = Schedule(matmul(2, 3, 4), check="each")
    made = sch.env_threads(sch.get_block("C"), [("blockIdx.x", 2), ("threadIdx.x", 4)])
    found = list(walk(sch.func, on=For))[:2]
    assert [loop.var for loop in found] == [ref.var for ref in made]
    assert [(loop.kind, loop.thread) for loop in found] == [
        ("thread", "blockIdx.x"),
        ("thread", "threadIdx.x"),
    ]
    (branch,) = walk(sch.func, on=If)
    assert script(branch.cond) == "blockIdx_x == 0 and threadIdx_x == 0"


@pytest.mark.parametrize(
    ("axes", "reason"),
    [
        ([], "needs an axis"),
        ([("threadIdx.w", 2)], "unknown thread axis"),
        ([("threadIdx.x", 2), ("threadIdx.x", 2)], "twice"),
        ([("threadIdx.x", 0)], "positive"),
        ([("threadIdx.x", True)], "positive"),
        ([("threadIdx.x", 2), ("blockIdx.x", 2)], "blocks contain threads"),
    ],
)
def test_an_invalid_launch_is_refused(axes: list[tuple[str, int]], reason: str) -> None:
    sch = Schedule(chain(8))
    with pytest.raises(ScheduleError, match=reason):
        sch.env_threads(sch.get_block("B"), axes)


def test_an_axis_that_is_bound_inside_cannot_be_launched_around() -> None:
    sch = Schedule(chain(8))
    sch.bind(sch.get_loops(sch.get_block("B"))[0], "threadIdx.x")
    with pytest.raises(ScheduleError, match="the same axis"):
        sch.env_threads(sch.get_block("B"), [("threadIdx.x", 8)])


def test_a_nest_with_a_barrier_is_not_run_by_one_thread() -> None:
    text = """def f(A: f32[8]):
    for i in thread(0, 8, "threadIdx.x"):
        with block("A"):
            v = axis.spatial(8, i)
            A[v] = f32(1.0)
            evaluate(barrier())
"""
    sch = Schedule(parse(text))
    with pytest.raises(ScheduleError, match="barrier"):
        sch.env_threads(sch.get_block("A"), [("threadIdx.y", 2)])
