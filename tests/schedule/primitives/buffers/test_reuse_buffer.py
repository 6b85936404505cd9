"""reuse_buffer: two buffers share memory if they are never live at the same time."""

import pytest

from irkit.core import ScheduleError, walk
from irkit.ir import Allocate, parse
from irkit.schedule import Schedule
from tests.schedule.kernels import assert_same_natively, chain
from tests.schedule.primitives.buffers.programs import STAGES, tile_copied


def test_buffers_that_are_not_needed_together_share_memory() -> None:
    sch = Schedule(parse(STAGES), check="each")
    sch.reuse_buffer(sch.get_block("B"), sch.get_block("C"))
    assert [each.buffer.name for each in walk(sch.func, on=Allocate)] == ["B", "E"]
    assert_same_natively(parse(STAGES), sch.func)


def test_the_second_may_be_allocated_around_the_first() -> None:
    text = STAGES.replace(
        "    B = alloc(f32[6, 8])\n", "    C = alloc(f32[6, 4])\n    B = alloc(f32[6, 8])\n"
    )
    text = text.replace("    C = alloc(f32[6, 4])\n    for", "    for")
    sch = Schedule(parse(text), check="each")
    sch.reuse_buffer(sch.get_block("B"), sch.get_block("C"))
    assert [each.buffer.name for each in walk(sch.func, on=Allocate)] == ["B", "E"]


@pytest.mark.parametrize(
    ("first", "second", "why"),
    [
        ("E", "C", "does not fit"),
        ("C", "B", "does not fit"),
        ("B", "B", "at the same time"),
    ],
)
def test_memory_is_shared_only_where_it_can_be(first: str, second: str, why: str) -> None:
    sch = Schedule(parse(STAGES))
    with pytest.raises(ScheduleError, match=why):
        sch.reuse_buffer(sch.get_block(first), sch.get_block(second))


def test_buffers_with_overlapping_lifetimes_do_not_share_memory() -> None:
    sch = Schedule(chain(8))
    with pytest.raises(ScheduleError, match="at the same time"):
        sch.reuse_buffer(sch.get_block("B"), sch.get_block("C"))


def test_memory_of_another_type_or_scope_is_not_shared() -> None:
    sch = Schedule(parse(STAGES))
    sch.set_scope(sch.get_block("C"), "local")
    with pytest.raises(ScheduleError, match="type or scope"):
        sch.reuse_buffer(sch.get_block("B"), sch.get_block("C"))
    other = Schedule(parse(STAGES))
    other.storage_align(other.get_block("C"), 0, 0, 8, 0)
    with pytest.raises(ScheduleError, match="has strides"):
        other.reuse_buffer(other.get_block("B"), other.get_block("C"))


def test_parallel_iterations_keep_separate_memory() -> None:
    text = """def f(A: f32[8], C: f32[8]):
    for i in serial(0, 8):
        T = alloc(f32[1])
        with block("T"):
            v = axis.spatial(8, i)
            T[0] = A[v]
        with block("B"):
            v = axis.spatial(8, i)
            C[v] = T[0]
    for i in parallel(0, 8):
        U = alloc(f32[1])
        with block("U"):
            v = axis.spatial(8, i)
            U[0] = C[v]
        with block("C"):
            v = axis.spatial(8, i)
            C[v] = U[0] + A[v]
"""
    sch = Schedule(parse(text))
    with pytest.raises(ScheduleError, match="parallel loop"):
        sch.reuse_buffer(sch.get_block("T"), sch.get_block("U"))
    serial = Schedule(parse(text.replace("parallel", "serial")), check="each")
    serial.reuse_buffer(serial.get_block("T"), serial.get_block("U"))
    assert len(list(walk(serial.func, on=Allocate))) == 1


def test_a_marked_buffer_keeps_its_memory() -> None:
    sch = tile_copied()
    sch.double_buffer(sch.get_block("C"))
    with pytest.raises(ScheduleError, match="one of them has attributes"):
        sch.reuse_buffer(sch.get_block("C"), sch.get_block("C"))
