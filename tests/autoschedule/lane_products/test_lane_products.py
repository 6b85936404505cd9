"""Sums of products whose vectors are packed: tiles, copies, prefetches, any number of images."""

from math import prod
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from irkit.autoschedule import Machine, auto_schedule
from irkit.autoschedule.lane_products import LanePlan, lane_plan, lane_product_of
from irkit.autoschedule.structure import blocks_of
from irkit.core import walk
from irkit.graph import op_spec
from irkit.ir import Allocate, Load, PrimFunc, Store, verify
from irkit.phases import DEFAULT, build
from irkit.runtime import num_threads, set_num_threads
from irkit.schedule import Schedule
from irkit.te import create_prim_func, placeholder, var
from irkit.topi import add, nn
from tests.draws import few_or_all

TINY = Machine(vector_bytes=16, vector_registers=16, l1=1024, l2=4096)
"""Vectors of 4 lanes and small caches: tests have several tiles, blocks and panels."""


def conv(
    shape: tuple[Any, ...],
    filters: tuple[int, ...],
    residual: bool = False,
    **window: Any,
) -> PrimFunc:
    """A convolution in blocks with a bias and an activation, perhaps added to another tensor."""
    x, w = placeholder(shape, dtype="f32", name="x"), placeholder(filters, dtype="f32", name="w")
    b = placeholder((filters[0], filters[-1]), dtype="f32", name="b")
    made = nn.conv_blocked(x, w, b, **window)
    more = [placeholder(made.shape, dtype="f32", name="r")] if residual else []
    numbers = [extent for extent in shape if not isinstance(extent, int)]
    result = nn.relu(add(made, more[0]) if more else made)
    return create_prim_func([*numbers, x, w, b, *more, result], name="conv")


def expected(given: list[Any], window: dict[str, Any]) -> Any:
    """Compute in f64, by the operator of the graph."""
    wide = [each.astype(np.float64) for each in given]
    total = op_spec("conv_blocked").evaluate(wide[:3], window)
    return np.maximum(total + wide[3] if len(wide) > 3 else total, 0)


def assert_computes(
    func: PrimFunc,
    machine: Machine,
    shape: tuple[int, ...],
    filters: tuple[int, ...],
    window: dict[str, Any],
    residual: bool = False,
    sizes: tuple[int, ...] = (),
) -> None:
    """Check the scheduled function within the bound of sums in any order, on one thread and two."""
    scheduled = auto_schedule(func, machine)
    assert verify(scheduled) == []
    rng = np.random.default_rng(0)
    given = [rng.standard_normal(each).astype(np.float32) for each in (shape, filters)]
    given.append(rng.standard_normal((filters[0], filters[-1])).astype(np.float32))
    kind = op_spec("conv_blocked").evaluate(given, window)
    assert isinstance(kind, np.ndarray)
    if residual:
        given.append(rng.standard_normal(kind.shape).astype(np.float32))
    sure = expected(given, window)
    bound = expected([np.abs(each) for each in given], window)
    steps = prod(filters[1:-1]) + 2
    code, before = build(scheduled, schedule="none"), num_threads()
    found: list[Any] = []
    try:
        for threads in (1, 2):
            set_num_threads(threads)
            out = np.full(kind.shape, np.nan, np.float32)
            code(*sizes, *given, out)
            assert np.all(np.abs(out - sure) <= steps * 2.0**-23 * bound + 1e-30)
            found.append(out)
    finally:
        set_num_threads(before)
    assert found[0].tobytes() == found[1].tobytes()


@settings(max_examples=few_or_all(10, 100), deadline=None, derandomize=True)
@given(
    blocks=st.integers(1, 3),
    size=st.tuples(st.integers(3, 9), st.integers(3, 15)),
    filters=st.integers(1, 4),
    kernel=st.sampled_from([(1, 1), (3, 3), (1, 3), (2, 1)]),
    stride=st.integers(1, 2),
    pads=st.tuples(*[st.integers(0, 2)] * 4),
    dilation=st.sampled_from([1, 1, 2]),
    lanes=st.sampled_from([4, 8]),
    residual=st.booleans(),
    plain=st.booleans(),
    images=st.integers(1, 2),
)
def test_tiles_compute_the_operator(
    blocks: int,
    size: tuple[int, int],
    filters: int,
    kernel: tuple[int, int],
    stride: int,
    pads: tuple[int, int, int, int],
    dilation: int,
    lanes: int,
    residual: bool,
    plain: bool,
    images: int,
) -> None:
    reach = [(each - 1) * dilation + 1 for each in kernel]
    if any(n + a + b < r for n, a, b, r in zip(size, pads[:2], pads[2:], reach, strict=True)):
        return
    window = {"strides": (stride,) * 2, "pads": pads, "dilations": (dilation,) * 2}
    shape = (images, 3, *size) if plain else (images, blocks, *size, 4)
    packed = (filters, 1 if plain else blocks, *kernel, 3 if plain else 4, lanes)
    func = conv(shape, packed, residual, **window)
    assert_computes(func, TINY, shape, packed, window, residual)


@pytest.mark.parametrize("size", [(7, 7), (7, 5), (13, 13)])
def test_any_number_of_images_is_computed(size: tuple[int, int]) -> None:
    packed, window = (4, 2, 3, 3, 4, 4), {"pads": (1, 1, 1, 1)}
    func = conv((var("n"), 2, *size, 4), packed, **window)
    for images in (1, 3):
        assert_computes(func, TINY, (images, 2, *size, 4), packed, window, sizes=(images,))


def plan_of(func: PrimFunc, machine: Machine) -> LanePlan:
    products = [lane_product_of(block, machine) for block in blocks_of(Schedule(func))]
    (product,) = [each for each in products if each is not None]
    found = lane_plan(product, machine)
    assert found is not None
    return found


WIDE = Machine(l1=48 << 10, l2=2 << 20)
PLANS = [
    # Rows of 56 are four tiles; those of 7 are taken two at a time, the last alone.
    ((1, 4, 56, 56, 16), (4, 4, 3, 3, 16, 16), LanePlan(1, 14, 2)),
    ((1, 32, 7, 7, 16), (32, 32, 3, 3, 16, 16), LanePlan(2, 7, 2, apart=True, fetches=True)),
    # More than the second cache holds is read block by block, for all filters.
    ((1, 16, 56, 56, 16), (16, 16, 3, 3, 16, 16), LanePlan(1, 14, 2, blocks=4)),
    # An odd number of blocks of filters.
    ((1, 3, 27, 27, 16), (3, 3, 3, 3, 16, 16), LanePlan(1, 9, 3)),
]


@pytest.mark.parametrize(("shape", "filters", "plan"), PLANS)
def test_tiles_fill_registers_and_caches(
    shape: tuple[int, ...], filters: tuple[int, ...], plan: LanePlan
) -> None:
    found = plan_of(conv(shape, filters, pads=(1, 1, 1, 1)), WIDE)
    assert found.cycles > 0
    assert msgspec.structs.replace(found, cycles=0.0) == plan


@pytest.mark.parametrize("size", [7, 14, 13])
def test_no_step_has_a_mask_or_a_condition(size: int) -> None:
    func = conv((1, 8, size, size, 16), (8, 8, 3, 3, 16, 16), pads=(1, 1, 1, 1))
    lowered = DEFAULT.run(auto_schedule(func, WIDE))
    local = {each.buffer for each in walk(lowered, on=Allocate) if each.buffer.scope == "local"}
    sums = [each for each in walk(lowered, on=Store) if each.buffer in local]
    assert sums
    for store in sums:
        assert store.mask is None
        assert all(load.mask is None for load in walk(store.value, on=Load))


def test_late_layers_prefetch_their_filters_and_early_ones_do_not() -> None:
    late = conv((1, 32, 7, 7, 16), (32, 32, 3, 3, 16, 16), pads=(1, 1, 1, 1))
    early = conv((1, 4, 56, 56, 16), (4, 4, 3, 3, 16, 16), pads=(1, 1, 1, 1))
    assert "prefetch(w[" in auto_schedule(late, WIDE).script()
    assert "prefetch(w[" not in auto_schedule(early, WIDE).script()
