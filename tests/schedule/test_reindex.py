"""Copies laid out by the axes of a block, or by a map of them, hold what the block needs."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irkit import te
from irkit.core import ScheduleError, same, walk
from irkit.ir import Allocate, Block, PrimFunc, as_int, parse, script
from irkit.schedule import Schedule, ScheduleTrace
from tests.schedule.kernels import assert_same_natively, chain, matmul, matmul_relu

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


@settings(max_examples=15, deadline=None, derandomize=True)
@given(m=st.integers(1, 6), n=st.integers(1, 9), k=st.integers(1, 4), tile=st.integers(1, 5))
def test_packed_operands_give_the_same(m: int, n: int, k: int, tile: int) -> None:
    sch = Schedule(matmul_relu(m, n, k), check="each")
    block = sch.get_block("C")
    sch.reindex_cache_read(block, "B", "global", lambda i, j, r: (j // tile, r, j % tile))
    sch.reindex_cache_read(block, 1, "local", lambda i, j, r: (r, m - 1 - i))
    sch.reindex_cache_write(block, 0, "local", lambda i, j, r: (j // tile, i, j % tile))
    assert len(list(walk(sch.func, on=Block))) == 5


def test_a_buffer_that_is_read_at_two_places_has_no_single_layout() -> None:
    sch = Schedule(parse(TWICE))
    with pytest.raises(ScheduleError, match="accessed at 2 places"):
        sch.reindex(sch.get_block("C"), "A")
    idle = Schedule(chain(4))
    with pytest.raises(ScheduleError, match="accessed at 0 places"):
        idle.reindex(idle.get_block("B"), "C")


def test_what_is_read_under_a_condition_is_not_copied_without_it() -> None:
    sch = Schedule(parse(PADDED))
    with pytest.raises(ScheduleError, match="outside of the buffer"):
        sch.reindex(sch.get_block("C"), "A")


def test_a_map_that_sends_two_points_to_one_place_is_refused() -> None:
    sch = Schedule(matmul(4, 4, 4))
    block = sch.get_block("C")
    with pytest.raises(ScheduleError, match="own place"):
        sch.reindex_cache_read(block, "A", "local", lambda i, j, r: (i // 2, r))
    with pytest.raises(ScheduleError, match="axis 'vj'"):
        sch.reindex_cache_read(block, "A", "local", lambda i, j, r: (i, r, j))
    with pytest.raises(ScheduleError, match="negative"):
        sch.reindex_cache_read(block, "A", "local", lambda i, j, r: (i - 2, r))


def test_what_is_also_written_is_not_only_read() -> None:
    sch = Schedule(matmul(4, 4, 4))
    with pytest.raises(ScheduleError, match="also writes"):
        sch.reindex_cache_read(sch.get_block("C"), "C", "local", lambda i, j, r: (i, j))


def test_elements_that_are_written_twice_are_not_laid_out_apart() -> None:
    func = parse("""def f(A: f32[4, 4], C: f32[7]):
    for i in serial(0, 4):
        for j in serial(0, 4):
            with block("C"):
                v = axis.spatial(4, i)
                w = axis.spatial(4, j)
                C[v + w] = A[v, w]
""")
    sch = Schedule(func)
    with pytest.raises(ScheduleError, match="element of its own"):
        sch.reindex(sch.get_block("C"), "C")


def test_what_is_only_partly_computed_is_not_copied_back() -> None:
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


def test_an_accumulation_goes_on_where_it_was() -> None:
    sch = Schedule(matmul(4, 4, 4), check="each")
    block = sch.get_block("C")
    sch.decompose_reduction(block, sch.get_loops(block)[2])
    with pytest.raises(ScheduleError, match="written by"):
        sch.reindex(block, "C")


def test_a_place_that_is_read_from_memory_is_not_copied_ahead() -> None:
    func = parse("""def f(A: f32[8], I: i64[8], C: f32[8]):
    for i in serial(0, 8):
        with block("C"):
            v = axis.spatial(8, i)
            C[v] = A[I[v]]
""")
    sch = Schedule(func)
    with pytest.raises(ScheduleError, match="outside"):
        sch.reindex(sch.get_block("C"), "A")


def test_sizes_may_be_symbolic() -> None:
    n = te.var("n")
    a = te.placeholder((n, 4), name="A")
    b = te.compute((4, n), lambda i, j: a[j, i] + 1.0, name="B")
    sch = Schedule(te.create_prim_func([a, b]), check="each")
    sch.reindex(sch.get_block("B"), "A")
    with pytest.raises(ScheduleError, match="own place"):
        sch.reindex_cache_write(sch.get_block("B"), "B", "local", lambda i, j: (j // 4, i, j % 4))


def test_indices_are_computed_ahead() -> None:
    func = parse("""def f(A: f32[4, 3], C: f32[12]):
    for i in serial(0, 12):
        with block("C"):
            v = axis.spatial(12, i)
            C[v] = A[v // 3, v % 3] + A[v // 3, 0]
""")
    sch = Schedule(func, check="each")
    names = [each.name for each in sch.cache_index(sch.get_block("C"))]
    assert names == ["C_index_0", "C_index_1"]
    assert "A[C_index_0[v], C_index_1[v]] + A[C_index_0[v], 0]" in script(sch.func)
    assert_same_natively(func, sch.func)
    with pytest.raises(ScheduleError, match="none takes a division"):
        sch.cache_index(sch.get_block("C"))


@settings(max_examples=15, deadline=None, derandomize=True)
@given(n=st.integers(1, 13), tile=st.integers(1, 5), value=st.integers(-3, 3))
def test_the_room_that_a_layout_leaves_holds_what_is_asked_for(
    n: int, tile: int, value: int
) -> None:
    sch = Schedule(chain(n), check="each")
    sch.transform_layout(sch.get_block("B"), lambda i: (i // tile, i % tile), value)
    exact = n % tile == 0 or n <= tile
    assert ("B_pad" in script(sch.func)) is not exact
    assert (f"f32({float(value)})" in script(sch.func)) or exact or value in (1, 2)


def test_the_room_of_whole_numbers_holds_whole_numbers() -> None:
    func = parse("""def f(A: i64[5], C: i64[5]):
    B = alloc(i64[5])
    for i in serial(0, 5):
        with block("B"):
            v = axis.spatial(5, i)
            B[v] = A[v]
    for i in serial(0, 5):
        with block("C"):
            v = axis.spatial(5, i)
            C[v] = B[v]
""")
    sch = Schedule(func, check="each")
    with pytest.raises(ScheduleError, match=r"holds no 0.5"):
        sch.transform_layout(sch.get_block("B"), lambda i: (i // 2, i % 2), 0.5)
    sch.transform_layout(sch.get_block("B"), lambda i: (i // 2, i % 2), pad_value=7)
    assert "B[v0, v1] = 7" in script(sch.func)


def test_layouts_by_axes_are_data() -> None:
    def laid_out(sch: Schedule) -> Schedule:
        block = sch.get_block("C")
        sch.reindex(block, sch.buffer("A"))
        sch.reindex_cache_read(block, "B", "local", lambda i, j, r: (j, r))
        copy = sch.reindex_cache_write(block, 0, "local", lambda i, j, r: (j // 3, i, j % 3))
        sch.transform_layout(block, lambda *i: (i[1], i[0], i[2] // 2, i[2] % 2), pad_value=1.0)
        sch.cache_index(copy)
        return sch

    sch, again = laid_out(Schedule(matmul(4, 5, 6), check="each")), Schedule(matmul(4, 5, 6))
    ScheduleTrace.from_json(sch.trace.as_json()).apply(again)
    assert same(again.func, sch.func)
