"""Split, fuse, reorder and the marks keep the meaning or refuse."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irkit.core import ScheduleError, walk
from irkit.ir import Block, For, script
from irkit.schedule import Schedule
from tests.schedule.kernels import assert_same_results, chain, matmul, outputs


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


@settings(max_examples=25, deadline=None, derandomize=True)
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
def test_senseless_factors_are_refused(factors: list[int | None]) -> None:
    sch = Schedule(chain(16))
    with pytest.raises(ScheduleError):
        sch.split(sch.get_loops(sch.get_block("B"))[0], factors)


def test_a_loop_that_was_split_is_gone_and_says_so() -> None:
    sch = Schedule(chain(16))
    (loop,) = sch.get_loops(sch.get_block("B"))
    sch.split(loop, [4, 4])
    with pytest.raises(ScheduleError, match="no loop 'i' any more"):
        sch.split(loop, [4, 4])


def test_fused_loops_run_over_the_product() -> None:
    sch = Schedule(matmul(3, 5, 2))
    i, j, _ = sch.get_loops(sch.get_block("C"))
    fused = sch.fuse(i, j)
    assert script(sch.loop(fused).end) == "15"
    assert_same_results(matmul(3, 5, 2), sch.func)


def test_loops_that_are_not_nested_directly_cannot_be_fused() -> None:
    sch = Schedule(matmul(3, 5, 2))
    i, _, r = sch.get_loops(sch.get_block("C"))
    with pytest.raises(ScheduleError, match="not the only statement"):
        sch.fuse(i, r)


@settings(max_examples=12, deadline=None, derandomize=True)
@given(order=st.permutations([0, 1, 2]))
def test_any_order_of_a_matrix_product_gives_the_same(order: list[int]) -> None:
    sch = Schedule(matmul(3, 4, 5))
    loops = sch.get_loops(sch.get_block("C"))
    if order != sorted(order):  # A reduction that is not innermost needs its start apart.
        sch.decompose_reduction(sch.get_block("C"), loops[0])
    sch.reorder(*(loops[at] for at in order))
    found = [loop.var for loop in sch.get_loops(sch.get_block("C"))]
    assert found == [loops[at].var for at in order]
    assert_same_results(matmul(3, 4, 5), sch.func)


def test_reordering_loops_of_different_nests_is_refused() -> None:
    sch = Schedule(chain(8))
    (b,), (c,) = (sch.get_loops(sch.get_block(name)) for name in "BC")
    with pytest.raises(ScheduleError, match="not in one nest"):
        sch.reorder(b, c)


@pytest.mark.parametrize("mark", ["parallel", "vectorize"])
def test_the_loop_of_a_reduction_is_neither_parallel_nor_vectorized(mark: str) -> None:
    sch = Schedule(matmul(4, 4, 4))
    *_, reduced = sch.get_loops(sch.get_block("C"))
    with pytest.raises(ScheduleError, match="reduce axis"):
        getattr(sch, mark)(reduced)


def test_a_marked_loop_cannot_be_split() -> None:
    sch = Schedule(chain(8))
    (loop,) = sch.get_loops(sch.get_block("B"))
    sch.vectorize(loop)
    with pytest.raises(ScheduleError, match="marked vectorized"):
        sch.split(loop, [2, 4])


def test_marks_stand_in_the_loop() -> None:
    sch = Schedule(matmul(4, 4, 4))
    i, j, r = sch.get_loops(sch.get_block("C"))
    sch.parallel(i)
    sch.vectorize(j)
    sch.unroll(r)
    assert [loop.kind for loop in walk(sch.func, on=For)] == ["parallel", "vectorized", "unrolled"]
    assert outputs(sch.func)[2].tolist() == outputs(matmul(4, 4, 4))[2].tolist()


def test_a_block_that_does_not_exist_is_an_error_that_lists_those_that_do() -> None:
    with pytest.raises(ScheduleError, match="B, C, D"):
        Schedule(chain(8)).get_block("E")


@pytest.mark.parametrize("name", ["fuse", "reorder"])
def test_no_loops_at_all_are_refused(name: str) -> None:
    with pytest.raises(ScheduleError, match=f"{name} was given no loops"):
        getattr(Schedule(chain(16)), name)()
