"""double_buffer: a buffer gets two halves, one to fill while the other is used."""

import pytest

from irkit.core import ScheduleError, walk
from irkit.ir import Allocate, as_int, parse
from irkit.phases import lower
from irkit.schedule import Schedule
from tests.schedule.kernels import assert_same_natively, matmul_relu
from tests.schedule.primitives.buffers.programs import tile_copied


def test_a_buffer_filled_in_each_iteration_is_marked_for_two_halves() -> None:
    sch = tile_copied()
    sch.double_buffer(sch.get_block("C"))
    sch.double_buffer(sch.get_block("C"))
    (home,) = walk(sch.func, on=Allocate)
    assert home.attrs == (("double_buffer", True),)
    assert_same_natively(matmul_relu(8, 8, 4), sch.func)


def test_lowering_gives_a_marked_buffer_its_halves() -> None:
    sch = tile_copied()
    before = lower(sch.func)
    sch.double_buffer(sch.get_block("C"))
    after = lower(sch.func)
    sizes = [next(iter(walk(func, on=Allocate))).buffer.shape[0] for func in (before, after)]
    assert list(map(as_int, sizes)) == [8, 16]


def test_a_buffer_filled_once_is_not_doubled() -> None:
    sch = Schedule(matmul_relu(8, 8, 4))
    with pytest.raises(ScheduleError, match="filled once"):
        sch.double_buffer(sch.get_block("C"))


def test_a_buffer_of_a_parallel_loop_is_not_doubled() -> None:
    sch = tile_copied()
    sch.parallel(sch.get_loops(sch.get_block("D"))[0])
    with pytest.raises(ScheduleError, match="parallel"):
        sch.double_buffer(sch.get_block("C"))


def test_a_buffer_filled_from_the_previous_iteration_is_not_doubled() -> None:
    func = parse("""def f(A: f32[9], C: f32[9]):
    for i in serial(0, 8):
        T = alloc(f32[1])
        with block("T"):
            v = axis.opaque(8, i)
            T[0] = C[v]
        with block("C"):
            w = axis.opaque(8, i)
            C[w + 1] = T[0] + A[w]
""")
    sch = Schedule(func)
    with pytest.raises(ScheduleError, match="reads what loop"):
        sch.double_buffer(sch.get_block("T"))


def test_a_buffer_used_before_it_is_filled_is_not_doubled() -> None:
    func = parse("""def f(A: f32[8], C: f32[8]):
    T = alloc(f32[8])
    with block("I"):
        T[0] = f32(0.0)
    for i in serial(0, 8):
        with block("C"):
            w = axis.spatial(8, i)
            C[w] = A[w]
        with block("T"):
            v = axis.spatial(8, i)
            T[v] = A[v]
""")
    sch = Schedule(func)
    with pytest.raises(ScheduleError, match="filled once"):
        sch.double_buffer(sch.get_block("T"))
    text = """def f(A: f32[8], C: f32[8]):
    for i in serial(0, 8):
        T = alloc(f32[8])
        with block("T"):
            v = axis.spatial(8, i)
            T[v] = A[v]
        with block("C"):
            w = axis.spatial(8, i)
            C[w] = T[w]
        with block("U"):
            u = axis.spatial(8, i)
            T[u] = C[u]
"""
    sch = Schedule(parse(text))
    with pytest.raises(ScheduleError, match="before it is filled"):
        sch.double_buffer(sch.get_block("T"))
