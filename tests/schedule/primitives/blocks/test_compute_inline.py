"""compute_inline: elements are computed where they are read, if they are the same there."""

import pytest

from irkit.core import ScheduleError, walk
from irkit.ir import Allocate, parse
from irkit.schedule import Schedule
from tests.schedule.kernels import assert_same_results, block_names, chain, matmul_relu
from tests.schedule.programs import refuses


def test_an_inlined_block_and_its_buffer_are_gone() -> None:
    sch = Schedule(chain(8))
    sch.compute_inline(sch.get_block("B"))
    assert block_names(sch.func) == ["C", "D"]
    assert [alloc.buffer.name for alloc in walk(sch.func, on=Allocate)] == ["C"]
    assert_same_results(chain(8), sch.func)


def test_an_output_cannot_be_inlined() -> None:
    sch = Schedule(chain(8))
    with pytest.raises(ScheduleError, match="is a parameter"):
        sch.compute_inline(sch.get_block("D"))


def test_a_reduction_cannot_be_inlined() -> None:
    sch = Schedule(matmul_relu(4, 4, 4))
    with pytest.raises(ScheduleError, match="it reduces"):
        sch.compute_inline(sch.get_block("C"))


REMADE = """def f(A: f32[8], C: f32[8]):
    X = alloc(f32[1])
    B = alloc(f32[8])
    for i in serial(0, 8):
        with block("X"):
            v = axis.spatial(8, i)
            X[0] = A[v]
        with block("B"):
            v = axis.spatial(8, i)
            B[v] = X[0] + f32(1.0)
    for i in serial(0, 8):
        with block("C"):
            v = axis.spatial(8, i)
            C[v] = B[v]
"""


def test_a_block_is_not_inlined_behind_a_loop_that_overwrites_its_inputs() -> None:
    refuses(parse(REMADE), lambda s: s.compute_inline(s.get_block("B")), "overwritten in the loop")


def test_a_buffer_allocated_in_a_loop_is_not_used_after_it() -> None:
    sch = Schedule(chain(8), check="each")
    sch.read_at(sch.get_loops(sch.get_block("B"))[0], sch.get_block("B"), "A")
    with pytest.raises(ScheduleError, match="it uses 'A_local', which is not defined"):
        sch.compute_inline(sch.get_block("B"))


def test_a_block_is_not_inlined_past_a_change_of_its_inputs() -> None:
    text = """def f(A: f32[8], C: f32[8]):
    B = alloc(f32[8])
    for i in serial(0, 8):
        with block("B"):
            v = axis.spatial(8, i)
            B[v] = A[v] + f32(1.0)
    for j in serial(0, 8):
        with block("A"):
            v = axis.spatial(8, j)
            A[v] = f32(0.0)
    for k in serial(0, 8):
        with block("C"):
            v = axis.spatial(8, k)
            C[v] = B[v]
"""
    sch = Schedule(parse(text))
    with pytest.raises(ScheduleError, match="written again later"):
        sch.compute_inline(sch.get_block("B"))
