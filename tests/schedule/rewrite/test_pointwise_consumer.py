"""A pointwise consumer moves under a loop of its producer and gets its bindings."""

import pytest

from irkit import te
from irkit.core import ScheduleError
from irkit.ir import parse
from irkit.schedule import Schedule
from tests.schedule.kernels import assert_same_results, matmul_relu


def test_a_consumer_is_guarded_as_its_producer_is_by_its_axes() -> None:
    text = """
def f(A: f32[16], D: f32[16]):
    B = alloc(f32[16])
    for i in serial(0, 4):
        for j in serial(i * 4, i * 4 + 4):
            with block("B"):
                v = axis.spatial(16, j)
                where(v < 16)
                B[v] = A[v]
    for k in serial(0, 16):
        with block("D"):
            w = axis.spatial(16, k)
            D[w] = B[w] + f32(1.0)
"""
    sch = Schedule(parse(text), check="each")
    sch.reverse_compute_at(sch.get_block("D"), sch.get_loops(sch.get_block("B"))[0])
    assert len(sch.get_loops(sch.get_block("D"))) == 2


def test_a_consumer_moves_under_a_loop_of_its_producer() -> None:
    sch = Schedule(matmul_relu(6, 8, 3))
    i, *_ = sch.get_loops(sch.get_block("C"))
    sch.reverse_compute_at(sch.get_block("D"), i)
    assert sch.get_loops(sch.get_block("D"))[0].var is i.var
    assert_same_results(matmul_relu(6, 8, 3), sch.func)


def test_a_consumer_cannot_move_under_the_reduction() -> None:
    sch = Schedule(matmul_relu(6, 8, 3))
    *_, r = sch.get_loops(sch.get_block("C"))
    with pytest.raises(ScheduleError, match="still reducing"):
        sch.reverse_compute_at(sch.get_block("D"), r)


def test_a_consumer_that_reads_transposed_moves_with_its_axes_swapped() -> None:
    a = te.placeholder((4, 4), name="A")
    b = te.compute((4, 4), lambda i, j: a[i, j] + 1.0, name="B")
    c = te.compute((4, 4), lambda i, j: b[j, i], name="C")
    func = te.create_prim_func([a, c])
    sch = Schedule(func)
    i, _ = sch.get_loops(sch.get_block("B"))
    sch.reverse_compute_at(sch.get_block("C"), i)
    assert_same_results(func, sch.func)


def test_a_consumer_that_reads_elsewhere_cannot_move() -> None:
    a = te.placeholder((8,), name="A")
    b = te.compute((8,), lambda i: a[i] + 1.0, name="B")
    c = te.compute((8,), lambda i: b[i * i % 8], name="C")
    sch = Schedule(te.create_prim_func([a, c]))
    (i,) = sch.get_loops(sch.get_block("B"))
    with pytest.raises(ScheduleError, match="one for one"):
        sch.reverse_compute_at(sch.get_block("C"), i)
