"""compute_at: a producer moves to the loop where its elements are needed."""

import contextlib

import pytest
from hypothesis import given, settings, strategies as st

from irkit import te
from irkit.core import ScheduleError, walk
from irkit.ir import Allocate, PrimFunc, ge, if_then_else, logical_and, lt, parse, script
from irkit.phases import DEFAULT
from irkit.schedule import Schedule, ScheduleTrace
from tests.draws import few_or_all
from tests.schedule.kernels import assert_same_results, chain, loop_extents, matmul_relu


def blur(n: int, first: int = 0, step: int = 1) -> PrimFunc:
    """Make a producer, and a consumer that reads three neighbouring elements."""
    a = te.placeholder((n * step + 4,), name="A")
    b = te.compute((n * step + 4,), lambda i: a[i] + 1.0, name="B")
    c = te.compute(
        (n,),
        lambda i: b[i * step + first] + b[i * step + first + 1] * 2.0 + b[i * step + first + 2],
        name="C",
    )
    return te.create_prim_func([a, c])


def padded(n: int, m: int) -> PrimFunc:
    """Make a padded image, and sums over its windows."""
    a = te.placeholder((n, m), name="A")
    b = te.compute(
        (n + 2, m + 2),
        lambda i, j: if_then_else(
            logical_and(ge(i, 1), lt(i, n + 1), ge(j, 1), lt(j, m + 1)), a[i - 1, j - 1], 0.0
        ),
        name="B",
    )
    y, x = te.reduce_axis((0, 3), name="y"), te.reduce_axis((0, 3), name="x")
    c = te.compute((n, m), lambda i, j: te.sum(b[i + y, j + x], axis=[y, x]), name="C")
    return te.create_prim_func([a, c])


def turned(n: int, m: int, k: int) -> PrimFunc:
    """Make a reduction that is read transposed."""
    a, b = te.placeholder((m, k), name="A"), te.placeholder((k, n), name="B")
    r = te.reduce_axis((0, k), name="r")
    c = te.compute((m, n), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r), name="C")
    d = te.compute((n, m), lambda i, j: c[j, i] + 1.0, name="D")
    return te.create_prim_func([a, b, d])


def test_a_producer_computes_just_what_a_tile_needs() -> None:
    sch = Schedule(blur(16), check="each")
    (i,) = sch.get_loops(sch.get_block("C"))
    outer, _ = sch.split(i, [4, 4])
    sch.compute_at(sch.get_block("B"), outer)
    assert loop_extents(sch, "B") == ["4", "6"]
    (home,) = walk(sch.func, on=Allocate)
    assert sch.loop(outer).body is home
    sch.parallel(outer)


def test_a_reduction_moves_with_its_reduce_loops_and_its_init() -> None:
    sch = Schedule(matmul_relu(6, 9, 5), check="each")
    i, j = sch.get_loops(sch.get_block("D"))
    outer, _ = sch.split(i, [None, 4])
    sch.compute_at(sch.get_block("C"), outer)
    assert loop_extents(sch, "C") == ["2", "4", "9", "5"]
    sch.compute_at(sch.get_block("C"), j)
    assert loop_extents(sch, "C") == ["2", "4", "9", "1", "1", "5"]


def test_a_window_is_padded_where_it_is_read() -> None:
    sch = Schedule(padded(7, 5), check="each")
    i, j, y, _ = sch.get_loops(sch.get_block("C"))
    for loop in (i, j, y):
        sch.compute_at(sch.get_block("B"), loop)
    assert loop_extents(sch, "B") == ["7", "5", "3", "1", "3"]


def test_an_output_does_not_move() -> None:
    sch = Schedule(chain(8))
    (i,) = sch.get_loops(sch.get_block("C"))
    with pytest.raises(ScheduleError, match="output block"):
        sch.compute_at(sch.get_block("D"), i)


def test_a_block_does_not_move_where_nothing_reads_it() -> None:
    sch = Schedule(chain(8))
    (i,) = sch.get_loops(sch.get_block("B"))
    with pytest.raises(ScheduleError, match="not all of its consumers"):
        sch.compute_at(sch.get_block("C"), i)


def test_a_block_does_not_move_into_a_loop_of_its_own() -> None:
    sch = Schedule(chain(8))
    (i,) = sch.get_loops(sch.get_block("B"))
    with pytest.raises(ScheduleError, match="not all of its consumers"):
        sch.compute_at(sch.get_block("B"), i)


TWO_WRITERS = """def f(A: f32[8], C: f32[8]):
    B = alloc(f32[8])
    for i in serial(0, 8):
        with block("P"):
            v = axis.spatial(8, i)
            B[v] = A[v]
    for i in serial(0, 8):
        with block("Q"):
            v = axis.spatial(8, i)
            B[v] = B[v] + f32(1.0)
    for i in serial(0, 8):
        with block("C"):
            v = axis.spatial(8, i)
            C[v] = B[v]
"""

CHANGED = """def f(A: f32[8], C: f32[8]):
    B = alloc(f32[8])
    for i in serial(0, 8):
        with block("P"):
            v = axis.spatial(8, i)
            B[v] = A[v]
    for i in serial(0, 8):
        with block("Q"):
            v = axis.spatial(8, i)
            A[v] = f32(1.0)
    for i in serial(0, 8):
        with block("C"):
            v = axis.spatial(8, i)
            C[v] = B[v]
"""

SCAN = """def f(A: f32[8], C: f32[8]):
    B = alloc(f32[8])
    for i in serial(0, 7):
        with block("P"):
            v = axis.spatial(7, i)
            B[v + 1] = B[v] + A[v]
    for i in serial(0, 8):
        with block("C"):
            v = axis.spatial(8, i)
            C[v] = B[v]
"""

TWICE = """def f(A: f32[8, 4], C: f32[8]):
    B = alloc(f32[8])
    for i in serial(0, 8):
        for k in serial(0, 8):
            with block("P"):
                v = axis.spatial(8, i)
                w = axis.reduce(4, k % 4)
                with init():
                    B[v] = f32(0.0)
                B[v] = B[v] + A[v, w]
    for i in serial(0, 8):
        with block("C"):
            v = axis.spatial(8, i)
            C[v] = B[v]
"""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (TWO_WRITERS, "'Q' also writes"),
        (CHANGED, "writes its input 'A'"),
        (SCAN, "other elements of what it writes"),
        (TWICE, "cannot be proved that its loops reduce"),
        (TWICE.replace("k % 4", "k // 2"), "cannot be proved that its loops reduce"),
        (CHANGED.replace("B[v] = A[v]", "B[v] = A[i]"), "other than through its axes"),
        (
            CHANGED.replace(
                "            B[v] = A[v]",
                "            where(i * i < 49)\n            B[v] = A[v + 1]",
            ),
            "cannot be expressed over its axes",
        ),
        (
            CHANGED.replace(
                'serial(0, 8):\n        with block("C")',
                'vectorized(0, 8):\n        with block("C")',
            ),
            "vectorized",
        ),
    ],
)
def test_a_move_that_may_change_results_is_refused(text: str, reason: str) -> None:
    sch = Schedule(parse(text))
    (i,) = sch.get_loops(sch.get_block("C"))
    before = sch.func
    with pytest.raises(ScheduleError, match=reason):
        sch.compute_at(sch.get_block("P"), i)
    assert sch.func is before


def test_a_block_inside_another_does_not_move_out_of_it() -> None:
    text = """def f(A: f32[8], C: f32[8]):
    B = alloc(f32[8])
    with block("outer"):
        for i in serial(0, 8):
            with block("P"):
                v = axis.spatial(8, i)
                B[v] = A[v]
    for i in serial(0, 8):
        with block("C"):
            v = axis.spatial(8, i)
            C[v] = B[v]
"""
    sch = Schedule(parse(text))
    (i,) = sch.get_loops(sch.get_block("C"))
    with pytest.raises(ScheduleError, match="different blocks"):
        sch.compute_at(sch.get_block("P"), i)


def test_the_trace_runs_again() -> None:
    sch = Schedule(blur(16))
    (i,) = sch.get_loops(sch.get_block("C"))
    outer, _ = sch.split(i, [4, 4])
    sch.compute_at(sch.get_block("B"), outer)
    again = Schedule(blur(16))
    ScheduleTrace.from_json(sch.trace.as_json()).apply(again)
    assert again.mod.script() == sch.mod.script()
    sch.compute_root(sch.get_block("B"))
    again = Schedule(blur(16))
    sch.trace.apply(again)
    assert again.mod.script() == sch.mod.script()


@st.composite
def programs(draw: st.DrawFn) -> tuple[PrimFunc, str, str]:
    """Draw a function with the names of a producer and its consumer."""
    small = st.integers(1, 6)
    kind = draw(st.sampled_from(["blur", "padded", "turned", "relu"]))
    if kind == "blur":
        return blur(draw(small), draw(st.integers(0, 1)), draw(st.integers(1, 2))), "B", "C"
    if kind == "padded":
        return padded(draw(small), draw(small)), "B", "C"
    make = turned if kind == "turned" else matmul_relu
    return make(draw(small), draw(small), draw(st.integers(1, 3))), "C", "D"


@given(programs(), st.data())
@settings(max_examples=few_or_all(24, 60), derandomize=True, deadline=None)
def test_a_producer_moved_to_any_loop_keeps_results(
    program: tuple[PrimFunc, str, str], data: st.DataObject
) -> None:
    func, producer, consumer = program
    sch = Schedule(func, check="each")
    for block in (consumer, producer):
        for loop in sch.get_loops(sch.get_block(block)):
            if data.draw(st.booleans()):
                sch.split(loop, [None, data.draw(st.integers(1, 4))])
    loops = sch.get_loops(sch.get_block(consumer))
    if data.draw(st.booleans()):
        shuffled = data.draw(st.permutations(loops))
        with contextlib.suppress(ScheduleError):
            sch.reorder(*shuffled)
    for _ in range(2):
        loop = data.draw(st.sampled_from(sch.get_loops(sch.get_block(consumer))))
        sch.compute_at(sch.get_block(producer), loop)
        made = sch.get_loops(sch.get_block(producer))
        sch.split(made[-1], [None, data.draw(st.integers(1, 3))])
    if data.draw(st.booleans()):
        sch.compute_root(sch.get_block(producer))
        assert len(sch.get_loops(sch.get_block(producer))) in (1, 2, 3)


def test_a_buffer_allocated_in_a_loop_is_not_initialised_before_it() -> None:
    sch = Schedule(matmul_relu(6, 9, 5))
    i, _ = sch.get_loops(sch.get_block("D"))
    sch.compute_at(sch.get_block("C"), i)
    with pytest.raises(ScheduleError, match="statements other than loops in between"):
        sch.decompose_reduction(sch.get_block("C"), i)
    sch.decompose_reduction(sch.get_block("C"), sch.get_loops(sch.get_block("C"))[1])


def test_a_moved_block_lowers_to_the_same_results() -> None:
    sch = Schedule(padded(7, 5))
    i, j, *_ = sch.get_loops(sch.get_block("C"))
    outer, _ = sch.split(i, [None, 3])
    sch.compute_at(sch.get_block("B"), outer)
    sch.parallel(outer)
    sch.vectorize(sch.get_loops(sch.get_block("B"))[-1])
    lowered = DEFAULT.run(sch.func)
    found = next(walk(lowered, on=Allocate)).buffer
    assert [script(dim) for dim in found.shape] == ["35"]
    assert_same_results(padded(7, 5), lowered)
    assert j is not i
