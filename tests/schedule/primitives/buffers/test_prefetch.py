"""prefetch: memory is fetched ahead, and nothing else changes."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from irkit.codegen import emit
from irkit.core import ScheduleError, Target, any_node, same, walk
from irkit.ir import Evaluate, Load, PrimFunc, interpret, parse, script
from irkit.phases import DEFAULT, build, lower
from irkit.schedule import Schedule, ScheduleTrace
from tests.schedule.kernels import assert_same_natively, chain, matmul

GATHER = """def f(A: f32[8, 40], I: i64[8], C: f32[8]):
    for i in serial(0, 8):
        with block("C"):
            v = axis.spatial(8, i)
            C[v] = A[I[v], 0] + A[v, 39]
"""


def ahead(func: PrimFunc, at: int = 0, buffer: str = "B", offset: int = 1) -> Schedule:
    sch = Schedule(func, check="each")
    block = sch.get_block("C")
    sch.prefetch(block, buffer, sch.get_loops(block)[at], offset)
    return sch


def test_the_inputs_of_an_iteration_are_prefetched_line_by_line() -> None:
    sch = ahead(matmul(4, 40, 6), 2, "B", 2)
    block = sch.get_block("C")
    assert "if r + 2 < 6:\n                    evaluate(prefetch(B[r + 2, j]))\n" in script(
        sch.func
    )
    sch.prefetch(block, "B", sch.get_loops(block)[1], 1)
    sch.prefetch(block, "B", sch.get_loops(block)[0], 1)
    text = script(sch.func)
    assert "j + 1]))" in text
    assert "for p1 in serial(0, 3):" in text
    lowered = lower(sch.func)
    assert isinstance(lowered, PrimFunc)
    assert "call void @llvm.prefetch.p0(ptr" in emit([lowered], Target())
    assert_same_natively(matmul(4, 40, 6), sch.func)


def test_a_loop_inside_prefetches_its_part_of_a_later_iteration() -> None:
    func = matmul(4, 40, 6)
    sch = Schedule(func, check="each")
    block = sch.get_block("C")
    _, j, k = sch.get_loops(block)
    sch.prefetch(block, "B", j, 1, inside=k)
    text = script(sch.func)
    assert "if j + 1 < 40:\n                    evaluate(prefetch(B[r, j + 1]))\n" in text
    assert_same_natively(func, sch.func)
    again = Schedule(func)
    ScheduleTrace.from_json(sch.trace.as_json()).apply(again)
    assert same(again.func, sch.func)


@settings(max_examples=15, deadline=None, derandomize=True)
@given(
    n=st.integers(1, 20),
    at=st.integers(0, 2),
    offset=st.integers(1, 30),
    buffer=st.sampled_from("AB"),
)
def test_no_address_outside_a_buffer_is_prefetched(
    n: int, at: int, offset: int, buffer: str
) -> None:
    func = matmul(3, n, 5)
    sch = ahead(func, at, buffer, offset)
    build(sch.func, check_bounds=True)
    assert_same_natively(func, sch.func)


def test_rows_of_a_tile_are_prefetched_in_a_parallel_loop() -> None:
    func = matmul(8, 40, 8)
    sch = Schedule(func, check="each")
    block = sch.get_block("C")
    i, _, k = sch.get_loops(block)
    io, _ = sch.split(i, [None, 4])
    ko, _ = sch.split(k, [None, 4])
    sch.parallel(io)
    sch.prefetch(block, "B", ko, 1)
    assert_same_natively(func, sch.func)


@settings(max_examples=6, deadline=None, derandomize=True)
@given(columns=st.integers(1, 40), parts=st.integers(1, 7))
def test_the_iterations_of_a_loop_prefetch_a_part_each(columns: int, parts: int) -> None:
    func = matmul(12, columns, 10)
    sch = Schedule(func, check="each")
    block = sch.get_block("C")
    i, j, k = sch.get_loops(block)
    sch.reorder(k, i)
    far, near = sch.split(i, [None, parts])
    ko, ki = sch.split(k, [None, 4])
    sch.reorder(ko, far, ki, near, j)
    sch.prefetch(block, "B", ko, 1, inside=near, among=far)
    assert "prefetch(B[" in script(sch.func)
    build(sch.func, check_bounds=True)
    assert_same_natively(func, sch.func)


def test_each_iteration_prefetches_a_row_of_the_next_rows() -> None:
    sch = Schedule(matmul(8, 16, 12), check="each")
    block = sch.get_block("C")
    i, j, k = sch.get_loops(block)
    ko, ki = sch.split(k, [None, 4])
    sch.reorder(ko, i, ki, j)
    sch.prefetch(block, "B", ko, 1, inside=i, among=i)
    # Of the 8 iterations, 4 have one of the 4 rows.
    assert "if r_0 + 1 < 3 and r_0 * 4 + i + 4 < 12:\n" in script(sch.func)
    assert "evaluate(prefetch(B[r_0 * 4 + i + 4, 0]))" in script(sch.func)


def test_loops_that_do_not_enclose_each_other_are_refused() -> None:
    func = matmul(4, 16, 8)
    sch = Schedule(func, check="each")
    block = sch.get_block("C")
    i, j, k = sch.get_loops(block)
    with pytest.raises(ScheduleError, match="is not inside of it"):
        sch.prefetch(block, "B", j, 1, inside=i)
    with pytest.raises(ScheduleError, match="is inside of"):
        sch.prefetch(block, "B", i, 1, inside=j, among=k)


@pytest.mark.parametrize("offset", [0, -1, 1 << 40])
def test_the_offset_is_limited(offset: int) -> None:
    with pytest.raises(ScheduleError, match="the offset must be 1 to"):
        ahead(matmul(4, 4, 4), 0, "B", offset)


def test_a_block_prefetches_its_inputs_in_a_loop_around_it() -> None:
    sch = Schedule(chain(8))
    (loop,) = sch.get_loops(sch.get_block("B"))
    with pytest.raises(ScheduleError, match="not under it"):
        sch.prefetch(sch.get_block("C"), "B", loop)
    with pytest.raises(ScheduleError, match="reads no buffer 'C'"):
        sch.prefetch(sch.get_block("B"), "C", loop)


@pytest.mark.parametrize("mark", ["vectorize", "bind"])
def test_vector_lanes_and_threads_do_not_prefetch(mark: str) -> None:
    sch = Schedule(chain(8))
    (loop,) = sch.get_loops(sch.get_block("C"))
    getattr(sch, mark)(loop, *(["threadIdx.x"] if mark == "bind" else []))
    with pytest.raises(ScheduleError, match=r"is (vectorized|thread)"):
        sch.prefetch(sch.get_block("C"), "B", loop)


def test_a_buffer_of_one_iteration_is_not_prefetched_for_another() -> None:
    sch = Schedule(chain(8))
    (loop,) = sch.get_loops(sch.get_block("C"))
    sch.compute_at(sch.get_block("B"), loop)
    with pytest.raises(ScheduleError, match="its own buffer"):
        sch.prefetch(sch.get_block("C"), "B", loop)


def test_an_index_loaded_from_memory_is_not_prefetched() -> None:
    sch = Schedule(parse(GATHER))
    block = sch.get_block("C")
    (loop,) = sch.get_loops(block)
    with pytest.raises(ScheduleError, match="which part is read"):
        sch.prefetch(block, "A", loop)


def test_prefetch_is_data() -> None:
    sch, again = ahead(matmul(4, 5, 6)), Schedule(matmul(4, 5, 6))
    ScheduleTrace.from_json(sch.trace.as_json()).apply(again)
    assert same(again.func, sch.func)
    assert same(parse(script(again.func)), sch.func)


def test_a_prefetch_is_not_a_load_to_share() -> None:
    func = parse(
        """
def g(A: f32[64], C: f32[64]):
    for i in serial(0, 64):
        evaluate(prefetch(A[i + 8]))
        evaluate(prefetch(A[i + 8]))
        C[i] = (A[i + 8] if i + 8 < 64 else f32(0.0)) * (A[i + 8] if i + 8 < 64 else f32(1.0))
""".lstrip()
    )
    lowered = DEFAULT.run(func)
    asked = [stmt for stmt in walk(lowered, on=Evaluate) if any_node(stmt, Load)]
    assert len(asked) == 2
    a, c = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    interpret(lowered, a, c)
    np.testing.assert_array_equal(c[:56], a[8:] ** 2)


def test_loops_with_a_prefetch_can_still_be_parallel() -> None:
    func = parse(
        """
def g(A: f32[64], C: f32[64]):
    for i in serial(0, 64):
        evaluate(prefetch(A[i + 8]))
        with block("C"):
            vi = axis.spatial(64, i)
            C[vi] = A[vi] + f32(1.0)
""".lstrip()
    )
    sch = Schedule(func, check="each")
    sch.parallel(sch.get_loops(sch.get_block("C"))[0])
