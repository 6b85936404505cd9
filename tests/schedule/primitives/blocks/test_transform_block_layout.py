"""transform_block_layout: the axes of a block are replaced by an index map."""

from collections.abc import Callable
from typing import Any

import pytest

from irkit import te
from irkit.core import ScheduleError
from irkit.ir import parse
from irkit.schedule import Schedule, ScheduleTrace
from tests.schedule.kernels import loop_extents, matmul


@pytest.mark.parametrize(
    ("index_map", "expected"),
    [
        (lambda i, j, r: (j, i, r), ["6", "4", "8"]),
        (lambda i, j, r: (i * 6 + j, r), ["24", "8"]),
        (
            lambda i, j, r: (i // 2, j // 3, i % 2, j % 3, r // 4, r % 4),
            ["2", "2", "2", "3", "2", "4"],
        ),
        (lambda i, j, r: (r % 4, r // 4, j * 4 + i), ["4", "2", "24"]),
    ],
)
def test_a_block_runs_its_points_by_the_new_axes(
    index_map: Callable[..., Any], expected: list[str]
) -> None:
    sch = Schedule(matmul(4, 6, 8), check="each")
    sch.transform_block_layout(sch.get_block("C"), index_map)
    assert loop_extents(sch, "C") == expected
    again = Schedule(matmul(4, 6, 8))
    ScheduleTrace.from_json(sch.trace.as_json()).apply(again)
    assert again.mod.script() == sch.mod.script()


@pytest.mark.parametrize(
    ("shape", "index_map", "expected"),
    [
        ((1, 6, 8), lambda i, j, r: (i * 6 + j, r), ["6", "8"]),
        ((6, 1, 8), lambda i, j, r: (j * 6 + i, r), ["6", "8"]),
        ((6, 1, 8), lambda i, j, r: (i, r), ["6", "8"]),
        ((6, 4, 1), lambda i, j, r: (i, j), ["6", "4"]),
    ],
)
def test_an_axis_of_one_point_needs_no_place_in_the_map(
    shape: tuple[int, int, int], index_map: Callable[..., Any], expected: list[str]
) -> None:
    sch = Schedule(matmul(*shape), check="each")
    sch.transform_block_layout(sch.get_block("C"), index_map)
    assert loop_extents(sch, "C") == expected


@pytest.mark.parametrize(
    ("index_map", "reason"),
    [
        (lambda i, j, r: (i, j), "cannot express axis"),
        (lambda i, j, r: (i, j, r // 3), "cannot express axis"),
        (lambda i, j, r: (i, j + r), "mixes reduce axes"),
        (lambda i, j, r: (i, j, r + 1), "does not begin at 0"),
        (lambda i, j, r: (i * 7 + j, r), "cannot express axis"),
        (lambda i, j, r: (i // 3, i % 3, j, r), "points, but the old ones"),
        (lambda i, j, r: (i * 5 + j, r), "cannot express axis"),
    ],
)
def test_a_map_that_is_not_one_to_one_is_refused(
    index_map: Callable[..., Any], reason: str
) -> None:
    sch = Schedule(matmul(4, 6, 8))
    with pytest.raises(ScheduleError, match=reason):
        sch.transform_block_layout(sch.get_block("C"), index_map)


def test_points_whose_order_matters_stay_in_it() -> None:
    text = """def f(A: f32[9]):
    for i in serial(0, 8):
        with block("B"):
            v = axis.spatial(8, i)
            A[v + 1] = A[v] + f32(1.0)
"""
    sch = Schedule(parse(text))
    with pytest.raises(ScheduleError, match="same element"):
        sch.transform_block_layout(sch.get_block("B"), lambda i: (i % 4, i // 4))


def test_a_block_under_split_loops_is_refused() -> None:
    sch = Schedule(matmul(4, 6, 8))
    i, *_ = sch.get_loops(sch.get_block("C"))
    sch.split(i, [2, 2])
    with pytest.raises(ScheduleError, match="its own serial loops of constant extents"):
        sch.transform_block_layout(sch.get_block("C"), lambda i, j, r: (j, i, r))


def test_quotients_of_an_axis_that_becomes_two_are_simplified() -> None:
    a = te.placeholder((3, 5), name="A")
    b = te.compute((12, 5), lambda i, j: a[i // 4, j] + 1.0, name="B")
    sch = Schedule(te.create_prim_func([a, b]), check="each")
    sch.transform_block_layout(sch.get_block("B"), lambda i, j: (i // 4, i % 4, j))
    assert "B[v0 * 4 + v1, v2] = A[v0, v2] + f32(1.0)" in sch.mod.script()
