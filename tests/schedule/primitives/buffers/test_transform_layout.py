"""transform_layout: a buffer gets another layout, and all accesses follow."""

import pytest
from hypothesis import given, settings, strategies as st

from irkit import te
from irkit.core import ScheduleError, walk
from irkit.ir import Allocate, Expr, parse, script
from irkit.schedule import IndexMap, Schedule
from tests.schedule.kernels import chain, matmul
from tests.schedule.programs import refuses


def test_a_parameter_has_the_layout_that_its_caller_knows() -> None:
    sch = Schedule(matmul(4, 4, 4))
    with pytest.raises(ScheduleError, match="exactly one intermediate buffer"):
        sch.transform_layout(sch.get_block("C"), lambda i, j: [j, i])


def test_a_layout_that_is_not_injective_is_refused() -> None:
    sch = Schedule(chain(8))
    with pytest.raises(ScheduleError, match="same place"):
        sch.transform_layout(sch.get_block("B"), lambda i: [i // 2])


def in_turns(i: Expr) -> Expr:
    return i % 4


def of_two(i: Expr, j: Expr) -> tuple[Expr, Expr]:
    return i, j


@pytest.mark.parametrize("index_map", [of_two, lambda: (0,)])
def test_an_index_map_of_another_rank_is_refused(index_map: IndexMap) -> None:
    def what(sch: Schedule) -> None:
        sch.transform_layout(sch.get_block("B"), index_map)

    refuses(chain(8), what, "does not take 1 indices")


def test_a_symbolic_buffer_keeps_its_layout() -> None:
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    b = te.compute((n,), lambda i: a[i] + 1.0, name="B")
    c = te.compute((n,), lambda i: b[i] * 2.0, name="C")
    func = te.create_prim_func([a, c])
    refuses(func, lambda s: s.transform_layout(s.get_block("B"), in_turns), "not constant")


@settings(max_examples=15, deadline=None, derandomize=True)
@given(n=st.integers(1, 13), tile=st.integers(1, 5), value=st.integers(-3, 3))
def test_padding_of_a_layout_holds_the_pad_value(n: int, tile: int, value: int) -> None:
    sch = Schedule(chain(n), check="each")
    sch.transform_layout(sch.get_block("B"), lambda i: (i // tile, i % tile), value)
    exact = n % tile == 0 or n <= tile
    assert ("B_pad" in script(sch.func)) is not exact
    assert (f"f32({float(value)})" in script(sch.func)) or exact or value in (1, 2)


def test_padding_of_an_integer_buffer_must_be_an_integer() -> None:
    func = parse("""def f(A: i64[5], C: i64[5]):
    B = alloc(i64[5])
    for i in serial(0, 5):
        with block("B"):
            v = axis.spatial(5, i)
            B[v] = A[v]
    for i in serial(0, 5):
        with block("C"):
            v = axis.spatial(5, i)
            C[v] = B[v]
""")
    sch = Schedule(func, check="each")
    with pytest.raises(ScheduleError, match=r"cannot hold 0\.5"):
        sch.transform_layout(sch.get_block("B"), lambda i: (i // 2, i % 2), 0.5)
    sch.transform_layout(sch.get_block("B"), lambda i: (i // 2, i % 2), pad_value=7)
    assert "B[v0, v1] = 7" in script(sch.func)


OPEN = """def f(A: f32[m, 6], C: f32[m, 6]):
    B = alloc(f32[m, 6])
    for i in serial(0, m):
        for j in serial(0, 6):
            with block("B"):
                v = axis.spatial(m, i)
                w = axis.spatial(6, j)
                B[v, w] = A[v, w]
    for i in serial(0, m):
        for j in serial(0, 6):
            with block("C"):
                v = axis.spatial(m, i)
                w = axis.spatial(6, j)
                C[v, w] = B[v, w]
"""


def test_a_dimension_that_is_not_constant_can_change_places_only() -> None:
    sch = Schedule(parse(OPEN), check="each")
    sch.transform_layout(sch.get_block("B"), split_second)
    (made,) = (each.buffer for each in walk(sch.func, on=Allocate))
    assert [script(dim) for dim in made.shape] == ["2", "m", "3"]
    for each in (halved, added, twice):
        with pytest.raises(ScheduleError, match="its shape is not constant"):
            sch.transform_layout(sch.get_block("B"), each)


def split_second(i: Expr, j: Expr) -> list[Expr]:
    return [j // 3, i, j % 3]


def halved(i: Expr, j: Expr, k: Expr) -> list[Expr]:
    return [j // 2, i, k, j % 2]


def added(i: Expr, j: Expr, k: Expr) -> list[Expr]:
    return [i, j + k, k]


def twice(i: Expr, j: Expr, k: Expr) -> list[Expr]:
    return [i, j, j, k]
