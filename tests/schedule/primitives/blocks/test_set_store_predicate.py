"""set_store_predicate: a block runs only where a condition holds, if the results stay the same."""

import pytest

from irkit.core import ScheduleError, same, walk
from irkit.ir import Block, parse, script
from irkit.schedule import Schedule, ScheduleTrace
from tests.schedule.kernels import matmul

AGAIN = """def f(A: f32[8], B: f32[8]):
    for t in thread(0, 4, "threadIdx.x"):
        for i in serial(0, 8):
            with block("B"):
                vt = axis.spatial(4, t)
                v = axis.spatial(8, i)
                B[v] = A[v] + f32(1.0)
"""

PART = """def f(A: f32[8], C: f32[4]):
    B = alloc(f32[8])
    for i in serial(0, 8):
        with block("B"):
            v = axis.spatial(8, i)
            B[v] = A[v] + f32(1.0)
    for i in serial(0, 4):
        with block("C"):
            v = axis.spatial(4, i)
            C[v] = B[v + 2]
"""


def predicate(sch: Schedule, name: str) -> str:
    (block,) = [block for block in walk(sch.func, on=Block) if block.name == name]
    return "" if block.predicate is None else script(block.predicate)


def test_only_the_first_thread_stores_a_common_value() -> None:
    sch = Schedule(parse(AGAIN), check="each")
    sch.set_store_predicate(sch.get_block("B"), lambda t, i: t == 0)
    assert predicate(sch, "B") == "t == 0"


@pytest.mark.parametrize(
    "text",
    [
        AGAIN.replace("B[v] = A[v]", "B[v] = B[v]"),
        AGAIN.replace("A[v] +", "A[vt] +"),
        AGAIN.replace("serial(0, 8)", "serial(0, t * 2 + 2)"),
        AGAIN.replace("axis.spatial(8, i)", "axis.spatial(8, (i + t) % 8)"),
        AGAIN.replace("B[v] =", "B[vt] ="),
        AGAIN + "        A[7] = B[0]\n",
    ],
    ids=["adds up", "differs", "covers more", "elsewhere", "own element", "not alone"],
)
def test_stores_that_are_not_just_repeated_stay(text: str) -> None:
    sch = Schedule(parse(text))
    with pytest.raises(ScheduleError, match="the omitted ones"):
        sch.set_store_predicate(sch.get_block("B"), lambda t, i: t == 0)


def test_another_thread_than_the_first_is_refused() -> None:
    sch = Schedule(parse(AGAIN))
    with pytest.raises(ScheduleError, match="the omitted ones"):
        sch.set_store_predicate(sch.get_block("B"), lambda t, i: t == 4)


def test_elements_that_are_never_read_need_no_store() -> None:
    sch = Schedule(parse(PART), check="each")
    sch.set_store_predicate(sch.get_block("B"), lambda i: (i >= 2) & (i < 6))
    assert predicate(sch, "B") == "i >= 2 and i < 6"


@pytest.mark.parametrize("last", [5, 7])
def test_elements_that_are_read_must_be_stored(last: int) -> None:
    sch = Schedule(parse(PART))
    with pytest.raises(ScheduleError, match="the omitted ones"):
        sch.set_store_predicate(sch.get_block("B"), lambda i: i < last - 2)
    with pytest.raises(ScheduleError, match="the omitted ones"):
        sch.set_store_predicate(sch.get_block("C"), lambda i: i < last - 4)


def test_a_condition_that_always_holds_is_accepted() -> None:
    sch = Schedule(matmul(3, 4, 5), check="each")
    sch.set_store_predicate(sch.get_block("C"), lambda i, j, r: (i < 3) & ~(j > 3) | (r == 7))
    with pytest.raises(ScheduleError, match="the omitted ones"):
        sch.set_store_predicate(sch.get_block("C"), lambda i, j, r: r < 4)


def test_a_condition_is_data() -> None:
    sch = Schedule(parse(PART))
    sch.set_store_predicate(sch.get_block("B"), lambda i: (i >= 2) & (i < 6) | (i % 3 == 1))
    for again in (Schedule(parse(PART)), Schedule(parse(PART))):
        ScheduleTrace.from_json(sch.trace.as_json()).apply(again)
        assert same(again.func, sch.func)
    python = Schedule(parse(PART))
    exec(sch.trace.as_python(), {"sch": python})
    assert same(python.func, sch.func)
