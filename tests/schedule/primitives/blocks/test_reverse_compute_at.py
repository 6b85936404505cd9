"""reverse_compute_at: a consumer moves to the loop that computes its inputs."""

import contextlib

import pytest
from hypothesis import given, settings, strategies as st

from irkit import te
from irkit.core import ScheduleError, walk
from irkit.ir import Block, Expr, PrimFunc, Var, parse
from irkit.schedule import Schedule, ScheduleTrace
from tests.draws import few_or_all
from tests.schedule.kernels import chain, loop_extents, matmul_relu
from tests.schedule.programs import IN_PLACE


def test_a_consumer_is_not_repeated_in_a_loop_that_reads_it() -> None:
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


def test_a_block_that_reads_what_it_wrote_does_not_move() -> None:
    sch = Schedule(parse(GOES_ON), check="each")
    copy = sch.cache_read(sch.get_block("C"), "B")
    with pytest.raises(ScheduleError, match="reads other elements of what it writes"):
        sch.reverse_compute_at(sch.get_block("C"), sch.get_loops(copy)[1])


def test_a_consumer_still_moves_under_a_row_of_its_producer() -> None:
    sch = Schedule(matmul_relu(4, 6, 5), check="each")
    row = sch.get_loops(sch.get_block("C"))[0]
    sch.reverse_compute_at(sch.get_block("D"), row)
    assert len(sch.get_loops(sch.get_block("D"))) == 2


def test_a_block_does_not_move_before_its_inputs() -> None:
    a = te.placeholder((8,), name="A")
    b = te.compute((8,), lambda i: a[i] + 1.0, name="B")
    c = te.compute((8,), lambda i: a[i] * 2.0, name="C")
    d = te.compute((8,), lambda i: b[i] + c[i], name="D")
    sch = Schedule(te.create_prim_func([a, d]))
    (loop,) = sch.get_loops(sch.get_block("B"))
    with pytest.raises(ScheduleError, match="computes 'C'"):
        sch.reverse_compute_at(sch.get_block("D"), loop)


def test_a_consumer_does_not_move_to_a_producer_whose_loop_was_cut() -> None:
    sch = Schedule(matmul_relu(4, 6, 3))
    _, j, _ = sch.get_loops(sch.get_block("C"))
    first, second = sch.cut_loop(j, 2)
    for loop in (first, second):
        with pytest.raises(ScheduleError, match=r"block 'C.*computes"):
            sch.reverse_compute_at(sch.get_block("D"), loop)


Reader = str
READERS = ("flipped", "shifted", "halves", "spread", "summed", "columns", "window", "diagonal")


def read_by(reader: Reader, n: int, m: int, *, reduced: bool = False) -> PrimFunc:
    """Make a producer of an n by m matrix, and a consumer that reads it in the given way."""
    a = te.placeholder((n, m), name="A")
    if reduced:
        w = te.placeholder((n, 3, m), name="W")
        q = te.reduce_axis((0, 3), name="q")
        b = te.compute((n, m), lambda i, j: te.sum(a[i, j] * w[i, q, j], axis=q), name="B")
        given = [a, w]
    else:
        b = te.compute((n, m), lambda i, j: a[i, j] * 2.0 + 1.0, name="B")
        given = [a]
    k = te.reduce_axis((0, n if reader == "columns" else m), name="k")
    p = te.placeholder((n, 4), name="P")
    shapes: dict[Reader, tuple[tuple[int, ...], object]] = {
        "flipped": ((m, n), lambda i, j: b[n - 1 - j, i]),
        "shifted": ((max(n - 1, 1), m), lambda i, j: b[i + int(n > 1), j] + 1.0),
        "halves": (((n + 1) // 2, m), lambda i, j: b[i * 2, j]),
        "spread": ((n, 4, m), lambda i, c, j: b[i, j] * p[i, c]),
        "summed": ((n,), lambda i: te.sum(b[i, k], axis=k)),
        "columns": ((m,), lambda j: te.sum(b[k, j], axis=k)),
        "window": ((n, max(m - 1, 1)), lambda i, j: b[i, j] + b[i, j + int(m > 1)]),
        "diagonal": ((min(n, m),), lambda i: b[i, i]),
    }
    shape, fcompute = shapes[reader]
    c = te.compute(shape, fcompute, name="C")  # pyright: ignore[reportArgumentType] -- one of those above
    return te.create_prim_func([*given, *([p] if reader == "spread" else []), c])


def test_a_row_is_summed_as_soon_as_it_is_computed() -> None:
    sch = Schedule(read_by("summed", 6, 5), check="each")
    i, j = sch.get_loops(sch.get_block("B"))
    outer, _ = sch.split(i, [None, 4])
    with pytest.raises(ScheduleError, match="at an axis of its own"):
        sch.reverse_compute_at(sch.get_block("C"), j)
    sch.reverse_compute_at(sch.get_block("C"), outer)
    assert loop_extents(sch, "C") == ["2", "4", "5"]


def test_axes_that_index_no_input_keep_their_whole_extent() -> None:
    sch = Schedule(read_by("spread", 6, 5), check="each")
    _, j = sch.get_loops(sch.get_block("B"))
    outer, _ = sch.split(j, [None, 2])
    sch.reverse_compute_at(sch.get_block("C"), outer)
    assert loop_extents(sch, "C") == ["6", "3", "1", "4", "2"]


def test_a_consumer_that_reads_backwards_is_solved_for() -> None:
    sch = Schedule(read_by("flipped", 6, 5, reduced=True), check="each")
    i, *_ = sch.get_loops(sch.get_block("B"))
    outer, _ = sch.split(i, [None, 4])
    sch.reverse_compute_at(sch.get_block("C"), outer)


def test_every_second_row_is_read_where_it_is_computed() -> None:
    sch = Schedule(read_by("halves", 7, 3), check="each")
    i, _ = sch.get_loops(sch.get_block("B"))
    outer, _ = sch.split(i, [None, 3])
    sch.reverse_compute_at(sch.get_block("C"), outer)


def test_a_window_moves_only_to_a_loop_that_computes_all_of_it() -> None:
    sch = Schedule(read_by("window", 4, 6), check="each")
    i, j = sch.get_loops(sch.get_block("B"))
    outer, _ = sch.split(j, [None, 3])
    with pytest.raises(ScheduleError, match="reads several elements"):
        sch.reverse_compute_at(sch.get_block("C"), outer)
    sch.reverse_compute_at(sch.get_block("C"), i)


def test_a_consumer_does_not_move_under_a_later_loop() -> None:
    sch = Schedule(chain(8))
    (i,) = sch.get_loops(sch.get_block("D"))
    with pytest.raises(ScheduleError, match="no block there computes"):
        sch.reverse_compute_at(sch.get_block("C"), i)


def test_a_consumer_does_not_move_under_a_loop_that_still_reduces() -> None:
    func = matmul_rows()
    sch = Schedule(func)
    *_, r = sch.get_loops(sch.get_block("C"))
    with pytest.raises(ScheduleError, match="still reducing"):
        sch.reverse_compute_at(sch.get_block("D"), r)


def matmul_rows() -> PrimFunc:
    a, b = te.placeholder((4, 3), name="A"), te.placeholder((3, 5), name="B")
    r, k = te.reduce_axis((0, 3), name="r"), te.reduce_axis((0, 5), name="k")
    c = te.compute((4, 5), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r), name="C")
    d = te.compute((4,), lambda i: te.max(c[i, k], axis=k), name="D")
    return te.create_prim_func([a, b, d])


TWO = """def f(A: f32[8], C: f32[8]):
    B = alloc(f32[8])
    E = alloc(f32[8])
    for i in serial(0, 8):
        with block("B"):
            v = axis.spatial(8, i)
            B[v] = A[v]
        with block("E"):
            v = axis.spatial(8, i)
            E[v] = A[v]
    for i in serial(0, 8):
        with block("C"):
            v = axis.spatial(8, i)
            C[v] = B[7 - v]
"""


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("B[7 - v]", "B[7 - v] + E[v]", "reads several elements"),
        ("B[7 - v]", "B[8 - v]", "outside 'B'"),
        ("B[7 - v]", "B[v // 2 * 2]", "at an axis of its own"),
        ("B[7 - v]", "B[7 - v] + C[v]", "accumulates into"),
        ("B[v] = A[v]", "B[v // 2] = A[v]", "at its own axes, one for one"),
        ("E[v] = A[v]", "B[v] = A[v]", "not the only one to write|also computes"),
        ("B[v] = A[v]", "B[v] = A[v] + B[v]", "accumulates into"),
        (
            "            B[v] = A",
            "            where(v < 5)\n            B[v] = A",
            "cannot be proved",
        ),
        ("            E[v] = A[v]", "            E[0] = A[v]", "same element"),
        ("            E[v] = A[v]", "            E[v] = C[v]", "reads 'C'"),
    ],
)
def test_axes_that_cannot_be_solved_for_are_refused(old: str, new: str, reason: str) -> None:
    assert old in TWO
    sch = Schedule(parse(TWO.replace(old, new, 1)))
    i, *_ = sch.get_loops(sch.get_block("B"))
    before = sch.func
    with pytest.raises(ScheduleError, match=reason):
        sch.reverse_compute_at(sch.get_block("C"), i)
    assert sch.func is before


def test_two_producers_that_are_read_alike_let_a_consumer_in() -> None:
    sch = Schedule(parse(TWO.replace("B[7 - v]", "B[7 - v] * E[7 - v]")), check="each")
    (i,) = sch.get_loops(sch.get_block("B"))
    sch.reverse_compute_at(sch.get_block("C"), i)
    sch.compute_root(sch.get_block("C"))


def test_the_trace_runs_again() -> None:
    sch = Schedule(read_by("summed", 6, 5))
    i, _ = sch.get_loops(sch.get_block("B"))
    sch.reverse_compute_at(sch.get_block("C"), i)
    again = Schedule(read_by("summed", 6, 5))
    ScheduleTrace.from_json(sch.trace.as_json()).apply(again)
    assert again.mod.script() == sch.mod.script()


@given(st.data())
@settings(max_examples=few_or_all(32, 80), derandomize=True, deadline=None)
def test_a_consumer_moved_to_any_loop_keeps_results_or_is_refused(data: st.DataObject) -> None:
    small = st.integers(1, 6)
    reader = data.draw(st.sampled_from(READERS))
    func = read_by(reader, data.draw(small), data.draw(small), reduced=data.draw(st.booleans()))
    sch = Schedule(func, check="each")
    for block in "BC":
        for loop in sch.get_loops(sch.get_block(block)):
            if data.draw(st.booleans()):
                sch.split(loop, [None, data.draw(st.integers(1, 4))])
    loops = sch.get_loops(sch.get_block("B"))
    with contextlib.suppress(ScheduleError):
        sch.reorder(*data.draw(st.permutations(loops)))
    with contextlib.suppress(ScheduleError):
        loops = sch.get_loops(sch.get_block("B"))
        sch.reverse_compute_at(sch.get_block("C"), data.draw(st.sampled_from(loops)))
        if data.draw(st.booleans()):
            sch.compute_root(sch.get_block("C"))
    assert isinstance(sch.loop(loops[0]).end, Expr)


def test_elements_of_another_iteration_are_not_read_too_early() -> None:
    text = TWO.replace("B[7 - v]", "B[7 - v] + E[v]").replace("B[7 - v]", "B[v]")
    late = text.replace("E[v]\n", "E[7 - v]\n").replace("+ E[7 - v]", "+ E[7 - v]")
    sch = Schedule(parse(late), check="each")
    (i,) = sch.get_loops(sch.get_block("B"))
    with pytest.raises(ScheduleError, match="reads several elements"):
        sch.reverse_compute_at(sch.get_block("C"), i)
    sch = Schedule(parse(text), check="each")
    (i,) = sch.get_loops(sch.get_block("B"))
    sch.reverse_compute_at(sch.get_block("C"), i)


def test_a_block_that_reads_the_earlier_contents_keeps_reading_them() -> None:
    text = TWO.replace("E[v] = A[v]", "E[v] = C[7 - v]").replace("B[7 - v]", "B[v]")
    sch = Schedule(parse(text), check="each")
    (i,) = sch.get_loops(sch.get_block("B"))
    with pytest.raises(ScheduleError, match="reads 'C' in the loop it would move to"):
        sch.reverse_compute_at(sch.get_block("C"), i)


@pytest.mark.parametrize(("extent", "may"), [(0, False), (1, True), (3, True)])
def test_a_consumer_does_not_move_into_a_loop_that_may_compute_nothing(
    extent: int, may: bool
) -> None:
    text = f"""def f(C: f32[1]):
    B = alloc(f32[2, {extent}])
    for i in serial(0, 2):
        for j in serial(0, {extent}):
            with block("B"):
                v = axis.spatial(2, i)
                w = axis.spatial({extent}, j)
                B[v, w] = 1.0
    with block("C"):
        v = axis.spatial(1, 0)
        C[v] = B[v, 0] if {extent} > 0 else f32(0.0)
"""
    sch = Schedule(parse(text), check="each")
    i, *_ = sch.get_loops(sch.get_block("B"))
    with contextlib.nullcontext() if may else pytest.raises(ScheduleError, match="can be empty"):
        sch.reverse_compute_at(sch.get_block("C"), i)


@pytest.mark.parametrize(
    ("made", "read", "may"), [("i", "k", True), ("1", "k", False), ("i", "0", False)]
)
def test_a_consumer_that_runs_at_some_points_does_not_take_the_domain_of_its_producer(
    made: str, read: str, may: bool
) -> None:
    text = f"""def f(A: f32[2], C: f32[2]):
    for i in serial(0, 2):
        with block("A"):
            v = axis.spatial(2, {made})
            A[v] = 1.0
    for k in serial(0, 2):
        with block("C"):
            w = axis.spatial(2, {read})
            C[w] = A[w]
"""
    sch = Schedule(parse(text), check="each")
    (i,) = sch.get_loops(sch.get_block("A"))
    with (
        contextlib.nullcontext() if may else pytest.raises(ScheduleError, match="cannot be proved")
    ):
        sch.reverse_compute_at(sch.get_block("C"), i)


def test_a_consumer_does_not_run_points_of_other_iterations_of_a_common_loop() -> None:
    text = """def f(A: f32[5, 3], Z: f32[3], C: f32[5, 3]):
    for i in serial(0, 5):
        S = alloc(f32[5, 3])
        for j in serial(0, 3):
            with block("S"):
                v = axis.spatial(5, i)
                w = axis.spatial(3, j)
                S[v, w] = A[v, w]
        for j in serial(0, 3):
            T = alloc(f32[3])
            for k in serial(0, 1):
                with block("T"):
                    w = axis.spatial(3, j + k)
                    T[w] = Z[w]
            with block("C"):
                v = axis.spatial(5, i)
                w = axis.spatial(3, j)
                C[v, w] = S[v, w] + T[w]
"""
    sch = Schedule(parse(text), check="each")
    k = sch.get_loops(sch.get_block("T"))[-1]
    with pytest.raises(ScheduleError, match="axis 'v' depends on a loop around both blocks"):
        sch.reverse_compute_at(sch.get_block("C"), k)


@pytest.mark.parametrize(
    ("turns", "inner", "made", "read", "may"),
    [(4, 4, "k", "i", False), (2, 2, "i * 2 + k", "i * 2 + j", True)],
)
def test_an_iteration_of_a_common_loop_runs_the_same_points(
    turns: int, inner: int, made: str, read: str, *, may: bool
) -> None:
    text = f"""def f(A: f32[4], C: f32[4]):
    for i in serial(0, {turns}):
        T = alloc(f32[4])
        for k in serial(0, {inner}):
            with block("T"):
                w = axis.spatial(4, {made})
                T[w] = A[w]
        for j in serial(0, {4 // turns}):
            with block("C"):
                v = axis.spatial(4, {read})
                C[v] = T[v]
"""
    sch = Schedule(parse(text), check="each")
    k = sch.get_loops(sch.get_block("T"))[-1]
    refused = pytest.raises(ScheduleError, match="iterations would run other points")
    with contextlib.nullcontext() if may else refused:
        sch.reverse_compute_at(sch.get_block("C"), k)


def test_a_consumer_of_a_part_runs_only_there() -> None:
    """A padded product has more elements than its consumer reads: the consumer is guarded."""
    a, b = te.placeholder((5, 7), name="A"), te.placeholder((7, 6), name="B")
    k = te.reduce_axis((0, 7), name="k")

    def cell(i: Var, j: Var) -> Expr:
        return te.sum(a[i, k] * b[k, j], axis=k)

    func = te.create_prim_func([a, b, te.compute((5, 6), cell, name="C")])
    sch = Schedule(func, check="each")
    block = sch.get_block("C")
    *_, unpad = sch.pad_einsum(block, [1, 4, 1])
    _, column, _ = sch.get_loops(block)
    far, _ = sch.split(column, [None, 4])
    sch.reverse_compute_at(unpad, far)
    (moved,) = (each for each in walk(sch.func, on=Block) if each.name == unpad.name)
    assert moved.predicate is not None


def test_a_consumer_moves_that_stores_each_element_once_at_other_indices() -> None:
    a = te.placeholder((6, 4), name="A")
    b = te.compute((6, 4), lambda i, j: a[i, j] + 1.0, name="B")
    c = te.compute((24,), lambda i: b[i // 4, i % 4] * 2.0, name="C")
    sch = Schedule(te.create_prim_func([a, c]), check="each")
    block = sch.get_block("C")
    sch.transform_block_layout(block, lambda i: (i // 4, i % 4))
    row = sch.get_loops(sch.get_block("B"))[0]
    sch.reverse_compute_at(block, row)
    assert "C[" in sch.mod.script()
    assert row.var in {loop.var for loop in sch.get_loops(block)}
