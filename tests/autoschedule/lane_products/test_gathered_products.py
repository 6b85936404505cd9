"""Tiles of convolutions that read their channels by a table, in groups of filters."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from irkit.autoschedule import Machine, auto_schedule
from irkit.autoschedule.lane_products import LanePlan, lane_plan, lane_product_of
from irkit.autoschedule.structure import blocks_of
from irkit.core import walk
from irkit.graph import op_spec
from irkit.ir import Allocate, PrimFunc, Store, verify
from irkit.phases import DEFAULT, build
from irkit.schedule import Schedule
from irkit.te import create_prim_func, placeholder
from irkit.topi import nn
from tests.draws import few_or_all

TINY = Machine(vector_bytes=16, vector_registers=16, l1=1024, l2=4096)
WIDE = Machine(l1=48 << 10, l2=2 << 20)


def conv(
    shape: tuple[int, ...],
    table: tuple[int, int],
    filters: tuple[int, ...],
    pads: tuple[int, ...] = (0, 0, 0, 0),
) -> PrimFunc:
    """A convolution by a table, with a bias and an activation."""
    x, t = placeholder(shape, name="x"), placeholder(table, "i32", name="t")
    w, b = placeholder(filters, name="w"), placeholder((filters[0], filters[-1]), name="b")
    made = nn.relu(nn.conv_gathered(x, t, w, b, pads=pads))
    return create_prim_func([x, t, w, b, made], name="conv")


@settings(max_examples=few_or_all(6, 60), deadline=None, derandomize=True, database=None)
@given(
    groups=st.integers(1, 3),
    blocks=st.integers(1, 3),
    channels=st.integers(4, 9),
    size=st.tuples(st.integers(3, 9), st.integers(3, 15)),
    kernel=st.sampled_from([(1, 1), (3, 2)]),
    pads=st.tuples(*[st.integers(0, 1)] * 4),
)
def test_tiles_compute_the_operator(
    groups: int,
    blocks: int,
    channels: int,
    size: tuple[int, int],
    kernel: tuple[int, int],
    pads: tuple[int, int, int, int],
) -> None:
    rng = np.random.default_rng(0)
    shape, filters = (1, 3, *size, 4), (groups * blocks, *kernel, channels, 4)
    scheduled = auto_schedule(conv(shape, (groups, channels), filters, pads), TINY)
    assert verify(scheduled) == []
    given = [
        rng.standard_normal(shape).astype(np.float32),
        rng.integers(-1, 14, (groups, channels)).astype(np.int32),
        rng.standard_normal(filters).astype(np.float32),
        rng.standard_normal((filters[0], 4)).astype(np.float32),
    ]
    wide = [each if each.dtype == np.int32 else each.astype(np.float64) for each in given]
    right = op_spec("conv_gathered").evaluate(wide, {"pads": pads})
    assert isinstance(right, np.ndarray)
    out = np.full(right.shape, np.nan, np.float32)
    build(scheduled, schedule="none")(*given, out)
    assert np.allclose(out, np.maximum(right, 0), rtol=1e-4, atol=1e-4)


PLANS = [
    # Three blocks of filters of a group share what they load; so do five.
    ((1, 12, 28, 28, 16), (4, 34), (12, 1, 1, 34, 16), LanePlan(1, 9, 3)),
    ((1, 20, 14, 14, 16), (4, 68), (20, 1, 1, 68, 16), LanePlan(1, 5, 5)),
    # One block for a group: nothing to share.
    ((1, 16, 28, 28, 16), (16, 16), (16, 3, 3, 16, 16), LanePlan(1, 28, 1)),
]


@pytest.mark.parametrize(("shape", "table", "filters", "plan"), PLANS)
def test_filters_of_a_group_share_vectors_of_a_tile(
    shape: tuple[int, ...], table: tuple[int, int], filters: tuple[int, ...], plan: LanePlan
) -> None:
    pads = (filters[1] // 2,) * 4
    func = conv(shape, table, filters, pads)
    lowered = DEFAULT.run(auto_schedule(func, WIDE))
    local = {each.buffer for each in walk(lowered, on=Allocate) if each.buffer.scope == "local"}
    steps = [each for each in walk(lowered, on=Store) if each.buffer in local]
    assert len(steps) == 2 * plan.wide * plan.columns  # Zeros, and sums.
    assert all(store.mask is None for store in steps)


def test_a_table_among_the_indices_is_no_operand() -> None:
    x, t = placeholder((1, 4, 5, 5, 4), name="x"), placeholder((1, 4), "i32", name="t")
    w = placeholder((2, 1, 1, 4, 4), name="w")
    func = create_prim_func([x, t, w, nn.conv_gathered(x, t, w)], name="conv")
    found = [lane_product_of(each, TINY) for each in blocks_of(Schedule(func))]
    (product,) = [each for each in found if each is not None]
    assert product.tall.buffer.name == "x"
    assert product.read(product.tall, product.rows) == 4 * 4 * 5 * 5 * 4
    assert lane_plan(product, TINY) is not None
