"""Loops are taken apart into consecutive ranges, and put together again, without a change."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irkit.core import ScheduleError, same, walk
from irkit.ir import Block, For, parse, script
from irkit.schedule import Schedule, ScheduleTrace
from tests.schedule.kernels import chain, matmul, matmul_relu

SYMBOLIC = """def f(A: f32[n], B: f32[n]):
    for i in serial(0, n):
        with block("B"):
            v = axis.spatial(n, i)
            B[v] = A[v] + f32(1.0)
"""


def ranges(sch: Schedule) -> list[str]:
    return [f"{script(loop.begin)}:{script(loop.end)}" for loop in walk(sch.func, on=For)]


@settings(max_examples=20, deadline=None, derandomize=True)
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


@settings(max_examples=20, deadline=None, derandomize=True)
@given(cuts=st.sets(st.integers(1, 8), min_size=1, max_size=3), at=st.integers(0, 2))
def test_what_was_cut_can_be_joined(cuts: set[int], at: int) -> None:
    func = matmul(9, 9, 9)
    sch = Schedule(func, check="each")
    later = loop = sch.get_loops(sch.get_block("C"))[at]
    parts = [loop]
    for cut in sorted(cuts):
        _, later = sch.cut_loop(later, cut)
        parts.append(later)
    for part in parts[1:]:
        sch.join_loops(loop, part)
    assert same(sch.func, func)


def test_one_length_is_found() -> None:
    sch = Schedule(chain(16), check="each")
    sch.loop_partition(sch.get_loops(sch.get_block("B"))[0], [3, None, 4])
    assert ranges(sch)[:3] == ["0:3", "3:12", "12:16"]


def test_a_symbolic_loop_is_cut_where_it_may_end_before() -> None:
    sch = Schedule(parse(SYMBOLIC), check="each")
    first, second = sch.loop_partition(sch.get_loops(sch.get_block("B"))[0], [9, None])
    assert ranges(sch) == ["0:min(9, n)", "9:n"]
    sch.join_loops(first, second)
    assert ranges(sch) == ["0:n"]


def test_a_reduction_goes_on_in_later_parts_without_starting_again() -> None:
    sch = Schedule(matmul(4, 4, 8), check="each")
    *_, r = sch.get_loops(sch.get_block("C"))
    _, later = sch.cut_loop(r, 3)
    first, second = walk(sch.func, on=Block)
    assert first.init is not None
    assert second.init is None
    sch.decompose_reduction(sch.get_block("C"), r)
    sch.shift_loop(later)
    sch.split(later, [None, 2])


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


def test_a_marked_loop_is_not_taken_apart() -> None:
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


@pytest.mark.parametrize("at", [-1, 0, 8, 9])
def test_a_cut_outside_of_the_range_is_refused(at: int) -> None:
    sch = Schedule(chain(8))
    with pytest.raises(ScheduleError, match="inside its range"):
        sch.cut_loop(sch.get_loops(sch.get_block("B"))[0], at)


def test_a_reduction_that_may_start_in_a_later_part_is_not_cut() -> None:
    text = """def f(A: f32[4], B: f32[3]):
    for i in serial(0, 3):
        for k in serial(0, 4):
            with block("B"):
                vi = axis.spatial(3, i)
                vk = axis.reduce(4, 3 - k)
                with init():
                    B[vi] = f32(0.0)
                B[vi] = B[vi] + A[vk]
"""
    sch = Schedule(parse(text))
    with pytest.raises(ScheduleError, match="start in the first part only"):
        sch.cut_loop(sch.get_loops(sch.get_block("B"))[1], 2)


def test_loops_that_do_not_belong_together_are_not_joined() -> None:
    sch = Schedule(chain(8))
    b, c, d = (sch.get_loops(sch.get_block(name))[0] for name in "BCD")
    with pytest.raises(ScheduleError, match="does not directly follow"):
        sch.join_loops(b, d)
    with pytest.raises(ScheduleError, match="begin where the first ends"):
        sch.join_loops(b, c)
    sch.shift_loop(c, 8)
    with pytest.raises(ScheduleError, match="the same body"):
        sch.join_loops(b, c)
    first, second = sch.cut_loop(d, 4)
    sch.unroll(second)
    with pytest.raises(ScheduleError, match="marked unrolled"):
        sch.join_loops(first, second)


def test_a_shifted_loop_computes_the_same() -> None:
    sch = Schedule(chain(8), check="each")
    (loop,) = sch.get_loops(sch.get_block("C"))
    sch.shift_loop(loop, 5)
    assert ranges(sch)[1] == "5:13"
    sch.shift_loop(loop, 0)
    assert ranges(sch)[1] == "0:8"


def test_a_thread_loop_is_not_shifted() -> None:
    sch = Schedule(chain(8))
    (loop,) = sch.get_loops(sch.get_block("C"))
    sch.bind(loop, "threadIdx.x")
    with pytest.raises(ScheduleError, match="begins at 0"):
        sch.shift_loop(loop, 2)


def test_a_consumer_does_not_follow_a_producer_that_was_cut_in_pieces() -> None:
    sch = Schedule(matmul_relu(4, 6, 3))
    _, j, _ = sch.get_loops(sch.get_block("C"))
    first, second = sch.cut_loop(j, 2)
    for loop in (first, second):
        with pytest.raises(ScheduleError, match=r"block 'C.*computes"):
            sch.reverse_compute_at(sch.get_block("D"), loop)


def test_pieces_are_data_and_say_who_made_them() -> None:
    def scheduled(sch: Schedule) -> Schedule:
        parts = sch.loop_partition(sch.get_loops(sch.get_block("C"))[1], [3, None, 2])
        sch.join_loops(parts[0], parts[1])
        sch.shift_loop(parts[2])
        sch.cut_loop(parts[0], at=4)
        return sch

    sch, again = scheduled(Schedule(matmul(4, 9, 3))), Schedule(matmul(4, 9, 3))
    ScheduleTrace.from_json(sch.trace.as_json()).apply(again)
    assert same(again.func, sch.func)
    steps = {"loop_partition", "join_loops", "shift_loop", "cut_loop"}
    assert {step.primitive for step in sch.trace.steps} >= steps
    spans = [loop.span for loop in walk(sch.func, on=For)][1:]
    assert any(span is not None and span.name.startswith("cut_loop#") for span in spans)
