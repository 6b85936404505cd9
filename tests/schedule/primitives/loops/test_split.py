"""split: results stay the same for any factors and tail, or the split is refused."""

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from irkit.core import ScheduleError, walk
from irkit.ir import Block, parse, script
from irkit.schedule import Schedule
from tests.draws import few_or_all
from tests.schedule.kernels import assert_same_results, chain, matmul
from tests.schedule.primitives.loops.programs import ends


def test_an_exact_split_makes_a_nest_without_a_guard() -> None:
    sch = Schedule(chain(16))
    outer, inner = sch.split(sch.get_loops(sch.get_block("B"))[0], [None, 4])
    assert script(sch.loop(outer).end) == "4"
    assert script(sch.loop(inner).end) == "4"
    assert all(block.predicate is None for block in walk(sch.func, on=Block))


def test_an_inexact_split_guards_the_block() -> None:
    sch = Schedule(chain(17))
    sch.split(sch.get_loops(sch.get_block("B"))[0], [None, 4])
    (block,) = [block for block in walk(sch.func, on=Block) if block.name == "B"]
    assert block.predicate is not None
    assert script(block.predicate).endswith("< 17")
    assert_same_results(chain(17), sch.func)


@settings(max_examples=few_or_all(10, 25), deadline=None, derandomize=True)
@given(n=st.integers(1, 20), factors=st.lists(st.integers(1, 5), min_size=1, max_size=3))
def test_a_split_never_changes_the_result(n: int, factors: list[int]) -> None:
    sch = Schedule(chain(n))
    sch.split(sch.get_loops(sch.get_block("C"))[0], [None, *factors])
    assert_same_results(chain(n), sch.func)


def test_a_split_that_does_not_cover_the_loop_is_refused() -> None:
    sch = Schedule(chain(16))
    (loop,) = sch.get_loops(sch.get_block("B"))
    before = sch.func
    with pytest.raises(ScheduleError, match="extent is 16"):
        sch.split(loop, [3, 5])
    assert sch.func is before


@pytest.mark.parametrize("factors", [[0, None], [-1, None], [None, None]])
def test_invalid_factors_are_refused(factors: list[int | None]) -> None:
    sch = Schedule(chain(16))
    with pytest.raises(ScheduleError):
        sch.split(sch.get_loops(sch.get_block("B"))[0], factors)


def test_a_loop_that_was_split_cannot_be_used() -> None:
    sch = Schedule(chain(16))
    (loop,) = sch.get_loops(sch.get_block("B"))
    sch.split(loop, [4, 4])
    with pytest.raises(ScheduleError, match="no loop 'i' any more"):
        sch.split(loop, [4, 4])


def test_a_marked_loop_cannot_be_split() -> None:
    sch = Schedule(chain(8))
    (loop,) = sch.get_loops(sch.get_block("B"))
    sch.vectorize(loop)
    with pytest.raises(ScheduleError, match="marked vectorized"):
        sch.split(loop, [2, 4])


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


@settings(max_examples=few_or_all(10, 25), deadline=None, derandomize=True)
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


def test_a_complete_reduction_inside_a_shifted_tail_is_recomputed() -> None:
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
def test_a_split_takes_exactly_one_form_of_factors(given_: dict[str, Any]) -> None:
    sch = Schedule(chain(16))
    with pytest.raises(ScheduleError, match="exactly one"):
        sch.split(sch.get_loops(sch.get_block("B"))[0], **given_)


def test_factors_that_may_not_cover_a_symbolic_loop_are_refused() -> None:
    sch = Schedule(parse(SYMBOLIC))
    (loop,) = sch.get_loops(sch.get_block("B"))
    with pytest.raises(ScheduleError, match="cannot be proved to be that small"):
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


def test_an_extent_that_is_a_multiple_of_the_factors_needs_no_guard() -> None:
    text = """def f(A: f32[m], C: f32[m]):
    B = alloc(f32[(m + 15) // 16 * 16])
    for i in serial(0, (m + 15) // 16 * 16):
        with block("B"):
            v = axis.spatial((m + 15) // 16 * 16, i)
            B[v] = A[v] if v < m else f32(0.0)
    for i in serial(0, m):
        with block("C"):
            v = axis.spatial(m, i)
            C[v] = B[v]
"""
    for factor, guarded in ((16, False), (4, False), (12, True)):
        sch = Schedule(parse(text), check="each")
        block = sch.get_block("B")
        sch.split(sch.get_loops(block)[0], [None, factor])
        assert (sch.get(block).predicate is not None) == guarded
