"""bind: independent iterations become blocks and threads of a launch."""

import pytest

from irkit import te
from irkit.core import ScheduleError
from irkit.ir import parse, script
from irkit.schedule import Schedule
from irkit.schedule.checks.launch import THREAD_AXES
from tests.schedule.kernels import all_loops, chain, matmul

DECAY = """def f(A: f32[8], B: f32[3]):
    for i in serial(0, 3):
        for k in serial(0, 8):
            with block("B"):
                vi = axis.spatial(3, i)
                vk = axis.reduce(8, k)
                with init():
                    B[vi] = f32(0.0)
                B[vi] = B[vi] * f32(2.0) + A[vk]
"""

TRIANGLE = """def f(A: f32[8, 8]):
    for i in serial(0, 8):
        for j in serial(0, i):
            with block("B"):
                v = axis.spatial(8, i)
                w = axis.spatial(8, j)
                A[v, w] = f32(1.0)
"""


def test_loops_become_blocks_and_threads_of_a_launch() -> None:
    a = te.placeholder((8,), name="A")
    b = te.compute((8,), lambda i: a[i] + 1.0, name="B")
    sch = Schedule(te.create_prim_func([a, b]), check="each")
    i0, i1, i2 = sch.split(all_loops(sch)[0], factors=[2, 2, 2])
    sch.reorder(i0, i2, i1)
    sch.bind(i0, "blockIdx.x")
    sch.bind(i2, "threadIdx.x")
    text = script(sch.func)
    assert 'in thread(0, 2, "blockIdx.x"):' in text
    assert 'in thread(0, 2, "threadIdx.x"):' in text


@pytest.mark.parametrize("axis", THREAD_AXES)
def test_every_axis_can_be_bound(axis: str) -> None:
    sch = Schedule(chain(8), check="each")
    sch.bind(all_loops(sch)[0], axis)
    assert sch.loop(all_loops(sch)[0]).thread == axis


def test_the_error_for_an_unknown_axis_lists_the_known_ones() -> None:
    sch = Schedule(chain(8))
    with pytest.raises(ScheduleError, match=r"threadIdx\.w"):
        sch.bind(all_loops(sch)[0], "threadIdx.w")


def test_threads_can_run_the_steps_of_a_sum() -> None:
    sch = Schedule(matmul(4, 4, 8), check="each")
    sch.bind(all_loops(sch)[2], "threadIdx.x")


@pytest.mark.parametrize("axis", ["blockIdx.x", "vthread"])
def test_only_threads_can_run_the_steps_of_a_sum(axis: str) -> None:
    sch = Schedule(matmul(4, 4, 8))
    with pytest.raises(ScheduleError, match="reduce axis"):
        sch.bind(all_loops(sch)[2], axis)


def test_threads_do_not_run_the_steps_of_other_reductions() -> None:
    sch = Schedule(parse(DECAY))
    with pytest.raises(ScheduleError, match="reduce axis"):
        sch.bind(all_loops(sch)[1], "threadIdx.x")


def test_a_thread_axis_is_bound_once_in_a_nest() -> None:
    sch = Schedule(matmul(4, 4, 8))
    i, j, _ = all_loops(sch)
    sch.bind(i, "threadIdx.x")
    with pytest.raises(ScheduleError, match="the same axis"):
        sch.bind(j, "threadIdx.x")
    other = Schedule(matmul(4, 4, 8))
    i, j, _ = all_loops(other)
    other.bind(j, "threadIdx.x")
    with pytest.raises(ScheduleError, match="the same axis"):
        other.bind(i, "threadIdx.x")


def test_virtual_threads_may_be_nested() -> None:
    sch = Schedule(matmul(4, 4, 8), check="each")
    for loop in all_loops(sch)[:2]:
        sch.bind(loop, "vthread")


def test_blocks_contain_threads_and_not_the_other_way_round() -> None:
    sch = Schedule(matmul(4, 4, 8))
    i, j, _ = all_loops(sch)
    sch.bind(i, "threadIdx.x")
    with pytest.raises(ScheduleError, match="blocks contain threads"):
        sch.bind(j, "blockIdx.x")


def test_a_reorder_does_not_put_blocks_inside_threads() -> None:
    sch = Schedule(matmul(4, 4, 8))
    i, j, _ = all_loops(sch)
    sch.bind(i, "blockIdx.x")
    sch.bind(j, "threadIdx.x")
    with pytest.raises(ScheduleError, match="blocks contain threads"):
        sch.reorder(j, i)


def test_an_axis_has_one_extent_in_a_launch() -> None:
    text = """def f(A: f32[8, 4], B: f32[8, 5]):
    for i in serial(0, 8):
        for j in serial(0, 4):
            with block("A"):
                v = axis.spatial(8, i)
                w = axis.spatial(4, j)
                A[v, w] = f32(1.0)
        for k in serial(0, 5):
            with block("B"):
                v = axis.spatial(8, i)
                w = axis.spatial(5, k)
                B[v, w] = f32(1.0)
"""
    sch = Schedule(parse(text))
    i, j, k = all_loops(sch)
    sch.bind(i, "blockIdx.x")
    sch.bind(j, "threadIdx.x")
    with pytest.raises(ScheduleError, match="two extents"):
        sch.bind(k, "threadIdx.x")
    # Separate launches can differ, until a loop around makes them one.
    other = Schedule(parse(text), check="each")
    i, j, k = all_loops(other)
    other.bind(j, "threadIdx.x")
    other.bind(k, "threadIdx.x")
    with pytest.raises(ScheduleError, match="two extents"):
        other.bind(i, "blockIdx.x")


def test_the_extent_of_a_thread_loop_does_not_change_during_the_launch() -> None:
    sch = Schedule(parse(TRIANGLE))
    with pytest.raises(ScheduleError, match="changes during"):
        sch.bind(all_loops(sch)[1], "threadIdx.x")


def test_a_thread_loop_starts_at_0() -> None:
    sch = Schedule(chain(8))
    sch.shift_loop(all_loops(sch)[0], 2)
    with pytest.raises(ScheduleError, match="does not start at 0"):
        sch.bind(all_loops(sch)[0], "threadIdx.x")


@pytest.mark.parametrize("mark", ["parallel", "vectorize", "unroll"])
def test_a_bound_loop_stays_bound(mark: str) -> None:
    sch = Schedule(chain(8))
    (loop, *_) = all_loops(sch)
    sch.bind(loop, "threadIdx.x")
    with pytest.raises(ScheduleError, match=r"bound to threadIdx\.x"):
        getattr(sch, mark)(loop)
    with pytest.raises(ScheduleError, match=r"marked threadIdx\.x"):
        sch.bind(loop, "threadIdx.y")
