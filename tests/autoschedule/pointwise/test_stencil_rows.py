"""Rows of a stencil that share values are computed together, and nothing else is."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from irkit import te
from irkit.autoschedule import Machine, auto_schedule, row_works, stencil_rows
from irkit.core import Target, walk
from irkit.ir import Block, Expr, For, PrimFunc, interpret, verify
from irkit.phases import DEFAULT
from irkit.runtime import compile_functions
from tests.draws import few_or_all
from tests.tune.programs import blur

WIDE = Machine(vector_bytes=64, vector_registers=32)
FEW = Machine(vector_bytes=16, vector_registers=4)
Offsets = list[tuple[int, int]]


def stencil(height: int, width: int, offsets: Offsets, dtype: str = "f32") -> PrimFunc:
    """Sum neighbours of each element that is far enough from the border."""
    x = te.placeholder((height + 2, width + 2), dtype=dtype, name="x")
    y = te.compute(
        (height, width),
        lambda i, j: sum(
            (x[i + a, j + b] for a, b in offsets[1:]), start=x[i + offsets[0][0], j + offsets[0][1]]
        ),
        name="y",
    )
    return te.create_prim_func([x, y])


def block_of(func: PrimFunc) -> Block:
    return next(iter(walk(func.body, on=Block)))


def test_what_two_rows_need_is_counted_once() -> None:
    column: Offsets = [(0, 0), (1, 0), (2, 0)]
    works = row_works(block_of(stencil(64, 64, column)))
    assert [(each.rows, each.operations, each.loads) for each in works] == [
        (rows, 2 * rows, rows + 2) for rows in (1, 2, 3, 4, 6, 8)
    ]
    assert [each.kept for each in works] == [0, 2, 2, 2, 2, 2]


def test_sums_of_a_row_are_shared_too() -> None:
    x = te.placeholder((66, 66), name="x")

    def across(i: Expr, j: Expr) -> Expr:
        return x[i, j] + x[i, j + 1] + x[i, j + 2]

    y = te.compute((64, 64), lambda i, j: across(i, j) + across(i + 1, j) + across(i + 2, j))
    works = row_works(block_of(te.create_prim_func([x, y])))
    assert [(each.operations, each.loads) for each in works[:2]] == [(8, 9), (12, 12)]
    assert works[1].kept == 2


@pytest.mark.parametrize(
    "offsets", [[(0, 0)], [(0, 0), (0, 1), (0, 2)], [(1, 1), (1, 1)]], ids=["one", "row", "same"]
)
def test_a_stage_whose_rows_share_nothing_has_one_row(offsets: Offsets) -> None:
    assert row_works(block_of(stencil(64, 64, offsets))) == []
    assert stencil_rows(block_of(stencil(64, 64, offsets)), WIDE) == 1


def test_rows_are_as_many_as_pay_and_as_registers_hold() -> None:
    everything: Offsets = [(a, b) for a in range(3) for b in range(3)]
    block = block_of(stencil(64, 64, everything))
    assert stencil_rows(block, WIDE) > 1
    assert stencil_rows(block, FEW) == 1
    assert stencil_rows(block_of(stencil(1, 64, everything)), WIDE) == 1


def test_a_blur_is_scheduled_by_rows() -> None:
    scheduled = auto_schedule(blur(61), WIDE)
    kinds = [(loop.kind, str(loop.var.name)) for loop in walk(scheduled.body, on=For)]
    assert [kind for kind, _ in kinds] == ["serial", "serial", "unrolled", "vectorized"]


@settings(max_examples=few_or_all(12, 200), deadline=None, derandomize=True)
@given(
    height=st.integers(1, 21),
    width=st.integers(1, 40),
    offsets=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=2, max_size=9),
    dtype=st.sampled_from(["i32", "f32", "i8"]),
    machine=st.sampled_from([WIDE, Machine(vector_bytes=16, vector_registers=16)]),
)
def test_any_stencil_of_whole_numbers_is_exact(
    height: int, width: int, offsets: Offsets, dtype: str, machine: Machine
) -> None:
    scheduled = auto_schedule(stencil(height, width, offsets, dtype), machine)
    assert verify(scheduled) == []
    kind = {"i32": np.int32, "f32": np.float32, "i8": np.int8}[dtype]
    x = np.random.default_rng(0).integers(-9, 10, (height + 2, width + 2)).astype(kind)
    wanted = sum((x[a : a + height, b : b + width] for a, b in offsets), start=kind(0))
    runs: list[Callable[..., object]] = [
        lambda *args: interpret(scheduled, *args),
        compile_functions({"main": DEFAULT.run(scheduled)}, Target(opt_level=1))["main"],
    ]
    for run in runs:
        found = np.full((height, width), 99, kind)
        run(x, found)
        np.testing.assert_array_equal(found, wanted)
