"""stage_mem: a loop works on a copy of what it touches, and results stay the same."""

import pytest
from hypothesis import given, settings, strategies as st

from irkit import te
from irkit.core import ScheduleError, walk
from irkit.ir import Allocate, Buffer, as_int, parse
from irkit.schedule import Schedule
from tests.schedule.kernels import assert_same_natively, chain, matmul, matmul_relu
from tests.schedule.primitives.buffers.programs import sizes, tiled


def test_a_symbolic_part_is_copied_in_loops_as_long_as_its_dimension() -> None:
    n = te.var("n")
    a = te.placeholder((n, n), name="A")
    c = te.compute((n * n,), lambda i: a[i // n, i % n], name="C")
    sch = Schedule(te.create_prim_func([a, c]), check="each")
    (i,) = sch.get_loops(sch.get_block("C"))
    (made,) = sch.stage_mem(i, "A")
    assert all(as_int(sch.loop(loop).end) is None for loop in sch.get_loops(made))


@settings(max_examples=10, deadline=None, derandomize=True)
@given(n=st.integers(1, 9), tile=st.integers(1, 4), at=st.integers(0, 5))
def test_any_loop_may_work_on_copies_of_all_that_it_touches(n: int, tile: int, at: int) -> None:
    sch, loops = tiled(n, tile)
    for name in "ABC":
        sch.stage_mem(loops[at], name, "local")
    assert len(list(walk(sch.func, on=Allocate))) == 3


def test_lowering_makes_copies_as_small_as_the_part() -> None:
    sch, loops = tiled(8, 4)
    assert [each.name for each in sch.stage_mem(loops[3], "A")] == ["A_local_in"]
    assert [each.name for each in sch.stage_mem(loops[2], "C")] == ["C_local_out"]
    assert set(sizes(sch.func).values()) == {16}
    assert_same_natively(matmul(8, 8, 8), sch.func)


def test_a_part_that_a_loop_accumulates_into_is_copied_in_and_out() -> None:
    sch, loops = tiled(8, 4)
    names = [each.name for each in sch.stage_mem(loops[3], "C")]
    assert names == ["C_local_in", "C_local_out"]
    assert_same_natively(matmul(8, 8, 8), sch.func)


def test_a_loop_that_does_not_touch_a_buffer_stages_nothing() -> None:
    sch = Schedule(chain(8))
    with pytest.raises(ScheduleError, match="nothing there touches"):
        sch.stage_mem(sch.get_loops(sch.get_block("B"))[0], "C")


def test_parallel_iterations_do_not_copy_what_others_write() -> None:
    text = """def f(A: f32[8], C: f32[9]):
    for i in parallel(0, 2):
        for j in serial(0, 4):
            with block("C"):
                v = axis.spatial(8, j * 2 + i)
                C[v] = A[v]
"""
    sch = Schedule(parse(text))
    i, j = sch.get_loops(sch.get_block("C"))
    with pytest.raises(ScheduleError, match="would interfere"):
        sch.stage_mem(j, "C")
    sch.stage_mem(i, "C")
    assert_same_natively(parse(text), sch.func)


def test_a_copy_inside_a_vectorized_loop_is_refused() -> None:
    sch = Schedule(matmul_relu(4, 4, 4))
    i, j = sch.get_loops(sch.get_block("D"))
    sch.vectorize(i)
    with pytest.raises(ScheduleError, match="vectorized"):
        sch.stage_mem(j, "C")


def test_a_buffer_with_a_view_is_not_staged() -> None:
    func = parse("""def f(A: f32[4, 4], C: f32[16]):
    V = view(A, f32[16], offset=0)
    for i in serial(0, 16):
        with block("C"):
            v = axis.spatial(16, i)
            C[v] = V[v] + A[0, 0]
""")
    sch = Schedule(func)
    with pytest.raises(ScheduleError, match="view"):
        sch.stage_mem(sch.get_loops(sch.get_block("C"))[0], "A")


def test_a_loop_with_an_assertion_is_not_staged() -> None:
    func = parse("""def f(A: f32[4], C: f32[4]):
    for i in serial(0, 4):
        with block("C"):
            v = axis.spatial(4, i)
            assert v < 9, "no"
            C[v] = A[v]
""")
    sch = Schedule(func)
    (loop,) = sch.get_loops(sch.get_block("C"))
    with pytest.raises(ScheduleError, match="an assertion there may fail"):
        sch.stage_mem(loop, "C")
    sch.stage_mem(loop, "A")


def test_symbolic_sizes_are_copied_whole_or_in_part() -> None:
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    b = te.compute((n,), lambda i: a[i] + 1.0, name="B")
    sch = Schedule(te.create_prim_func([a, b]), check="each")
    (i,) = sch.get_loops(sch.get_block("B"))
    io, ii = sch.split(i, [None, 4])
    sch.stage_mem(ii, "A")
    sch.stage_mem(ii, "B")
    sch.stage_mem(io, "A")
    assert all(isinstance(each.buffer, Buffer) for each in walk(sch.func, on=Allocate))
