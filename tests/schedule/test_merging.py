"""Nests that stand side by side become one, and one becomes several, where the order is free."""

import pytest

from irkit import te
from irkit.core import ScheduleError, same, walk
from irkit.ir import Block, For, If, PrimFunc, parse
from irkit.schedule import Schedule, ScheduleTrace
from tests.schedule.kernels import all_loops, chain, matmul

BODY = """def f(A: f32[12], B: f32[12], C: f32[12]):
    for i in serial(0, 8):
        with block("B"):
            v = axis.spatial(8, i)
            B[{b}] = A[v] + f32(1.0)
    for j in serial(0, 8):
        with block("C"):
            w = axis.spatial(8, j)
            {c}
"""


def apart(b: str, c: str) -> PrimFunc:
    return parse(BODY.format(b=b, c=c))


def together(b: str, c: str) -> PrimFunc:
    text = BODY.format(b=b, c=c).replace("    for j in serial(0, 8):\n", "")
    return parse(text.replace("axis.spatial(8, j)", "axis.spatial(8, i)"))


def planes(m: int, n: int) -> PrimFunc:
    a = te.placeholder((m, n), name="A")
    b = te.compute((m, n), lambda i, j: a[i, j] + 1.0, name="B")
    c = te.compute((m, n), lambda i, j: b[i, j] * 2.0, name="C")
    return te.create_prim_func([a, c])


# What the second part may do while iterations of the first are still to come, or after all of them.
ORDERS = [
    ("v", "C[w] = B[w]", True),
    ("v + 1", "C[w] = B[w]", True),
    ("v", "C[w] = B[w + 1]", False),
    ("v + 1", "C[w] = B[w + 2]", False),
    ("0", "C[w] = B[0]", False),
    ("v", "C[w] = B[7 - w]", False),
    ("v", "A[w] = f32(0.0)", True),
    ("v", "A[w + 1] = f32(0.0)", False),
    ("v", "B[w] = f32(0.0)", True),
    ("v", "B[w + 1] = f32(0.0)", False),
]


@pytest.mark.parametrize(("b", "c", "free"), ORDERS)
def test_nests_are_merged_only_if_no_later_iteration_matters(b: str, c: str, free: bool) -> None:
    sch = Schedule(apart(b, c), check="each")
    first, second = all_loops(sch)
    if free:
        assert sch.merge(first, second).var is first.var
        assert same(sch.func, together(b, c))
        return
    with pytest.raises(ScheduleError, match="a later iteration"):
        sch.merge(first, second)


@pytest.mark.parametrize(("b", "c", "free"), ORDERS)
def test_a_loop_is_cut_behind_a_block_only_if_the_order_is_free(b: str, c: str, free: bool) -> None:
    sch = Schedule(together(b, c), check="each")
    (loop,) = all_loops(sch)
    if free:
        sch.fission(loop, sch.get_block("B"))
        assert same(sch.func, apart(b, c))
        return
    with pytest.raises(ScheduleError, match="a later iteration"):
        sch.fission(loop, sch.get_block("B"))


def test_a_chain_of_three_is_merged_at_once() -> None:
    sch = Schedule(chain(8), check="each")
    sch.merge(*all_loops(sch))
    assert len(all_loops(sch)) == 1


def test_whole_nests_are_merged_and_cut_again() -> None:
    func = planes(3, 5)
    sch = Schedule(func, check="each")
    inner = [sch.get_loops(sch.get_block(name))[1] for name in "BC"]
    sch.merge(*inner)
    outer, _ = all_loops(sch)
    sch.fission(outer, sch.get_block("B"))
    assert same(sch.func, func)


def test_a_cut_behind_the_inner_loop_leaves_that_whole() -> None:
    sch = Schedule(planes(3, 5), check="each")
    rows = [sch.get_loops(sch.get_block(name))[0] for name in "BC"]
    row = sch.merge(*rows)
    first, _ = sch.fission(row, sch.get_loops(sch.get_block("B"))[1])
    assert first.var is row.var
    assert len(all_loops(sch)) == 4


def test_what_stands_between_may_be_passed_if_nothing_needs_it() -> None:
    sch = Schedule(chain(8), check="each")
    b, _, d = all_loops(sch)
    with pytest.raises(ScheduleError, match="what stands between"):
        sch.merge(b, d)
    other = Schedule(unrelated(), check="each")
    first, _, third = all_loops(other)
    other.merge(first, third)
    assert len(all_loops(other)) == 2


def unrelated() -> PrimFunc:
    a = te.placeholder((8,), name="A")
    b = te.compute((8,), lambda i: a[i] + 1.0, name="B")
    c = te.compute((8,), lambda i: a[i] * 2.0, name="C")
    d = te.compute((8,), lambda i: b[i] - 1.0, name="D")
    return te.create_prim_func([a, d, c])


def test_nests_that_differ_are_not_merged() -> None:
    sch = Schedule(matmul(4, 4, 4))
    with pytest.raises(ScheduleError, match="two or more"):
        sch.merge(all_loops(sch)[0])
    with pytest.raises(ScheduleError, match="side by side"):
        sch.merge(*all_loops(sch)[:2])
    init = sch.decompose_reduction(sch.get_block("C"), all_loops(sch)[0])
    start, steps = (sch.get_loops(block) for block in (init, sch.get_block("C")))
    with pytest.raises(ScheduleError, match="equally deep"):
        sch.merge(start[1], steps[2])
    with pytest.raises(ScheduleError, match="not in front"):
        sch.merge(steps[0], start[0])
    sch.merge(start[1], steps[1])


def test_nests_of_other_extent_or_marked_are_not_merged() -> None:
    a = te.placeholder((8,), name="A")
    b = te.compute((8,), lambda i: a[i] + 1.0, name="B")
    c = te.compute((7,), lambda i: a[i] + b[i], name="C")
    sch = Schedule(te.create_prim_func([a, c]))
    with pytest.raises(ScheduleError, match="same extent"):
        sch.merge(*all_loops(sch))
    sch.annotate(all_loops(sch)[0], "mine", 1)
    with pytest.raises(ScheduleError, match="marked mine"):
        sch.merge(*all_loops(sch))


def test_a_cut_needs_two_parts() -> None:
    sch = Schedule(planes(3, 5))
    rows = [sch.get_loops(sch.get_block(name)) for name in "BC"]
    with pytest.raises(ScheduleError, match="nothing in it comes after"):
        sch.fission(rows[0][0], sch.get_block("B"))
    with pytest.raises(ScheduleError, match="not inside"):
        sch.fission(rows[0][0], sch.get_block("C"))
    with pytest.raises(ScheduleError, match="not inside"):
        sch.fission(rows[0][0], rows[0][0])


def test_a_room_of_an_iteration_is_not_cut_in_two() -> None:
    text = """def f(A: f32[8], C: f32[8]):
    for i in serial(0, 8):
        T = alloc(f32[1])
        with block("T"):
            v = axis.spatial(8, i)
            T[0] = A[v]
        with block("C"):
            w = axis.spatial(8, i)
            C[w] = T[0]
"""
    sch = Schedule(parse(text))
    with pytest.raises(ScheduleError, match="more than loops"):
        sch.fission(all_loops(sch)[0], sch.get_block("T"))


GUARDED = """def f(A: f32[8, 4], B: f32[8, 4], n: i64):
    for i in serial(0, 8):
        if {cond}:
            for j in serial(0, 4):
                with block("B"):
                    v = axis.spatial(8, i)
                    w = axis.spatial(4, j)
                    B[v, w] = A[v, w]
"""


def shape(sch: Schedule) -> list[str]:
    return [type(stmt).__name__ for stmt in walk(sch.func, on=(For, If))]


def test_an_if_that_does_not_ask_about_a_loop_moves_out_of_it() -> None:
    sch = Schedule(parse(GUARDED.format(cond="n > 2")), check="each")
    sch.lift_scope(sch.get_block("B"))
    assert shape(sch) == ["If", "For", "For"]


def test_a_loop_moves_out_of_an_if() -> None:
    sch = Schedule(parse(GUARDED.format(cond="i > 2")), check="each")
    sch.lift_scope(all_loops(sch)[1])
    assert shape(sch) == ["For", "For", "If"]
    sch.lift_scope(all_loops(sch)[1])
    assert shape(sch) == ["For", "For", "If"]


def test_both_branches_of_an_if_get_the_loop() -> None:
    text = (
        GUARDED.format(cond="n > 2")
        + """        else:
            with block("C"):
                B[i, 0] = f32(7.0)
"""
    )
    sch = Schedule(parse(text), check="each")
    sch.lift_scope(sch.get_block("B"))
    assert shape(sch) == ["If", "For", "For", "For"]


@pytest.mark.parametrize(
    ("cond", "reason"), [("i > 2", "asks about"), ("B[0, 0] > f32(2.0)", "which the loop writes")]
)
def test_an_if_that_may_change_stays(cond: str, reason: str) -> None:
    sch = Schedule(parse(GUARDED.format(cond=cond)))
    with pytest.raises(ScheduleError, match=reason):
        sch.lift_scope(sch.get_block("B"))


def test_a_scope_with_nothing_around_stays() -> None:
    sch = Schedule(planes(3, 4))
    with pytest.raises(ScheduleError, match="holds it alone"):
        sch.lift_scope(all_loops(sch)[0])
    with pytest.raises(ScheduleError, match="no `if` around"):
        sch.lift_scope(sch.get_block("B"))


def test_a_loop_does_not_move_out_of_an_if_whose_condition_it_writes() -> None:
    sch = Schedule(parse(GUARDED.format(cond="B[0, 0] > f32(2.0)")))
    with pytest.raises(ScheduleError, match="which the loop writes"):
        sch.lift_scope(all_loops(sch)[1])


def test_merging_and_cutting_are_data() -> None:
    def scheduled(sch: Schedule) -> Schedule:
        rows = [sch.get_loops(sch.get_block(name))[0] for name in "BC"]
        made = sch.merge(*rows)
        sch.fission(made, after=sch.get_loops(sch.get_block("B"))[1])
        sch.lift_scope(sch.get_loops(sch.get_block("C"))[1])
        return sch

    sch, again = scheduled(Schedule(planes(3, 5))), Schedule(planes(3, 5))
    ScheduleTrace.from_json(sch.trace.as_json()).apply(again)
    assert same(again.func, sch.func)
    assert [block.name for block in walk(sch.func, on=Block)] == ["B", "C"]
