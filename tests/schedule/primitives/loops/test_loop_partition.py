"""loop_partition: a loop becomes consecutive loops over parts of its range."""

import pytest
from hypothesis import given, settings, strategies as st

from irkit.core import ScheduleError, walk
from irkit.ir import Block, parse
from irkit.schedule import Schedule
from tests.draws import few_or_all
from tests.schedule.kernels import chain, matmul
from tests.schedule.primitives.loops.programs import ranges

SYMBOLIC = """def f(A: f32[n], B: f32[n]):
    for i in serial(0, n):
        with block("B"):
            v = axis.spatial(n, i)
            B[v] = A[v] + f32(1.0)
"""


@settings(max_examples=few_or_all(8, 20), deadline=None, derandomize=True)
@given(lengths=st.lists(st.integers(1, 4), min_size=1, max_size=4), at=st.integers(0, 2))
def test_parts_of_any_loop_give_the_same(lengths: list[int], at: int) -> None:
    sizes = [3, 4, 5]
    sizes[at] = sum(lengths)
    sch = Schedule(matmul(*sizes), check="each")
    block = sch.get_block("C")
    made = sch.loop_partition(sch.get_loops(block)[at], lengths)
    assert len(made) == len(lengths)
    names = [each.name for each in walk(sch.func, on=Block)]
    assert names == ["C", *(f"C_{number}" for number in range(1, len(lengths)))]


def test_one_length_is_computed() -> None:
    sch = Schedule(chain(16), check="each")
    sch.loop_partition(sch.get_loops(sch.get_block("B"))[0], [3, None, 4])
    assert ranges(sch)[:3] == ["0:3", "3:12", "12:16"]


def test_a_symbolic_loop_is_cut_where_it_may_end_before() -> None:
    sch = Schedule(parse(SYMBOLIC), check="each")
    first, second = sch.loop_partition(sch.get_loops(sch.get_block("B"))[0], [9, None])
    assert ranges(sch) == ["0:min(9, n)", "9:n"]
    sch.join_loops(first, second)
    assert ranges(sch) == ["0:n"]


@pytest.mark.parametrize(
    ("factors", "reason"),
    [
        ([3, 4], "add up"),
        ([None, None], "at most one"),
        ([0, None], "positive"),
        ([-1, None], "positive"),
        ([9, None], "fit"),
        ([8, None], "fit"),
        ([], "no parts"),
    ],
)
def test_parts_that_do_not_make_up_the_loop_are_refused(
    factors: list[int | None], reason: str
) -> None:
    sch = Schedule(chain(8))
    with pytest.raises(ScheduleError, match=reason):
        sch.loop_partition(sch.get_loops(sch.get_block("B"))[0], factors)


def test_a_marked_loop_is_not_partitioned() -> None:
    sch = Schedule(chain(8))
    b, c = (sch.get_loops(sch.get_block(name))[0] for name in "BC")
    sch.vectorize(b)
    sch.annotate(c, "mine", 1)
    for loop in (b, c):
        with pytest.raises(ScheduleError, match="is marked"):
            sch.loop_partition(loop, [4, 4])
        with pytest.raises(ScheduleError, match="is marked"):
            sch.cut_loop(loop, 4)


def test_a_loop_that_does_not_start_at_0_has_no_partition_by_lengths() -> None:
    sch = Schedule(chain(8))
    (loop,) = sch.get_loops(sch.get_block("B"))
    sch.shift_loop(loop, 2)
    with pytest.raises(ScheduleError, match="does not start at 0"):
        sch.loop_partition(loop, [4, 4])
    sch.cut_loop(loop, 5)
