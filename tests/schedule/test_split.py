"""Inexact splits guard or shift their tail, and tile is two splits and a reorder."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irkit.core import ScheduleError, same, walk
from irkit.ir import Block, For, parse, script
from irkit.schedule import Schedule, ScheduleTrace
from tests.schedule.kernels import chain, matmul

TWICE = """def f(A: f32[9]):
    for i in serial(0, 9):
        with block("B"):
            v = axis.spatial(9, i)
            A[v] = A[v] + f32(1.0)
"""

SYMBOLIC = """def f(A: f32[n], B: f32[n]):
    for i in serial(0, n):
        with block("B"):
            v = axis.spatial(n, i)
            B[v] = A[v] + f32(1.0)
"""

SWAP = """def f(A: f32[9], B: f32[9], C: f32[9]):
    for i in serial(0, 9):
        with block("B"):
            v = axis.spatial(9, i)
            B[v] = A[v]
        with block("A"):
            v = axis.spatial(9, i)
            A[v] = C[v]
"""


def ends(sch: Schedule, refs: list[Any]) -> list[str]:
    return [script(sch.loop(ref).end) for ref in refs]


@settings(max_examples=25, deadline=None, derandomize=True)
@given(n=st.integers(1, 20), factors=st.lists(st.integers(1, 5), min_size=1, max_size=3))
def test_a_shifted_tail_keeps_the_result_or_is_refused(n: int, factors: list[int]) -> None:
    sch = Schedule(chain(n), check="each")
    chunk = 1
    for factor in factors:
        chunk *= factor
    loop = sch.get_loops(sch.get_block("C"))[0]
    if chunk > n:
        with pytest.raises(ScheduleError, match="shorter than one chunk"):
            sch.split(loop, [None, *factors], tail="shift")
        return
    sch.split(loop, [None, *factors], tail="shift")
    assert all(block.predicate is None for block in walk(sch.func, on=Block))


def test_the_last_chunk_begins_an_extent_less_a_factor() -> None:
    sch = Schedule(chain(10), check="each")
    sch.split(sch.get_loops(sch.get_block("B"))[0], factor=4, tail="shift")
    (block,) = [block for block in walk(sch.func, on=Block) if block.name == "B"]
    assert script(block.axes[0].binding) == "min(i_0 * 4, 6) + i_1"


def test_a_whole_reduction_inside_a_shifted_tail_is_computed_again() -> None:
    sch = Schedule(matmul(5, 7, 3), check="each")
    i, j, _ = sch.get_loops(sch.get_block("C"))
    sch.split(i, factor=4, tail="shift")
    sch.split(j, factor=3, tail="shift")


def test_a_reduction_begun_outside_of_a_shifted_tail_is_refused() -> None:
    sch = Schedule(matmul(5, 7, 3), check="each")
    block = sch.get_block("C")
    io, _ = sch.split(sch.get_loops(block)[0], factor=4, tail="shift")
    with pytest.raises(ScheduleError, match="some values twice"):
        sch.decompose_reduction(block, io)
    sch.decompose_reduction(block, sch.get_loops(block)[1 + 2])


def test_chunks_that_overlap_do_not_run_together() -> None:
    sch = Schedule(chain(10))
    outer, inner = sch.split(sch.get_loops(sch.get_block("B"))[0], factor=4, tail="shift")
    sch.vectorize(inner)
    with pytest.raises(ScheduleError, match="same element"):
        sch.parallel(outer)


@pytest.mark.parametrize(
    ("text", "reason"),
    [(TWICE, "which it also writes"), (SWAP, "which it also writes"), (SYMBOLIC, "shorter")],
)
def test_a_shifted_tail_that_may_change_the_result_is_refused(text: str, reason: str) -> None:
    sch = Schedule(parse(text))
    with pytest.raises(ScheduleError, match=reason):
        sch.split(sch.get_loops(sch.get_block("B"))[0], factor=4, tail="shift")


def test_a_reduced_loop_has_no_shifted_tail() -> None:
    sch = Schedule(matmul(5, 7, 10))
    with pytest.raises(ScheduleError, match="count twice"):
        sch.split(sch.get_loops(sch.get_block("C"))[2], factor=4, tail="shift")


def test_a_step_of_a_reduction_has_no_shifted_tail() -> None:
    sch = Schedule(matmul(5, 7, 10))
    block = sch.get_block("C")
    i, j, r = sch.get_loops(block)
    sch.reorder(r, i, j)
    with pytest.raises(ScheduleError, match="which it also writes"):
        sch.split(i, factor=4, tail="shift")


def test_an_unknown_tail_is_refused() -> None:
    sch = Schedule(chain(9))
    with pytest.raises(ScheduleError, match="'guard' or 'shift'"):
        sch.split(sch.get_loops(sch.get_block("B"))[0], factor=4, tail="cut")  # pyright: ignore[reportArgumentType] -- what is tested


def test_factor_and_nparts_give_the_inner_and_the_outer_extent() -> None:
    sch = Schedule(chain(16))
    b, c = (sch.get_loops(sch.get_block(name))[0] for name in "BC")
    assert ends(sch, sch.split(b, factor=8)) == ["2", "8"]
    assert ends(sch, sch.split(c, nparts=8)) == ["8", "2"]


@pytest.mark.parametrize("given_", [{}, {"factor": 2, "nparts": 2}, {"factors": [2], "factor": 2}])
def test_a_split_takes_one_way_of_saying_it(given_: dict[str, Any]) -> None:
    sch = Schedule(chain(16))
    with pytest.raises(ScheduleError, match="exactly one"):
        sch.split(sch.get_loops(sch.get_block("B"))[0], **given_)


def test_factors_that_may_not_cover_a_symbolic_loop_are_refused() -> None:
    sch = Schedule(parse(SYMBOLIC))
    (loop,) = sch.get_loops(sch.get_block("B"))
    with pytest.raises(ScheduleError, match="not shown to be so small"):
        sch.split(loop, [4, 4])
    with pytest.raises(ScheduleError, match="may be 0"):
        sch.split(loop, [None, sch.expr("n")])


def test_an_annotated_loop_cannot_be_split_and_the_annotation_is_named() -> None:
    sch = Schedule(chain(16))
    (loop,) = sch.get_loops(sch.get_block("B"))
    sch.annotate(loop, "mine", 1)
    with pytest.raises(ScheduleError, match="marked mine"):
        sch.split(loop, factor=4)


def test_a_loop_that_does_not_start_at_0_cannot_be_split_before_it_is_shifted() -> None:
    sch = Schedule(chain(16), check="each")
    _, later = sch.cut_loop(sch.get_loops(sch.get_block("B"))[0], 4)
    with pytest.raises(ScheduleError, match="does not start at 0"):
        sch.split(later, factor=4)
    sch.shift_loop(later)
    sch.split(later, factor=4)


def test_a_tile_is_two_splits_and_a_reorder() -> None:
    sch = Schedule(matmul(9, 10, 3), check="each")
    i, j, _ = sch.get_loops(sch.get_block("C"))
    made = sch.tile(i, j, 4, 5)
    assert [ref.var for ref in made] == [ref.var for ref in sch.get_loops(sch.get_block("C"))[:4]]
    assert ends(sch, made) == ["3", "2", "4", "5"]
    assert str(sch.trace.steps[-1]).endswith("sch.tile(i, j, 4, 5)")
    spans = [loop.span for loop in walk(sch.func, on=For)][:4]
    assert all(span is not None and span.name.startswith("tile#") for span in spans)


def test_a_tile_that_fails_leaves_nothing_behind() -> None:
    sch = Schedule(matmul(8, 8, 8))
    i, _, r = sch.get_loops(sch.get_block("C"))
    sch.fission(i, sch.decompose_reduction(sch.get_block("C"), r))
    before = sch.func
    with pytest.raises(ScheduleError, match="not in one nest"):
        sch.tile(i, sch.get_loops(sch.get_block("C"))[1], 4, 4)
    assert sch.func is before


def test_a_reduction_that_is_no_sum_keeps_the_order_of_its_steps() -> None:
    text = """def f(A: f32[4, 4], B: f32[3]):
    for i in serial(0, 3):
        for k in serial(0, 4):
            for m in serial(0, 4):
                with block("B"):
                    vi = axis.spatial(3, i)
                    vk = axis.reduce(4, k)
                    vm = axis.reduce(4, m)
                    with init():
                        B[vi] = f32(0.0)
                    B[vi] = B[vi] * f32(2.0) + A[vk, vm]
"""
    sch = Schedule(parse(text), check="each")
    _, k, m = sch.get_loops(sch.get_block("B"))
    with pytest.raises(ScheduleError, match="taken in any order"):
        sch.reorder(m, k)
    other = Schedule(parse(text.replace("B[vi] * f32(2.0)", "B[vi]")), check="each")
    other.reorder(*other.get_loops(other.get_block("B"))[:0:-1])


def test_splits_and_tiles_are_data() -> None:
    sch = Schedule(matmul(9, 10, 3))
    i, j, _ = sch.get_loops(sch.get_block("C"))
    sch.tile(i, j, 4, 5)
    sch.split(sch.get_loops(sch.get_block("C"))[-1], factor=2)
    again, third = Schedule(matmul(9, 10, 3)), Schedule(matmul(9, 10, 3))
    sch.trace.apply(again)
    ScheduleTrace.from_json(sch.trace.as_json()).apply(third)
    assert same(again.func, sch.func)
    assert same(third.func, sch.func)
