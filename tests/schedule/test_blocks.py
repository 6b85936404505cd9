"""Primitives that move blocks and buffers keep the meaning or refuse."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irkit import te
from irkit.core import ScheduleError, walk
from irkit.ir import Allocate, Block, Buffer, IfThenElse, PrimFunc, parse
from irkit.schedule import Schedule
from tests.schedule.kernels import assert_same_results, block_names, chain, matmul, matmul_relu


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


def test_the_start_of_a_reduction_becomes_a_block_of_its_own() -> None:
    sch = Schedule(matmul(3, 4, 5))
    block = sch.get_block("C")
    made = sch.decompose_reduction(block, sch.get_loops(block)[1])
    assert made.name == "C_init"
    assert block_names(sch.func) == ["C_init", "C"]
    assert_same_results(matmul(3, 4, 5), sch.func)


def test_a_start_inside_the_reduction_is_refused() -> None:
    sch = Schedule(matmul(3, 4, 5))
    block = sch.get_block("C")
    i, j, r = sch.get_loops(block)
    sch.reorder(r, i, j)
    with pytest.raises(ScheduleError, match="reduced over"):
        sch.decompose_reduction(block, i)


GUARDED = """
def f(A: f32[16, 8], C: f32[16]):
    for i in serial(0, 4):
        for j in serial(i * 4, i * 4 + 4):
            for r in serial(0, 8):
                with block("C"):
                    v = axis.spatial(16, j)
                    q = axis.reduce(8, r)
                    where(v < 13 and q < 7)
                    with init():
                        C[v] = f32(0.0)
                    C[v] = C[v] + A[v, q]
"""


@pytest.mark.parametrize("at", [1, 2])
def test_a_start_has_the_guards_of_its_elements(at: int) -> None:
    sch = Schedule(parse(GUARDED), check="each")
    block = sch.get_block("C")
    sch.decompose_reduction(block, sch.get_loops(block)[at])
    assert block_names(sch.func) == ["C_init", "C"]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("q < 7", "q >= 1", "its first step starts it"),
        ("serial(0, 8)", "serial(1, 8)", "its first step starts it"),
        ("16, j", "16, j // 2", "elements of its own"),
        ("i * 4, i * 4 + 4", "0, 16", "elements of its own"),
        ("v = axis.spatial(16, j)", "v = axis.opaque(16, j)", "opaque axis 'v'"),
    ],
)
def test_a_start_that_would_run_more_or_less_often_is_refused(
    old: str, new: str, reason: str
) -> None:
    assert old in GUARDED
    sch = Schedule(parse(GUARDED.replace(old, new)), check="each")
    block = sch.get_block("C")
    at = 0 if "elements" in reason else 1
    with pytest.raises(ScheduleError, match=reason):
        sch.decompose_reduction(block, sch.get_loops(block)[at])


def test_loops_whose_bounds_are_a_matter_of_the_reduction_are_not_copied_for_a_start() -> None:
    text = GUARDED.replace("axis.reduce(8, r)", "axis.reduce(8, i)").replace("i * 4", "i")
    sch = Schedule(parse(text))
    block = sch.get_block("C")
    with pytest.raises(ScheduleError, match="'i' of block 'C' is both reduced over and not"):
        sch.decompose_reduction(block, sch.get_loops(block)[0])


def test_a_start_over_fused_loops_of_any_size_becomes_a_block_of_its_own() -> None:
    n, k = te.var("n"), te.var("k")
    a = te.placeholder((n, n, k), name="A")
    r = te.reduce_axis((0, k), name="r")
    c = te.compute((n, n), lambda i, j: te.sum(a[i, j, r], axis=r), name="C")
    sch = Schedule(te.create_prim_func([a, c]))
    block = sch.get_block("C")
    fused = sch.fuse(*sch.get_loops(block)[:2])
    assert sch.decompose_reduction(block, fused).name == "C_init"


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


@pytest.mark.parametrize("primitive", ["decompose_reduction", "reverse_compute_at"])
def test_a_loop_that_is_both_reduced_over_and_not_is_refused(primitive: str) -> None:
    sch = Schedule(matmul_relu(4, 6, 5))
    block = sch.get_block("C")
    i, j, r = sch.get_loops(block)
    fused = sch.fuse(j, r)
    args = (block, fused) if primitive == "decompose_reduction" else (sch.get_block("D"), i)
    with pytest.raises(ScheduleError, match="both reduced over and not"):
        getattr(sch, primitive)(*args)
    assert_same_results(matmul_relu(4, 6, 5), sch.func)


def test_a_consumer_moves_under_a_loop_of_its_producer() -> None:
    sch = Schedule(matmul_relu(6, 8, 3))
    i, *_ = sch.get_loops(sch.get_block("C"))
    sch.reverse_compute_at(sch.get_block("D"), i)
    assert sch.get_loops(sch.get_block("D"))[0].var is i.var
    assert_same_results(matmul_relu(6, 8, 3), sch.func)


def test_a_consumer_cannot_move_under_the_reduction() -> None:
    sch = Schedule(matmul_relu(6, 8, 3))
    *_, r = sch.get_loops(sch.get_block("C"))
    with pytest.raises(ScheduleError, match="still reduces"):
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


def test_a_cached_result_is_copied_out() -> None:
    sch = Schedule(matmul(4, 5, 6))
    made = sch.cache_write(sch.get_block("C"), "local")
    assert block_names(sch.func) == ["C", made.name]
    (home,) = walk(sch.func, on=Allocate)
    assert home.buffer.scope == "local"
    assert_same_results(matmul(4, 5, 6), sch.func)


def test_a_cached_operand_is_copied_in() -> None:
    sch = Schedule(matmul(4, 5, 6))
    a = sch.func.params[0]
    assert isinstance(a, Buffer)
    made = sch.cache_read(sch.get_block("C"), a)
    assert block_names(sch.func) == [made.name, "C"]
    sch.transform_layout(made, lambda i, j: [j, i])
    assert_same_results(matmul(4, 5, 6), sch.func)


def test_what_is_written_in_the_same_loops_cannot_be_cached() -> None:
    sch = Schedule(matmul(4, 5, 6))
    c = sch.func.params[2]
    assert isinstance(c, Buffer)
    with pytest.raises(ScheduleError, match="written in the same loops"):
        sch.cache_read(sch.get_block("C"), c)


def test_overcompute_takes_the_guard_from_the_block() -> None:
    sch = Schedule(matmul_relu(3, 10, 4))
    block = sch.get_block("C")
    _, j, _ = sch.get_loops(block)
    sch.split(j, [None, 4])
    sch.overcompute(block)
    (found,) = [each for each in walk(sch.func, on=Block) if each.name == "C"]
    assert found.predicate is None
    assert_same_results(matmul_relu(3, 10, 4), sch.func)


def test_what_a_parameter_has_room_for_needs_no_guard() -> None:
    def func() -> PrimFunc:
        a = te.placeholder((12,), name="A")
        return te.create_prim_func([a, te.compute((10,), lambda i: a[i] + 1.0, name="C")])

    sch = Schedule(func())
    block = sch.get_block("C")
    store = sch.cache_write(block)
    outer, _ = sch.split(sch.get_loops(block)[0], [None, 4])
    sch.reverse_compute_at(store, outer)
    sch.overcompute(block)
    assert not any(True for _ in walk(sch.get(block), on=IfThenElse))
    assert_same_results(func(), sch.func)


def test_the_scope_of_what_a_guarded_part_of_a_sum_writes_can_be_set() -> None:
    sch = Schedule(matmul(2, 3, 5))
    *_, r = sch.get_loops(sch.get_block("C"))
    _, part = sch.split(r, [None, 2])
    block = sch.rfactor(part)
    sch.set_scope(block, "local")
    scopes = [each.buffer.scope for each in walk(sch.func, on=Allocate)]
    assert scopes == ["local"]
    assert_same_results(matmul(2, 3, 5), sch.func)


def test_a_guard_on_a_reduction_cannot_be_taken_away() -> None:
    sch = Schedule(matmul_relu(3, 4, 10))
    block = sch.get_block("C")
    *_, r = sch.get_loops(block)
    sch.split(r, [None, 4])
    with pytest.raises(ScheduleError, match="reduced over"):
        sch.overcompute(block)


def test_a_parameter_has_the_layout_that_its_caller_knows() -> None:
    sch = Schedule(matmul(4, 4, 4))
    with pytest.raises(ScheduleError, match="own"):
        sch.transform_layout(sch.get_block("C"), lambda i, j: [j, i])


def test_a_layout_that_is_not_injective_is_refused() -> None:
    sch = Schedule(chain(8))
    with pytest.raises(ScheduleError, match="same place"):
        sch.transform_layout(sch.get_block("B"), lambda i: [i // 2])


@settings(max_examples=15, deadline=None, derandomize=True)
@given(m=st.integers(1, 7), n=st.integers(1, 21), k=st.integers(1, 4), rows=st.integers(1, 3))
def test_a_register_tile_gives_the_same(m: int, n: int, k: int, rows: int) -> None:
    sch = Schedule(matmul_relu(m, n, k))
    block = sch.get_block("C")
    i, j, r = sch.get_loops(block)
    high, low = sch.split(i, [None, rows])
    far, near = sch.split(j, [None, 4])
    sch.reorder(high, far, r, low, near)
    sch.unroll(low)
    sch.vectorize(near)
    sch.reverse_compute_at(sch.get_block("D"), far)
    sch.overcompute(block)
    sch.decompose_reduction(block, r)
    sch.transform_layout(block, lambda i, j: [i // rows, i % rows, j // 4, j % 4])
    sch.set_scope(block, "local")
    assert_same_results(matmul_relu(m, n, k), sch.func)
