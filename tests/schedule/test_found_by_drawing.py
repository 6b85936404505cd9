"""What random schedules found: each of these changed the meaning, or failed other than by
ScheduleError."""

from collections.abc import Callable

import pytest

from irkit import te
from irkit.core import ScheduleError
from irkit.ir import Expr, PrimFunc, as_int, parse
from irkit.schedule import IndexMap, Schedule
from tests.schedule.kernels import chain, matmul, matmul_relu

IN_PLACE = """def f(A: f32[8, 8], B: f32[8, 8]):
    for i in serial(0, 6):
        for j in serial(0, 6):
            with block("B"):
                v = axis.spatial(6, i)
                w = axis.spatial(6, j)
                B[v + 1, w + 1] = A[v + 1, w] + f32(1.0)
            with block("A"):
                v = axis.spatial(6, i)
                w = axis.spatial(6, j)
                A[v, w] = B[v, w + 1] * f32(2.0)
"""

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

IF_ASKED = """def f(A: f32[8], C: f32[8], n: i64):
    B = alloc(f32[8])
    for i in serial(0, 8):
        with block("B"):
            v = axis.spatial(8, i)
            B[v] = A[v] + f32(1.0)
    if n > 4:
        for i in serial(0, 8):
            with block("C"):
                v = axis.spatial(8, i)
                C[v] = B[v]
"""

TWO_WRITERS = """def f(A: f32[8], C: f32[8]):
    B = alloc(f32[8])
    for i in serial(0, 8):
        with block("B"):
            v = axis.spatial(8, i)
            B[v] = A[v]
    for i in serial(0, 8):
        with block("D"):
            v = axis.spatial(8, i)
            where(v < 4)
            B[v] = A[v] * f32(2.0)
    for i in serial(0, 8):
        with block("C"):
            v = axis.spatial(8, i)
            C[v] = B[v]
"""


def same_place(i: Expr) -> tuple[Expr, ...]:
    return (i // 1,)


def in_turns(i: Expr) -> Expr:
    return i % 4


def refuses(func: PrimFunc, what: Callable[[Schedule], object], reason: str) -> None:
    sch = Schedule(func, check="each")
    with pytest.raises(ScheduleError, match=reason):
        what(sch)


@pytest.mark.parametrize("name", ["B", "A"])
def test_a_result_is_cached_only_where_all_of_it_is_written(name: str) -> None:
    reason = "not shown to write all"
    refuses(parse(IN_PLACE), lambda s: s.cache_write(s.get_block(name)), reason)


def test_a_result_computed_in_the_loop_of_another_is_not_cached_whole() -> None:
    sch = Schedule(chain(8), check="each")
    (i,) = sch.get_loops(sch.get_block("D"))
    sch.compute_at(sch.get_block("C"), i)
    with pytest.raises(ScheduleError, match="not shown to write all"):
        sch.cache_write(sch.get_block("C"))


def test_a_result_cached_twice_is_copied_by_blocks_of_two_names() -> None:
    sch = Schedule(chain(8), check="each")
    first = sch.cache_write(sch.get_block("B"))
    second = sch.cache_write(sch.get_block("B"))
    assert first != second
    again = Schedule(chain(8))
    sch.trace.apply(again)


def test_copies_of_copies_have_names_of_their_own() -> None:
    sch = Schedule(chain(8), check="each")
    block = sch.get_block("B")
    made = [sch.reindex(block, "A"), sch.cache_read(block, "A_reindex", "reindex")]
    made.append(sch.cache_read(block, "A_reindex_reindex", "reindex"))
    assert len(set(made)) == 3
    again = Schedule(chain(8))
    sch.trace.apply(again)


def test_what_a_loop_makes_anew_is_not_computed_behind_it() -> None:
    refuses(parse(REMADE), lambda s: s.compute_inline(s.get_block("B")), "made anew in the loop")


def test_what_is_allocated_in_a_loop_is_not_used_behind_it() -> None:
    sch = Schedule(chain(8), check="each")
    sch.read_at(sch.get_loops(sch.get_block("B"))[0], sch.get_block("B"), "A")
    with pytest.raises(ScheduleError, match="'A_local', which it uses, is not there"):
        sch.compute_inline(sch.get_block("B"))


def test_a_copy_in_a_loop_of_the_consumer_is_not_used_in_front_of_it() -> None:
    d = te.placeholder((8,), name="E")
    a = te.placeholder((8,), name="A")
    b = te.compute((8,), lambda i: a[i] + 1.0, name="B")
    c = te.compute((8,), lambda i: b[i] * d[i], name="C")
    sch = Schedule(te.create_prim_func([a, d, c]), check="each")
    sch.write_at(sch.get_loops(sch.get_block("C"))[0], sch.get_block("C"), "C")
    with pytest.raises(ScheduleError):
        sch.reverse_compute_inline(sch.get_block("C"))


def test_a_consumer_that_runs_only_if_asked_is_not_folded_into_its_producer() -> None:
    reason = "only if a condition holds"
    refuses(parse(IF_ASKED), lambda s: s.reverse_compute_inline(s.get_block("C")), reason)


def test_a_part_is_not_folded_into_what_is_computed_whole_in_each_turn() -> None:
    sch = Schedule(chain(8), check="each")
    (i,) = sch.get_loops(sch.get_block("D"))
    sch.compute_at(sch.get_block("C"), i)
    sch.write_at(i, sch.get_block("D"), "D")
    out = sch.get_block("D_local_out")
    sch.cache_read(out, 0, "shared")
    with pytest.raises(ScheduleError, match="one of them runs whole"):
        sch.reverse_compute_inline(out)


def test_a_symbolic_part_is_copied_in_loops_as_long_as_its_dimension() -> None:
    n = te.var("n")
    a = te.placeholder((n, n), name="A")
    c = te.compute((n * n,), lambda i: a[i // n, i % n], name="C")
    sch = Schedule(te.create_prim_func([a, c]), check="each")
    (i,) = sch.get_loops(sch.get_block("C"))
    (made,) = sch.stage_mem(i, "A")
    assert all(as_int(sch.loop(loop).end) is None for loop in sch.get_loops(made))


def test_a_guard_that_keeps_what_another_wrote_is_not_taken_away() -> None:
    reason = "may fail for an element that is there"
    refuses(parse(TWO_WRITERS), lambda s: s.overcompute(s.get_block("D")), reason)


def test_an_index_that_does_not_grow_with_its_axis_keeps_the_guard() -> None:
    sch = Schedule(chain(7), check="each")
    sch.transform_layout(sch.get_block("B"), same_place)
    sch.split(sch.get_loops(sch.get_block("B"))[0], [None, 4])
    with pytest.raises(ScheduleError, match="at its own axes"):
        sch.overcompute(sch.get_block("B"))


def test_a_consumer_is_not_run_whole_in_each_turn_of_a_loop_that_reads_it() -> None:
    sch = Schedule(parse(IN_PLACE), check="each")
    copy = sch.cache_read(sch.get_block("A"), "B")
    row = sch.get_loops(copy)[2]
    with pytest.raises(ScheduleError, match="in a loop it would leave"):
        sch.reverse_compute_at(sch.get_block("A"), row)


GOES_ON = """def f(B: f32[6, 6], C: f32[6, 6]):
    for i in serial(0, 6):
        for j in serial(0, 6):
            with block("C"):
                v = axis.spatial(6, i)
                w = axis.spatial(6, j)
                C[w, v] = C[v, w] + B[v, w]
"""


def test_a_block_that_goes_on_from_what_it_wrote_stays_where_it_is() -> None:
    sch = Schedule(parse(GOES_ON), check="each")
    copy = sch.cache_read(sch.get_block("C"), "B")
    with pytest.raises(ScheduleError, match="reads other elements of what it writes"):
        sch.reverse_compute_at(sch.get_block("C"), sch.get_loops(copy)[1])


def test_a_reduction_over_nothing_fills_nothing() -> None:
    n = te.var("n")
    a = te.placeholder((8, n), name="A")
    r = te.reduce_axis((0, n // 2), name="r")
    c = te.compute((8,), lambda i: te.max(a[i, r], axis=r), name="C")
    sch = Schedule(te.create_prim_func([a, c]), check="each")
    made = sch.cache_inplace(sch.get_block("C"), 0)
    assert [each.name for each in made] == ["C_local_in", "C_local_out"]


def of_two(i: Expr, j: Expr) -> tuple[Expr, Expr]:
    return i, j


@pytest.mark.parametrize("index_map", [of_two, lambda: (0,)])
def test_an_index_map_of_another_rank_is_refused(index_map: IndexMap) -> None:
    def what(sch: Schedule) -> None:
        sch.transform_layout(sch.get_block("B"), index_map)

    refuses(chain(8), what, "does not take 1 indices")


def test_a_symbolic_buffer_keeps_its_layout() -> None:
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    b = te.compute((n,), lambda i: a[i] + 1.0, name="B")
    c = te.compute((n,), lambda i: b[i] * 2.0, name="C")
    func = te.create_prim_func([a, c])
    refuses(func, lambda s: s.transform_layout(s.get_block("B"), in_turns), "not constant")


def test_a_tile_is_drawn_of_how_often_a_loop_runs() -> None:
    sch = Schedule(matmul(4, 6, 4))
    i, j, _ = sch.get_loops(sch.get_block("C"))
    sch.shift_loop(j, 3)
    drawn = sch.sample_perfect_tile(j, 2)
    assert int(drawn[0]) * int(drawn[1]) == 6
    sch.shift_loop(i, -4)
    drawn = sch.sample_perfect_tile(i, 2)
    assert int(drawn[0]) * int(drawn[1]) == 4


def test_a_consumer_still_moves_under_a_row_of_its_producer() -> None:
    sch = Schedule(matmul_relu(4, 6, 5), check="each")
    row = sch.get_loops(sch.get_block("C"))[0]
    sch.reverse_compute_at(sch.get_block("D"), row)
    assert len(sch.get_loops(sch.get_block("D"))) == 2


def test_a_reduction_that_may_be_empty_is_factored_with_axes_inside_their_extents() -> None:
    m, n = te.var("m"), te.var("n")
    a = te.placeholder((m, n, 3), name="A")
    r0, r1 = te.reduce_axis((0, m), name="r0"), te.reduce_axis((0, n), name="r1")
    s = te.compute((3,), lambda i: te.sum(a[r0, r1, i], axis=(r0, r1)), name="S")
    sch = Schedule(te.create_prim_func([a, s]), check="each")
    _, outer, inner = sch.get_loops(sch.get_block("S"))
    sch.split(outer, [None, 4])
    _, last = sch.split(inner, [None, 4])
    sch.rfactor(last, 1)
