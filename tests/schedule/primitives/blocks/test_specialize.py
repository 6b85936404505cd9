"""specialize: a body is copied for conditions on sizes, and each copy is scheduled on its own."""

import numpy as np
import pytest

import irkit
from irkit import te
from irkit.core import ScheduleError, walk
from irkit.ir import If, Let, PrimFunc, Store, Var, interpret, le, lt, parse, script
from irkit.schedule import BlockRef, Schedule

DOUBLED = """def f(A: f32[m], C: f32[m]):
    B = alloc(f32[m])
    for i in serial(0, m):
        with block("B"):
            v = axis.spatial(m, i)
            B[v] = A[v] * f32(2.0)
    for i in serial(0, m):
        with block("C"):
            v = axis.spatial(m, i)
            C[v] = B[v] + f32(1.0)
"""


def test_each_copy_has_blocks_of_its_own() -> None:
    sch = Schedule(parse(DOUBLED))
    found = sch.specialize(sch.expr("m < 4"), sch.expr("m < 64"))
    assert [each.name for each in found] == ["B_1", "C_1", "B_2", "C_2"]
    assert [script(each.cond) for each in walk(sch.func, on=If)] == ["m < 4", "m < 64"]
    buffers = {store.buffer for b in ("B", "B_1", "B_2") for store in stores(sch, b)}
    assert len(buffers) == 3


def stores(sch: Schedule, name: str) -> list[Store]:
    return list(walk(sch.get(BlockRef(name)), on=Store))


@pytest.mark.parametrize("count", [0, 1, 3, 4, 5, 63, 64, 65])
def test_copies_scheduled_in_different_ways_compute_the_same(count: int) -> None:
    func = parse(DOUBLED)
    sch = Schedule(func, check="each")
    first, last = sch.specialize(sch.expr("m < 4"))
    sch.compute_inline(first)
    stage = sch.cache_write(last)
    sch.unroll(sch.split(sch.get_loops(last)[0], [None, 2])[1])
    sch.parallel(sch.get_loops(stage)[0])
    _, lane = sch.split(sch.get_loops(sch.get_block("B"))[0], [None, 8])
    sch.vectorize(lane)
    again = Schedule(func)
    again.replay(sch.trace)
    values = np.arange(count, dtype=np.float32)
    for each in (sch.func, again.func, irkit.lower(sch.func)):
        result = np.zeros(count, np.float32)
        interpret(each, values, result)
        np.testing.assert_array_equal(result, values * 2 + 1)


def test_a_reduction_in_one_copy_is_finished_in_its_own_loops() -> None:
    def func() -> PrimFunc:
        m = te.var("m")
        a = te.placeholder((m, 6), name="A")
        k = te.reduce_axis((0, 6), name="k")
        return te.create_prim_func([a, te.compute((m,), lambda i: te.sum(a[i, k], k), name="C")])

    sch = Schedule(func(), check="each")
    (copy,) = sch.specialize(sch.expr("m < 9"))
    for block in (copy, sch.get_block("C")):
        out = sch.cache_write(block)
        sch.reverse_compute_at(out, sch.get_loops(block)[0])
    assert [script(each.cond) for each in walk(sch.func, on=If)] == ["m < 9"]


def test_a_condition_uses_sizes_only() -> None:
    sch = Schedule(parse(DOUBLED))
    inner = Var("i", sch.expr("m").dtype)
    for condition, found in (
        (lt(inner, 3), "'i'"),
        (lt(sch.buffer("A")[0], 3.0), "memory"),
        (inner + 1, "i"),
    ):
        with pytest.raises(ScheduleError, match=found):
            sch.specialize(condition)
    with pytest.raises(ScheduleError, match="1 to 16 conditions"):
        sch.specialize()
    with pytest.raises(ScheduleError, match="1 to 16 conditions"):
        sch.specialize(*(le(sch.expr("m"), n) for n in range(17)))


def test_another_writer_beside_a_block_still_counts() -> None:
    text = DOUBLED.replace("B[v] + f32(1.0)", "A[v]").replace("B[v] = A", "C[v] = A")
    sch = Schedule(parse(text))
    copy, _ = sch.specialize(sch.expr("m < 4"))
    with pytest.raises(ScheduleError, match="only writer"):
        sch.cache_write(copy)


def test_a_condition_that_says_little_has_a_name() -> None:
    sch = Schedule(parse(DOUBLED), check="each")
    sch.specialize(sch.expr("m // 4 * 7 < m // 3 * 5"))
    (let,) = walk(sch.func, on=Let)
    (branch,) = walk(sch.func, on=If)
    assert branch.cond is let.var
    assert script(let.value) == "m // 4 * 7 < m // 3 * 5"
