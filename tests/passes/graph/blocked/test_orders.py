"""Convolutions in groups, shuffles and windows over channels in blocks, in orders with holes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from irkit.core import Recorder, recording
from irkit.debug.check.graphs.packed_constants import packed_problems
from irkit.fuzz.picks import Picks
from irkit.graph import Builder, GraphFunc, Op, Value, extents_of, interpret, verify
from irkit.passes.graph import block_channels, eliminate_dead_nodes
from irkit.passes.graph.support.blocked import ChannelOrder, in_order, regions
from tests.draws import few_or_all
from tests.passes.graph.conv_graphs import conv_graph


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make blocks and conversions cost nothing, so that all that can be blocked is."""
    monkeypatch.setattr(regions, "_BLOCKED", 1e9)
    monkeypatch.setattr(regions, "_BLOCKED_DEPTHWISE", 1e9)
    monkeypatch.setattr(regions, "_MOVED", 0.0)


ONE = np.ones((5, 1, 1), np.float32)
"""Added to channels, and to nothing else: what is beyond them stays 0."""


def names_of(func: GraphFunc) -> list[str]:
    return [bind.step.name for bind in func.body.bindings if isinstance(bind.step, Op)]


def results(func: GraphFunc, *inputs: Any) -> list[Any]:
    found = interpret(func, list(inputs))
    return list(found) if isinstance(found, tuple) else [found]


def assert_same(before: GraphFunc, after: GraphFunc, seed: int = 0) -> None:
    """Compare results on random numbers, and packed constants with their source."""
    rng = np.random.default_rng(seed)
    shapes = [[extent or 2 for extent in extents_of(each)] for each in before.params]
    inputs = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    assert packed_problems(before, after) == []
    for wanted, found in zip(results(before, *inputs), results(after, *inputs), strict=True):
        assert wanted.shape == found.shape
        bound = 1e-4 * max(1.0, float(np.abs(wanted).max(initial=0.0)))
        assert np.allclose(wanted, found, rtol=1e-4, atol=bound)


@pytest.mark.usefixtures("always")
@settings(max_examples=few_or_all(60, 2000), deadline=None, derandomize=True, database=None)
@given(data=st.data())
def test_drawn_networks_that_are_blocked_throughout_compute_the_same(data: st.DataObject) -> None:
    func = conv_graph(Picks(lambda n: data.draw(st.integers(0, n - 1))))
    assert_same(func, block_channels.using(lanes=4)(func))


def conv(b: Builder, x: Value, filters: int, groups: int = 1, kernel: int = 1) -> Value:
    rng, channels = np.random.default_rng(filters), extents_of(x)[1]
    assert channels is not None
    w = rng.standard_normal((filters, channels // groups, kernel, kernel)).astype(np.float32)
    bias = b.constant(rng.standard_normal(filters).astype(np.float32))
    pads = (kernel // 2,) * 4
    return b.op("conv", x, b.constant(w), bias, groups=groups, pads=pads)


def shuffle(b: Builder, x: Value, groups: int) -> Value:
    n, channels, *sizes = (each or 1 for each in extents_of(x))
    apart = b.op("reshape", x, shape=(n, groups, channels // groups, *sizes))
    turned = b.op("transpose", apart, axes=(0, 2, 1, *range(3, len(sizes) + 3)))
    return b.op("reshape", turned, shape=(n, channels, *sizes))


def unit(groups: int, channels: int, size: int = 5) -> GraphFunc:
    """A unit of ShuffleNet: convolutions in groups, a shuffle, one of each channel, a residual."""
    b = Builder("main")
    x = conv(b, b.param("x", (1, 6, size, size)), channels)
    made = shuffle(b, b.op("relu", conv(b, x, channels, groups)), groups)
    made = conv(b, conv(b, made, channels, channels, 3), channels, groups)
    return b.finish(b.op("relu", b.op("add", made, x)))


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize(("groups", "channels"), [(4, 24), (3, 15), (2, 10), (5, 5), (4, 136)])
def test_a_shuffle_between_convolutions_is_an_order(groups: int, channels: int) -> None:
    func = unit(groups, channels)
    with recording(Recorder()) as recorder:
        after = eliminate_dead_nodes(block_channels.using(lanes=8)(func))
    assert any("another order of channels: nothing" in each.text for each in recorder.remarks)
    assert not {"reshape", "transpose", "take"} & set(names_of(after)[:-1])
    assert_same(func, after)


def picked(b: Builder, x: Value, which: Sequence[int]) -> Value:
    return b.op("take", x, b.constant(np.array(which, np.int64)), axis=1)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("lanes", [4, 16])
@settings(max_examples=few_or_all(100, 3000), deadline=None, derandomize=True, database=None)
@given(data=st.data())
def test_some_channels_in_any_order_are_read_by_anything(lanes: int, data: st.DataObject) -> None:
    b = Builder("main")
    x = conv(b, b.param("x", (1, 3, 4, 4)), data.draw(st.sampled_from([5, 16, 24, 48])), 1, 3)
    steps = st.sampled_from(
        ["take", "part", "sigmoid", "twice", "shuffle", "conv", "depthwise", "lrn"]
    )
    for step in data.draw(st.lists(steps, min_size=1, max_size=5)):
        count = extents_of(x)[1] or 1
        if step == "take":
            order = data.draw(st.permutations(range(count)))
            x = picked(b, x, order[: data.draw(st.integers(1, count))])
        elif step == "part":
            first = data.draw(st.integers(0, count - 1))
            x = picked(b, x, range(first, data.draw(st.integers(first + 1, count))))
        elif step == "twice":
            x = b.op("concat", x, b.op("relu", x), axis=1)
        elif step == "shuffle":
            x = shuffle(b, x, 2) if count % 2 == 0 else x
        elif step == "lrn":
            x = b.op("lrn", x, size=3, alpha=0.01, beta=0.75, bias=1.0)
        elif step == "sigmoid":
            x = b.op("sigmoid", x)
        else:
            x = conv(b, x, *((count, count, 3) if step == "depthwise" else (10, 1, 1)))
    func = b.finish(x)
    after = block_channels.using(lanes=lanes)(func)
    assert verify(after) == []
    assert_same(func, after)


@pytest.mark.usefixtures("always")
def test_a_gate_is_brought_to_the_order_of_what_it_scales() -> None:
    b = Builder("main")
    x = conv(b, b.param("x", (1, 40, 6, 6)), 40, 2)
    gate = b.op("sigmoid", conv(b, b.op("mean", x, axes=(2, 3), keepdims=True), 40))
    func = b.finish(conv(b, b.op("multiply", x, gate), 16))
    after = eliminate_dead_nodes(block_channels.using(lanes=8)(func))
    copied = [
        extents_of(bind.var)
        for bind in after.body.bindings
        if isinstance(bind.step, Op) and bind.step.name == "gather_channels"
    ]
    assert copied == [(1, 6, 1, 1, 8)]
    assert_same(func, after)


@pytest.mark.usefixtures("always")
def test_halves_of_channels_are_read_where_they_are() -> None:
    """A unit of ShuffleNet v2: one half passes by the other; 2 x 58 channels fill no blocks."""
    b = Builder("main")
    x = conv(b, b.param("x", (1, 4, 4, 4)), 116)
    for _ in range(2):
        left, right = (
            b.op("slice", x, begins=(first,), ends=(first + 58,), axes=(1,)) for first in (0, 58)
        )
        x = shuffle(b, b.op("concat", left, b.op("relu", conv(b, right, 58)), axis=1), 2)
    func = b.finish(conv(b, x, 16))
    after = eliminate_dead_nodes(block_channels.using(lanes=16)(func))
    assert not {"reshape", "transpose", "take"} & set(names_of(after))
    assert names_of(after).count("unblock_channels") == 1
    assert_same(func, after)


@pytest.mark.usefixtures("always")
def test_a_shuffle_that_something_else_reads_half_done_stays() -> None:
    b = Builder("main")
    x = conv(b, b.param("x", (1, 4, 4, 4)), 8)
    apart = b.op("reshape", x, shape=(1, 2, 4, 4, 4))
    turned = b.op("transpose", apart, axes=(0, 2, 1, 3, 4))
    made = conv(b, b.op("reshape", turned, shape=(1, 8, 4, 4)), 8)
    func = b.finish(made, b.op("relu", turned))
    after = block_channels.using(lanes=4)(func)
    assert "transpose" in names_of(after)
    assert_same(func, after)


@pytest.mark.usefixtures("always")
@settings(max_examples=few_or_all(25, 400), deadline=None, derandomize=True, database=None)
@given(
    channels=st.integers(1, 21),
    size=st.integers(1, 25),
    beta=st.sampled_from([0.75, 0.5, 1.0, 0.6, 2.0]),
    bias=st.sampled_from([1.0, 2.0, 0.5]),
    lanes=st.sampled_from([4, 3, 1, 16]),
)
def test_windows_over_channels_cross_blocks(
    channels: int, size: int, beta: float, bias: float, lanes: int
) -> None:
    b = Builder("main")
    x = conv(b, b.param("x", (2, 3, 3, 2)), channels)
    made = b.op("lrn", x, size=size, alpha=0.7, beta=beta, bias=bias)
    func = b.finish(conv(b, made, 4))
    after = eliminate_dead_nodes(block_channels.using(lanes=lanes)(func))
    assert "lrn_blocked" in names_of(after)
    assert_same(func, after)


@pytest.mark.usefixtures("always")
def test_no_zero_is_divided_by_a_zero_where_no_channel_is() -> None:
    """Without a bias, a window of zeros gives 0 / 0, which no convolution may multiply by 0."""
    b = Builder("main")
    x = b.op("relu", conv(b, b.param("x", (1, 3, 2, 2)), 5))
    made = b.op("lrn", b.op("add", x, b.constant(np.float32([1.0]))), size=1, bias=0.0)
    func = b.finish(conv(b, made, 4, kernel=3))
    after = block_channels.using(lanes=4)(func)
    with np.errstate(all="ignore"):
        assert_same(func, after)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("both", [False, True])
def test_infinities_where_no_channel_is_meet_no_filter(both: bool) -> None:
    """A convolution would multiply them by zeros."""
    b = Builder("main")
    x = b.op("add", b.op("relu", conv(b, b.param("x", (1, 3, 3, 3)), 5)), b.constant(ONE))
    made = b.op("reciprocal", x)
    made = b.op("multiply", b.op("negative", x), made) if both else made
    func = b.finish(conv(b, made, 4, kernel=3))
    with np.errstate(all="ignore"):
        assert_same(func, block_channels.using(lanes=4)(func))


@pytest.mark.usefixtures("always")
def test_a_border_of_infinities_is_none_of_zeros() -> None:
    b = Builder("main")
    x = b.op("relu", conv(b, b.param("x", (1, 3, 3, 3)), 5))
    wide = b.op("pad", x, pads=(0, 0, 1, 0, 0, 0, 0, 0), value=float("inf"))
    func = b.finish(b.op("conv", wide, b.constant(np.ones((4, 5, 3, 3), np.float32))))
    after = block_channels.using(lanes=4)(func)
    with np.errstate(all="ignore"):
        (found,) = results(after, np.ones((1, 3, 3, 3), np.float32))
    assert np.all(found[:, :, 0] == np.inf)
    assert np.all(np.isfinite(found[:, :, 1:]))


def test_convolutions_in_groups_are_chosen_by_cost_and_say_so() -> None:
    with recording(Recorder()) as recorder:
        after = block_channels.using(lanes=16)(unit(4, 136, 28))
    assert "conv" not in names_of(after)
    assert sum("in blocks of 16 channels" in each.text for each in recorder.remarks) == 4


def test_orders() -> None:
    order = in_order(5, 4, 3)
    assert order.channels == (0, 1, 2, -1, 3, 4, -1, -1)
    assert order.positions() == [0, 1, 2, 4, 5]
    assert order.picked([4, 0]).channels == (1, -2, -2, -1, -2, 0, -1, -1)
    assert order.part(1, 2) == ChannelOrder((3, 4, -1, -1), 4)
    assert np.array_equal(order.arranged(np.arange(1, 6)), [1, 2, 3, 0, 4, 5, 0, 0])
