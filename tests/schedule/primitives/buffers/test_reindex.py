"""reindex: a block uses a copy laid out by its axes."""

import pytest

from irkit.core import ScheduleError, walk
from irkit.ir import Allocate, PrimFunc, as_int, parse, script
from irkit.schedule import Schedule
from tests.schedule.kernels import assert_same_natively, chain, matmul

STRIDED = """def f(A: f32[20, 7], C: f32[4, 15]):
    for i in serial(0, 4):
        for j in serial(0, 5):
            with block("C"):
                v = axis.spatial(4, i)
                w = axis.spatial(5, j)
                C[3 - v, w * 3 + 1] = A[v * 4 + w % 3, 6 - w]
"""

TWICE = """def f(A: f32[8], C: f32[8]):
    for i in serial(0, 8):
        with block("C"):
            v = axis.spatial(8, i)
            C[v] = A[v] + A[7 - v]
"""

PADDED = """def f(A: f32[6], C: f32[8]):
    for i in serial(0, 8):
        with block("C"):
            v = axis.spatial(8, i)
            C[v] = A[v - 1] if v >= 1 and v < 7 else f32(0.0)
"""


def shapes(func: PrimFunc) -> list[tuple[int | None, ...]]:
    return [tuple(as_int(d) for d in a.buffer.shape) for a in walk(func, on=Allocate)]


def test_a_copy_has_a_dimension_for_each_axis_that_is_used() -> None:
    sch = Schedule(parse(STRIDED), check="each")
    block = sch.get_block("C")
    assert sch.reindex(block, "A").name == "C_A_reindex"
    assert sch.reindex(block, "C").name == "C_C_reindex"
    assert shapes(sch.func) == [(4, 5), (4, 5)]
    assert "C_reindex[v, w] = A_reindex[v, w]" in script(sch.func)
    assert_same_natively(parse(STRIDED), sch.func)


def test_a_transposed_operand_is_read_in_the_order_of_the_axes() -> None:
    sch = Schedule(matmul(3, 4, 5), check="each")
    block = sch.get_block("C")
    for name in "ABC":
        sch.reindex(block, name)
    assert shapes(sch.func) == [(3, 5), (4, 5), (3, 4)]
    assert_same_natively(matmul(3, 4, 5), sch.func)


def test_a_buffer_that_is_read_at_two_indices_has_no_single_layout() -> None:
    sch = Schedule(parse(TWICE))
    with pytest.raises(ScheduleError, match="accessed at 2 different indices"):
        sch.reindex(sch.get_block("C"), "A")
    idle = Schedule(chain(4))
    with pytest.raises(ScheduleError, match="accessed at 0 different indices"):
        idle.reindex(idle.get_block("B"), "C")


def test_a_conditional_read_outside_the_buffer_is_not_copied() -> None:
    sch = Schedule(parse(PADDED))
    with pytest.raises(ScheduleError, match="outside the buffer"):
        sch.reindex(sch.get_block("C"), "A")


def test_elements_that_are_written_twice_are_not_reindexed() -> None:
    func = parse("""def f(A: f32[4, 4], C: f32[7]):
    for i in serial(0, 4):
        for j in serial(0, 4):
            with block("C"):
                v = axis.spatial(4, i)
                w = axis.spatial(4, j)
                C[v + w] = A[v, w]
""")
    sch = Schedule(func)
    with pytest.raises(ScheduleError, match="writes a different element"):
        sch.reindex(sch.get_block("C"), "C")


def test_a_partly_computed_buffer_is_not_copied_back() -> None:
    func = parse("""def f(A: f32[8], C: f32[8]):
    for i in serial(0, 8):
        with block("C"):
            v = axis.spatial(8, i)
            where(i < 5)
            C[v] = A[v]
""")
    sch = Schedule(func, check="each")
    with pytest.raises(ScheduleError, match="all points"):
        sch.reindex(sch.get_block("C"), "C")
    sch.reindex(sch.get_block("C"), "A")


def test_an_accumulation_is_not_reindexed_apart_from_its_init() -> None:
    sch = Schedule(matmul(4, 4, 4), check="each")
    block = sch.get_block("C")
    sch.decompose_reduction(block, sch.get_loops(block)[2])
    with pytest.raises(ScheduleError, match="also writes"):
        sch.reindex(block, "C")


def test_an_index_loaded_from_memory_is_not_copied_ahead() -> None:
    func = parse("""def f(A: f32[8], I: i64[8], C: f32[8]):
    for i in serial(0, 8):
        with block("C"):
            v = axis.spatial(8, i)
            C[v] = A[I[v]]
""")
    sch = Schedule(func)
    with pytest.raises(ScheduleError, match="outside"):
        sch.reindex(sch.get_block("C"), "A")
