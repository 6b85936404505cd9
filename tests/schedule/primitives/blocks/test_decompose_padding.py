"""decompose_padding: a padded copy becomes a fill and a copy of the interior."""

import pytest
from hypothesis import given, settings, strategies as st

from irkit import te
from irkit.core import ScheduleError
from irkit.ir import PrimFunc, ge, if_then_else, logical_and, lt, parse, script
from irkit.schedule import Schedule
from tests.draws import few_or_all
from tests.schedule.kernels import block_names, loop_extents


def padded(n: int, m: int, top: int = 1, left: int = 2) -> PrimFunc:
    """Make a copy padded with ones, and a sum over it."""
    a = te.placeholder((n, m), name="A")
    b = te.compute(
        (n + 2, m + 3),
        lambda i, j: if_then_else(
            logical_and(ge(i, top), lt(i, n + top), ge(j - left, 0), lt(j, m + left)),
            a[i - top, j - left],
            1.0,
        ),
        name="B",
    )
    k = te.reduce_axis((0, 3), name="k")
    c = te.compute((n + 2, m + 1), lambda i, j: te.sum(b[i, j + k], axis=k), name="C")
    return te.create_prim_func([a, c])


def test_padding_is_filled_first_and_then_the_interior_is_copied() -> None:
    sch = Schedule(padded(4, 5), check="each")
    i, _ = sch.get_loops(sch.get_block("B"))
    made = sch.decompose_padding(sch.get_block("B"), i)
    assert made.name == "B_fill"
    assert block_names(sch.func) == ["B_fill", "B", "C"]
    assert loop_extents(sch, "B_fill") == ["6", "8"]
    assert loop_extents(sch, "B") == ["4", "5"]
    assert "if" not in script(sch.get(sch.get_block("B")))


def test_padding_is_filled_row_by_row() -> None:
    sch = Schedule(padded(4, 5), check="each")
    _, j = sch.get_loops(sch.get_block("B"))
    assert sch.can_decompose_padding(sch.get_block("B"), j)
    sch.decompose_padding(sch.get_block("B"), j)
    assert loop_extents(sch, "B") == ["6", "5"]


def test_padding_is_filled_in_loops_whose_bounds_depend_on_each_other() -> None:
    text = """
def f(A: f32[16], C: f32[18]):
    for i in serial(0, 3):
        for j in serial(i * 6, i * 6 + 6):
            with block("C"):
                v = axis.spatial(18, j)
                C[v] = A[v - 1] if v >= 1 and v < 17 else f32(0.0)
"""
    sch = Schedule(parse(text), check="each")
    block = sch.get_block("C")
    assert sch.decompose_padding(block, sch.get_loops(block)[0]).name == "C_fill"


def test_a_split_loop_keeps_the_condition_as_a_predicate() -> None:
    sch = Schedule(padded(4, 5), check="each")
    i, j = sch.get_loops(sch.get_block("B"))
    sch.split(i, [None, 4])
    outer, _ = sch.split(j, [None, 3])
    sch.decompose_padding(sch.get_block("B"), outer)


def test_a_block_without_padding_is_refused() -> None:
    sch = Schedule(padded(4, 5))
    i, *_ = sch.get_loops(sch.get_block("C"))
    assert not sch.can_decompose_padding(sch.get_block("C"), i)
    with pytest.raises(ScheduleError, match="not a single store"):
        sch.decompose_padding(sch.get_block("C"), i)
    (j, *_) = sch.get_loops(sch.get_block("B"))
    with pytest.raises(ScheduleError, match="contains more than that block"):
        sch.decompose_padding(sch.get_block("B"), i)
    assert j is not i


PAD = """def f(A: f32[8], B: f32[10]):
    for i in serial(0, 10):
        with block("B"):
            v = axis.spatial(10, i)
            B[v] = A[v - 1] if v >= 1 and v < 9 else f32(0.0)
"""


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("f32(0.0)", "A[0]", "between a value and a constant"),
        ("v >= 1", "A[0] > f32(0.0)", "depends on loaded values"),
        ("B[v] =", "B[v // 2] =", "at its own axes"),
        ("A[v - 1]", "B[v - 1]", "reads what it writes"),
    ],
)
def test_other_choices_are_refused(old: str, new: str, reason: str) -> None:
    assert old in PAD
    sch = Schedule(parse(PAD.replace(old, new)))
    (i,) = sch.get_loops(sch.get_block("B"))
    with pytest.raises(ScheduleError, match=reason):
        sch.decompose_padding(sch.get_block("B"), i)


@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 2), st.integers(0, 3), st.data())
@settings(max_examples=few_or_all(10, 25), derandomize=True, deadline=None)
def test_padding_of_any_size_keeps_results(
    n: int, m: int, top: int, left: int, data: st.DataObject
) -> None:
    sch = Schedule(padded(n, m, top, left), check="each")
    loops = sch.get_loops(sch.get_block("B"))
    if data.draw(st.booleans()):
        loops = [*sch.split(loops[0], [None, data.draw(st.integers(1, 4))]), loops[1]]
    sch.decompose_padding(sch.get_block("B"), data.draw(st.sampled_from(loops)))
