"""Regions in blocks of channels compute the same, keep zeros beyond the channels, and pay."""

from typing import Any

import numpy as np
import pytest

from irkit.core import Recorder, recording
from irkit.fuzz import check_pass
from irkit.graph import Bind, Body, Builder, GraphFunc, Op, Value, bindings_of
from irkit.passes.graph import block_channels, eliminate_dead_nodes
from irkit.phases import GRAPH
from tests.draws import few_or_all
from tests.passes.graph.conv_graphs import conv_graph


def names_of(func: Any) -> list[str]:
    return [bind.step.name for bind in func.body.bindings if isinstance(bind.step, Op)]


@check_pass(block_channels.using(lanes=4), strategy=conv_graph, examples=few_or_all(12, 200))
def test_drawn_networks_keep_their_results(case: Any) -> None: ...


def network(channels: int, between: str) -> GraphFunc:
    """Two convolutions of 3x3 with an operator between them."""
    rng, b = np.random.default_rng(0), Builder("main")
    x = b.param("x", (1, 16, 14, 14))
    w = b.constant(rng.standard_normal((channels, 16, 3, 3)).astype(np.float32))
    v = b.constant(rng.standard_normal((32, channels, 3, 3)).astype(np.float32))
    middle = b.op(between, b.op("conv", x, w, pads=(1, 1, 1, 1)))
    return b.finish(b.op("conv", middle, v, pads=(1, 1, 1, 1)))


@pytest.mark.parametrize(("channels", "between"), [(32, "relu"), (24, "relu"), (32, "exp")])
def test_nothing_is_converted_between_convolutions(channels: int, between: str) -> None:
    after = eliminate_dead_nodes(block_channels.using(lanes=16)(network(channels, between)))
    assert names_of(after) == ["conv_blocked", between, "conv_blocked", "unblock_channels"]


def test_what_makes_something_of_zeros_leaves_holes_that_no_convolution_reads() -> None:
    after = eliminate_dead_nodes(block_channels.using(lanes=16)(network(24, "exp")))
    assert names_of(after) == ["conv_blocked", "exp", "conv_gathered", "unblock_channels"]


def test_a_convolution_that_converting_costs_more_stays_and_says_so() -> None:
    b = Builder("main")
    x = b.param("x", (1, 24, 8, 8))
    w = b.constant(np.ones((8, 24, 1, 1), np.float32))
    func = b.finish(b.op("conv", x, w))
    with recording(Recorder()) as recorder:
        assert block_channels.using(lanes=16)(func) is func
    assert any("stays in the plain layout" in each.text for each in recorder.remarks)


def test_what_is_dead_is_neither_packed_nor_a_reader_in_the_plain_layout() -> None:
    func = network(32, "relu")
    (first, *_) = [bind for bind in func.body.bindings if isinstance(bind.step, Op)]
    dead = [
        Bind(Value(name, first.var.type), Op(operator, args, attrs))
        for name, operator, args, attrs in (
            ("d", "conv", first.step.args, first.step.attrs),
            ("e", "exp", (first.var,), ()),
        )
    ]
    longer = func.replace(body=Body((*func.body.bindings, *dead), func.body.result))
    found, wanted = (block_channels.using(lanes=16)(each) for each in (longer, func))
    assert names_of(found) == names_of(wanted)


def test_the_plain_pipeline_changes_nothing() -> None:
    func = network(32, "relu")
    assert "conv_blocked" not in names_of(GRAPH.stop_after(0).run(func))


def test_packed_filters_come_from_the_convolution() -> None:
    func = network(32, "relu")
    after = block_channels.using(lanes=16)(func)
    spans = {bind.span for bind in bindings_of(func).values() if isinstance(bind.step, Op)}
    made = [
        bind
        for name, bind in ((v.name, b) for v, b in bindings_of(after).items())
        if "packed" in name
    ]
    assert made
    assert all(bind.span in spans for bind in made)
