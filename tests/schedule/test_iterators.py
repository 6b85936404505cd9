"""The axes of a block are reordered and made anew, and a sum starts at what is added to it."""

from collections.abc import Callable
from typing import Any

import pytest

from irkit import te
from irkit.core import ScheduleError, walk
from irkit.ir import Block, PrimFunc, parse
from irkit.schedule import Schedule, ScheduleTrace
from tests.schedule.kernels import loop_extents, matmul, matmul_relu


def test_axes_are_listed_in_another_order() -> None:
    sch = Schedule(matmul(3, 4, 5), check="each")
    sch.reorder_block_iter_var(sch.get_block("C"), [2, 0, 1])
    (block,) = walk(sch.func, on=Block)
    assert [axis.var.name for axis in block.axes] == ["vr", "vi", "vj"]


@pytest.mark.parametrize("order", [[0, 1], [0, 1, 1], [0, 1, 3], [-1, 0, 1]])
def test_what_is_no_permutation_is_refused(order: list[int]) -> None:
    sch = Schedule(matmul(3, 4, 5))
    with pytest.raises(ScheduleError, match="no permutation"):
        sch.reorder_block_iter_var(sch.get_block("C"), order)


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
def test_a_block_goes_over_its_points_by_other_axes(
    index_map: Callable[..., Any], expected: list[str]
) -> None:
    sch = Schedule(matmul(4, 6, 8), check="each")
    sch.transform_block_layout(sch.get_block("C"), index_map)
    assert loop_extents(sch, "C") == expected
    again = Schedule(matmul(4, 6, 8))
    ScheduleTrace.from_json(sch.trace.as_json()).apply(again)
    assert again.mod.script() == sch.mod.script()


@pytest.mark.parametrize(
    ("index_map", "reason"),
    [
        (lambda i, j, r: (i, j), "can be told"),
        (lambda i, j, r: (i, j, r // 3), "can be told"),
        (lambda i, j, r: (i, j + r), "mixes reduced axes"),
        (lambda i, j, r: (i, j, r + 1), "does not begin at 0"),
        (lambda i, j, r: (i * 7 + j, r), "can be told"),
        (lambda i, j, r: (i // 3, i % 3, j, r), "points, the old ones"),
        (lambda i, j, r: (i * 5 + j, r), "can be told"),
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
    with pytest.raises(ScheduleError, match="loops of constant extents of its own"):
        sch.transform_block_layout(sch.get_block("C"), lambda i, j, r: (j, i, r))


def biased(last: Callable[..., Any] | None = None) -> PrimFunc:
    a, b = te.placeholder((4, 3), name="A"), te.placeholder((3, 5), name="B")
    bias = te.placeholder((5,), name="bias")
    r = te.reduce_axis((0, 3), name="r")
    c = te.compute((4, 5), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r), name="C")
    fcompute = last or (lambda c, bias, i, j: c[i, j] + bias[j])
    d = te.compute((4, 5), lambda i, j: fcompute(c, bias, i, j), name="D")
    return te.create_prim_func([a, b, bias, d])


def test_a_sum_starts_at_its_bias() -> None:
    sch = Schedule(biased(), check="each")
    i, *_ = sch.get_loops(sch.get_block("C"))
    sch.split(i, [None, 3])
    sch.fuse_reduction_epilogue(sch.get_block("C"), sch.get_block("D"))
    assert [block.name for block in walk(sch.func, on=Block)] == ["C"]
    again = Schedule(biased())
    sch.trace.apply(again)
    assert again.mod.script() == sch.mod.script()


@pytest.mark.parametrize(
    ("last", "reason"),
    [
        (lambda c, bias, i, j: te.maximum(c[i, j], 0.0), "does not add"),
        (lambda c, bias, i, j: te.minimum(te.maximum(c[i, j], 0.0), 6.0), "does not add"),
        (lambda c, bias, i, j: c[i, j] * bias[j], "does not add"),
        (lambda c, bias, i, j: c[i, j] + c[0, 0], "does not add"),
        (lambda c, bias, i, j: c[3 - i, j] + bias[j], "one for one"),
    ],
)
def test_what_is_no_addition_is_no_start(last: Callable[..., Any], reason: str) -> None:
    sch = Schedule(biased(last))
    with pytest.raises(ScheduleError, match=reason):
        sch.fuse_reduction_epilogue(sch.get_block("C"), sch.get_block("D"))


def test_relu_is_no_start() -> None:
    sch = Schedule(matmul_relu(4, 4, 4))
    with pytest.raises(ScheduleError, match="does not add"):
        sch.fuse_reduction_epilogue(sch.get_block("C"), sch.get_block("D"))
    with pytest.raises(ScheduleError, match="no sum"):
        sch.fuse_reduction_epilogue(sch.get_block("D"), sch.get_block("C"))
