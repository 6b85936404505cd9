"""Invariants hold for models too."""

import pytest

from irkit.fuzz.generators import Kind, Sample
from irkit.fuzz.generators.draw_sample import draw_sample
from irkit.fuzz.judge import judge
from irkit.fuzz.picks import picks_of
from irkit.graph import Body, GraphFunc, parse as parse_graph
from irkit.phases import GRAPH
from irkit.transform import define_pass
from tests.fuzz.judge.samples import GRAPH_TEXT


@pytest.mark.parametrize("name", ["print and parse", "passes keep contracts", "lowers alike"])
@pytest.mark.parametrize("kind", ["graphs", "onnx"])
def test_invariants_hold_for_models_too(kind: Kind, name: str) -> None:
    sample = draw_sample(kind, picks_of(1))
    found = judge(sample, invariants=[name], native=False)
    assert found.ok, found.message
    assert found.checks == (name,)


@define_pass()
def copy_graph(func: GraphFunc) -> GraphFunc:
    """Return another object that is the same."""
    return func.replace(body=Body(func.body.bindings, func.body.result))


def test_a_graph_pass_that_falsely_reports_a_change_is_named() -> None:
    graph = parse_graph(GRAPH_TEXT)
    sample = Sample("graphs", graph, GRAPH.with_passes([(0, copy_graph)]))
    found = judge(sample, invariants=["passes keep contracts"], native=False, about="copy-graph")
    assert (found.status, found.named) == ("broken", "copy-graph")
