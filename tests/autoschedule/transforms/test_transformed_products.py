"""Products between transforms: sums stay in registers, tiles of a block of rows in the cache."""

from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import irkit
from irkit import te, topi
from irkit.autoschedule import Machine, auto_schedule, register_rows
from irkit.autoschedule.transforms import stages_of_transforms, transformed_product_of
from irkit.core import walk
from irkit.graph import blocked, packed_filters, unblocked, winograd_filters
from irkit.ir import (
    Allocate,
    Block,
    Evaluate,
    For,
    Load,
    Mul,
    PrimFunc,
    Select,
    Store,
    as_int,
    verify,
)
from irkit.phases import DEFAULT
from irkit.schedule import Schedule
from tests.autoschedule.test_auto_schedule import agree, conv_relu
from tests.autoschedule.test_tiles import SMALL, sums_of
from tests.draws import few_or_all
from tests.graph.ops.test_winograd import direct

CUTS = [(1, 1, 1), (2, 1, 2), (1, 3, 1), (2, 2, 1), (3, 1, 1)]


def winograd(
    size: tuple[int, int],
    blocks: int,
    cut: tuple[int, int, int],
    *,
    tile: int = 2,
    rows: int = 1,
    pads: tuple[int, ...] = (1, 1, 1, 1),
    lanes: int = 4,
    finish: str = "relu",
) -> PrimFunc:
    """Return the loops of a convolution with what is computed from its results."""
    chunks, panels, vectors = cut
    x = te.placeholder((1, blocks, *size, lanes), name="x")
    u = te.placeholder(
        (chunks, tile + 2, tile + 2, panels, blocks, lanes, vectors, lanes), name="u"
    )
    b = te.placeholder((chunks * panels * vectors, lanes), name="b")
    y = topi.nn.conv_winograd(x, u, b, tile=tile, rows=rows, pads=pads)
    made = {
        "none": lambda: y,
        "relu": lambda: topi.relu(y),
        "twice": lambda: topi.multiply(y, topi.add(topi.relu(y), y)),
        "turned": lambda: topi.transpose(y, (0, 2, 1, 3, 4)),
    }[finish]()
    return te.create_prim_func([x, u, b, made], name="winograd")


@settings(max_examples=few_or_all(6, 40), deadline=None, derandomize=True)
@given(
    size=st.tuples(st.integers(3, 9), st.integers(3, 9)),
    blocks=st.integers(1, 2),
    cut=st.sampled_from(CUTS),
    tile=st.sampled_from((2, 4)),
    rows=st.integers(1, 3),
    pads=st.tuples(*[st.integers(0, 2)] * 4),
    finish=st.sampled_from(("none", "relu", "twice", "turned")),
)
def test_scheduled_loops_compute_the_same(
    size: tuple[int, int],
    blocks: int,
    cut: tuple[int, int, int],
    tile: int,
    rows: int,
    pads: tuple[int, ...],
    finish: str,
) -> None:
    func = winograd(size, blocks, cut, tile=tile, rows=rows, pads=pads, finish=finish)
    scheduled = auto_schedule(func, SMALL)
    assert verify(scheduled) == []
    agree(func, scheduled, native=DEFAULT.run(scheduled))


@pytest.mark.parametrize("finish", ["none", "relu", "twice", "turned"])
def test_sums_stay_in_registers_and_no_step_has_a_mask(finish: str) -> None:
    sums = sums_of(auto_schedule(winograd((7, 7), 2, (2, 1, 2), rows=2, finish=finish), SMALL))
    assert sums
    assert all(store.mask is None for store in sums)


def test_what_is_between_transforms_is_as_large_as_a_block_of_rows() -> None:
    lowered = DEFAULT.run(auto_schedule(winograd((16, 16), 2, (2, 1, 2), rows=2), SMALL))
    sizes = {
        each.buffer.name.removesuffix("_flat"): as_int(each.buffer.shape[0])
        for each in walk(lowered, on=Allocate)
    }
    positions, count = 16, 2 * 8
    assert sizes["image_tiles"] == positions * count * 2 * 4
    assert sizes["winograd_products"] == positions * count * 2 * 4


def test_transforms_multiply_by_nothing() -> None:
    """Constants of F(2x2, 3x3) are 0 and 1: with positions unrolled, additions are left."""
    lowered = DEFAULT.run(auto_schedule(winograd((8, 8), 1, (1, 1, 1), finish="none"), SMALL))
    made = ("image_rows", "image_tiles", "result_columns", "conv_winograd")
    values = [s.value for s in walk(lowered, on=Store) if s.buffer.name.startswith(made)]
    assert len(values) >= 16 + 16 + 8 + 4
    for value in values:
        assert not any(isinstance(each, Select) for each in walk(value))
        assert not any(each.dtype.is_float for each in walk(value, on=Mul))


def test_a_single_block_of_rows_leaves_panels_for_the_threads() -> None:
    func = winograd((16, 16), 16, (8, 1, 2), rows=8)
    loops = list(walk(auto_schedule(func, SMALL), on=For))
    assert [as_int(loop.end) for loop in loops if loop.kind == "parallel"] == [8]


def test_other_reductions_are_not_taken_for_one() -> None:
    sch = Schedule(conv_relu(2, 8, 4, 3, 1, 1))
    blocks = list(walk(sch.func, on=Block))
    assert all(transformed_product_of(sch, block) is None for block in blocks)
    assert stages_of_transforms(sch) == frozenset()


@pytest.mark.parametrize(
    ("count", "vectors", "expected"), [(14, 2, 14), (28, 2, 14), (16, 2, 8), (49, 1, 25), (5, 2, 5)]
)
def test_rows_of_a_tile_fill_the_registers(count: int, vectors: int, expected: int) -> None:
    assert register_rows(count, vectors, Machine()) == expected


def outputs(func: PrimFunc, *arrays: Any) -> Any:
    kernel = irkit.build(func)
    out = np.zeros([as_int(dim) or 0 for dim in func.params[-1].shape], np.float32)
    kernel(*arrays, out)
    return out


@settings(max_examples=few_or_all(4, 30), deadline=None, derandomize=True)
@given(
    channels=st.integers(8, 40),
    filters=st.integers(1, 20),
    size=st.tuples(st.integers(5, 13), st.integers(5, 13)),
    pads=st.tuples(*[st.integers(0, 2)] * 4),
    seed=st.integers(0, 99),
)
def test_tiles_of_2x2_are_as_exact_as_the_direct_form(
    channels: int, filters: int, size: tuple[int, int], pads: tuple[int, ...], seed: int
) -> None:
    """The root of the mean square of errors against f64, of the same drawn numbers."""
    lanes, rng = 8, np.random.default_rng(seed)
    x = blocked(rng.standard_normal((1, channels, *size)).astype(np.float32), lanes)
    given_filters = rng.standard_normal((filters, channels, 3, 3)).astype(np.float32)
    w = packed_filters(given_filters, lanes, lanes)
    u = winograd_filters(w, 2, 1, 1)
    a, b, c = (te.placeholder(each.shape) for each in (x, w, u))
    plain = te.create_prim_func([a, b, topi.nn.conv_blocked(a, b, pads=pads)])
    tiled = te.create_prim_func([a, c, topi.nn.conv_winograd(a, c, tile=2, rows=2, pads=pads)])
    exact = unblocked(direct(x, w, pads), filters)
    errors = [
        float(np.sqrt(np.mean((unblocked(found, filters) - exact) ** 2)))
        for found in (outputs(plain, x, w), outputs(tiled, x, u))
    ]
    assert errors[1] <= 1.15 * errors[0] + 1e-9
    assert np.abs(outputs(tiled, x, u)).max() > 0


def test_threads_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    for rows in (2, 14):
        func = winograd((28, 28), 4, (2, 1, 2), rows=rows, lanes=16)
        arrays = [
            rng.standard_normal([as_int(dim) or 0 for dim in each.shape]).astype(np.float32)
            for each in func.params[:-1]
        ]
        found = []
        for threads in ("1", "2"):
            monkeypatch.setenv("IRKIT_NUM_THREADS", threads)
            found.append(outputs(func, *arrays))
        np.testing.assert_array_equal(found[0], found[1])


@pytest.mark.parametrize(("l2", "expected"), [(1 << 12, True), (1 << 20, False)])
def test_factors_that_leave_the_cache_are_prefetched_a_panel_ahead(l2: int, expected: bool) -> None:
    machine = msgspec.structs.replace(SMALL, l2=l2)
    scheduled = auto_schedule(winograd((7, 7), 2, (2, 2, 2)), machine)
    hints = [each.value for each in walk(scheduled, on=Evaluate)]
    assert bool(hints) is expected
    assert {load.buffer.name for hint in hints for load in walk(hint, on=Load)} <= {"u"}
