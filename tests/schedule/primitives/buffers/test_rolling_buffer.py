"""rolling_buffer: the overlap of windows is computed once and kept in a circular buffer."""

import pytest
from hypothesis import given, settings, strategies as st

from irkit import te
from irkit.core import ScheduleError, same, walk
from irkit.ir import (
    Allocate,
    Block,
    PrimFunc,
    as_int,
    ge,
    if_then_else,
    le,
    logical_and,
    parse,
    script,
)
from irkit.phases import lower
from irkit.schedule import Schedule, ScheduleTrace
from irkit.schedule.primitives.buffers.rolling_buffer import __doc__ as example
from tests.draws import few_or_all
from tests.schedule.kernels import assert_same_natively, chain


def blur(n: int, taps: int, step: int = 1) -> PrimFunc:
    """Make windows of ``taps`` elements, ``step`` apart, of a computed buffer."""
    a = te.placeholder((n * step + taps,), name="A")
    b = te.compute((n * step + taps,), lambda i: a[i] * 2.0 + 1.0, name="B")
    r = te.reduce_axis((0, taps), name="r")
    c = te.compute((n,), lambda i: te.sum(b[i * step + r], axis=r), name="C")
    return te.create_prim_func([a, c])


def blur_2d(m: int, n: int) -> PrimFunc:
    """Make two passes over an image padded with zeros."""
    a = te.placeholder((m, n), name="A")
    b = te.compute(
        (m + 2, n),
        lambda i, j: if_then_else(logical_and(ge(i.var, 1), le(i.var, m)), a[i - 1, j], 0.0),
        name="B",
    )
    c = te.compute((m + 2, n), lambda i, j: b[i, j] * 3.0, name="C")
    r = te.reduce_axis((0, 3), name="r")
    d = te.compute((m, n), lambda i, j: te.sum(c[i + r, j], axis=r), name="D")
    return te.create_prim_func([a, d])


def at_first_loop(func: PrimFunc, producer: str = "B", consumer: str = "C") -> Schedule:
    sch = Schedule(func, check="each")
    sch.compute_at(sch.get_block(producer), sch.get_loops(sch.get_block(consumer))[0])
    return sch


def test_only_new_elements_are_computed() -> None:
    assert example is not None
    before, after = (
        "def f(A: f32[10], C: f32[8]):\n" + part.split("::\n\n")[1].rstrip() + "\n"
        for part in example.split("After")
    )
    sch = Schedule(parse(before), check="each")
    sch.rolling_buffer(sch.get_block("B"))
    assert script(sch.func) == script(parse(after))
    assert_same_natively(parse(before), sch.func)


@settings(max_examples=few_or_all(8, 20), deadline=None, derandomize=True)
@given(n=st.integers(1, 9), taps=st.integers(2, 5), step=st.integers(1, 5))
def test_windows_that_overlap_roll_and_others_do_not(n: int, taps: int, step: int) -> None:
    func = blur(n, taps, step)
    sch = at_first_loop(func)
    if step >= taps:
        with pytest.raises(ScheduleError, match="do not overlap"):
            sch.rolling_buffer(sch.get_block("B"))
    elif n > 1:
        sch.rolling_buffer(sch.get_block("B"))
        (home,) = walk(sch.func, on=Allocate)
        (size,) = map(as_int, home.buffer.shape)
        assert size is not None
        assert taps <= size < 2 * taps


def test_rows_of_an_image_roll_in_native_code() -> None:
    sch = at_first_loop(blur_2d(9, 7), "C", "D")
    sch.rolling_buffer(sch.get_block("C"))
    assert_same_natively(blur_2d(9, 7), sch.func)


def test_a_chain_of_windows_rolls_from_its_end() -> None:
    sch = at_first_loop(blur_2d(6, 5), "C", "D")
    sch.compute_at(sch.get_block("B"), sch.get_loops(sch.get_block("D"))[0])
    sch.rolling_buffer(sch.get_block("C"))
    sch.rolling_buffer(sch.get_block("B"))
    assert_same_natively(blur_2d(6, 5), sch.func)


def test_a_window_rolls_inside_of_a_parallel_loop() -> None:
    func = blur(16, 3)
    sch = Schedule(func, check="each")
    io, ii = sch.split(sch.get_loops(sch.get_block("C"))[0], [None, 4])
    sch.compute_at(sch.get_block("B"), ii)
    sch.rolling_buffer(sch.get_block("B"))
    with pytest.raises(ScheduleError):
        sch.parallel(ii)
    sch.parallel(io)
    assert_same_natively(func, sch.func)


@settings(max_examples=15, deadline=None, derandomize=True)
@given(n=st.integers(2, 14), factor=st.integers(2, 5), taps=st.integers(2, 4))
def test_a_window_rolls_in_tiles_that_do_not_divide(n: int, factor: int, taps: int) -> None:
    sch = Schedule(blur(n, taps), check="each")
    _, ii = sch.split(sch.get_loops(sch.get_block("C"))[0], [None, factor])
    sch.compute_at(sch.get_block("B"), ii)
    sch.rolling_buffer(sch.get_block("B"))


def test_the_index_of_a_circular_buffer_does_not_hinder_vectors() -> None:
    sch = at_first_loop(blur_2d(9, 16), "C", "D")
    sch.rolling_buffer(sch.get_block("C"))
    sch.vectorize(sch.split(sch.get_loops(sch.get_block("C"))[-1], [None, 8])[1])
    assert "ramp((" in script(lower(sch.func))
    assert_same_natively(blur_2d(9, 16), sch.func)


def test_a_rolling_reduction_is_computed_completely() -> None:
    a = te.placeholder((10, 4), name="A")
    k = te.reduce_axis((0, 4), name="k")
    b = te.compute((10,), lambda i: te.sum(a[i, k], axis=k), name="B")
    c = te.compute((8,), lambda i: b[i] + b[i + 1] * b[i + 2], name="C")
    func = te.create_prim_func([a, c])
    sch = at_first_loop(func)
    sch.rolling_buffer(sch.get_block("B"))
    assert_same_natively(func, sch.func)


def test_a_buffer_that_is_computed_once_does_not_roll() -> None:
    sch = Schedule(blur(8, 3))
    with pytest.raises(ScheduleError, match="computed once"):
        sch.rolling_buffer(sch.get_block("B"))


def test_a_window_of_one_does_not_roll() -> None:
    sch = at_first_loop(chain(8))
    with pytest.raises(ScheduleError, match="do not overlap"):
        sch.rolling_buffer(sch.get_block("B"))


def test_iterations_without_order_do_not_roll() -> None:
    sch = at_first_loop(blur(8, 3))
    sch.parallel(sch.get_loops(sch.get_block("C"))[0])
    with pytest.raises(ScheduleError, match="have no order"):
        sch.rolling_buffer(sch.get_block("B"))


def test_a_result_does_not_roll() -> None:
    sch = Schedule(blur(8, 3))
    with pytest.raises(ScheduleError, match="output block"):
        sch.rolling_buffer(sch.get_block("C"))


def test_a_marked_or_aligned_buffer_does_not_roll() -> None:
    sch = at_first_loop(blur(8, 3))
    sch.double_buffer(sch.get_block("B"))
    with pytest.raises(ScheduleError, match="afterwards"):
        sch.rolling_buffer(sch.get_block("B"))


WINDOW = """def f(A: f32[10], C: f32[8]):
    for i in serial(0, 8):
        B = alloc(f32[10])
        for ax in serial(0, 3):
            with block("B"):
                v = axis.spatial(10, i + ax)
                B[v] = A[v]
        with block("C"):
            w = axis.spatial(8, i)
            C[w] = B[w] + B[w + 2]
"""


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (
            "B[v] = A[v]",
            "where(i < 5)\n                B[v] = A[v]",
            "predicate cannot be expressed",
        ),
        ("B[v] = A[v]", "B[v] = A[v] + f32(i)", "other than through"),
        ("B[v] = A[v]", "B[v] = A[v] + (C[v] if v < 8 else f32(0.0))", "changes in loop"),
        ("B[v] = A[v]", "B[9 - v] = A[v]", "does not store at its own axes"),
        ("serial(0, 3)", "serial(0, i + 3)", "change between iterations"),
        ("10, i + ax", "10, ax - i + 7", "do not overlap"),
        ("10, i + ax", "10, i // 2 + ax", "not a window"),
        ("10, i + ax", "10, i + ax * 1 * ax", "not a window"),
    ],
)
def test_elements_that_may_differ_when_recomputed_do_not_roll(old: str, new: str, why: str) -> None:
    sch = Schedule(parse(WINDOW.replace(old, new)))
    with pytest.raises(ScheduleError, match=why):
        sch.rolling_buffer(sch.get_block("B"))


def test_a_block_below_a_condition_does_not_roll() -> None:
    text = """def f(A: f32[10], C: f32[8]):
    for i in serial(0, 8):
        B = alloc(f32[10])
        if i > 2:
            for ax in serial(0, 3):
                with block("B"):
                    v = axis.spatial(10, i + ax)
                    B[v] = A[v]
        with block("C"):
            w = axis.spatial(8, i)
            where(i > 2)
            C[w] = B[w] + B[w + 2]
"""
    sch = Schedule(parse(text))
    with pytest.raises(ScheduleError, match="every iteration"):
        sch.rolling_buffer(sch.get_block("B"))


def test_a_rolling_block_stays_in_its_loop() -> None:
    sch = at_first_loop(blur(8, 3))
    sch.rolling_buffer(sch.get_block("B"))
    with pytest.raises(ScheduleError, match="writes a different element"):
        sch.compute_root(sch.get_block("B"))
    with pytest.raises(ScheduleError):
        sch.compute_root(sch.get_block("C"))


def test_rolling_is_data() -> None:
    sch, again = at_first_loop(blur(8, 3)), Schedule(blur(8, 3))
    sch.rolling_buffer(sch.get_block("B"))
    ScheduleTrace.from_json(sch.trace.as_json()).apply(again)
    assert same(again.func, sch.func)
    assert len(list(walk(again.func, on=Block))) == 2
