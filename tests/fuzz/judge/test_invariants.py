"""Invariants find passes that break them, and hold for right ones."""

import pytest

from irkit.core import rewrite
from irkit.fuzz.generators import Kind, Sample
from irkit.fuzz.generators.draw_sample import draw_sample
from irkit.fuzz.judge import INVARIANTS, judge
from irkit.fuzz.picks import picks_of
from irkit.graph import Body, GraphFunc, parse as parse_graph
from irkit.ir import Add, PrimFunc
from irkit.phases import DEFAULT, GRAPH
from irkit.transform import define_pass
from tests.draws import sampled
from tests.fuzz.judge.samples import GRAPH_TEXT, sample_of


@define_pass()
def copy_everything(func: PrimFunc) -> PrimFunc:
    """Report a change where there is none."""
    return func.copied()


@define_pass(idempotent=True)
def exchange_operands(func: PrimFunc) -> PrimFunc:
    """Exchange the operands of additions, anew in each run."""
    return rewrite(func, lambda node: Add(node.b, node.a, node.dtype), on=Add)


def test_a_pass_that_lies_about_a_change_breaks_an_invariant() -> None:
    sample = sample_of(DEFAULT.insert(copy_everything, phase=2))
    assert judge(sample).ok
    assert judge(sample, thorough=True).named == "copy-everything"


def test_an_invariant_can_be_checked_for_one_pass_whatever_the_number() -> None:
    sample = sample_of(DEFAULT.insert(exchange_operands, phase=1))
    names = ("passes keep contracts",)
    for number in range(4):
        found = judge(sample, invariants=names, number=number, about="exchange-operands")
        assert (found.status, found.named) == ("broken", "exchange-operands")
        assert judge(sample, invariants=names, number=number, about="lower-blocks").ok


@define_pass(changes_rounding=True)
def round_otherwise(func: PrimFunc) -> PrimFunc:
    """Exchange the operands of additions, which may round otherwise."""
    return rewrite(func, lambda node: Add(node.b, node.a, node.dtype), on=Add)


@pytest.mark.parametrize(
    "name", sampled(["lowers alike", "does nothing anywhere", "runs otherwise"], every=2)
)
def test_the_invariants_hold_for_a_pass_that_rounds_otherwise(name: str) -> None:
    sample = sample_of(DEFAULT.insert(round_otherwise, phase=1))
    for number in range(4):
        found = judge(sample, invariants=[name], number=number)
        assert found.ok, found.message
        assert found.fired.count("round-otherwise") == 1


@pytest.mark.parametrize("name", sampled(INVARIANTS, every=3))
def test_the_invariants_hold(name: str) -> None:
    for number in range(3):
        found = judge(draw_sample("programs", picks_of(number)), invariants=[name], number=number)
        assert found.ok, found.message
        assert found.checks == (name,)


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
