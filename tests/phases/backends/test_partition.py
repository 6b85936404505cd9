"""Which operators a backend gets, and that the graph keeps its meaning."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from irkit.core import Recorder, recording
from irkit.graph import Apply, GraphFunc, Match, arrays_of, hole, interpret, op, parse, verify
from irkit.phases import Backend, BackendClaim, ClaimRule, ForeignCode, claim_rule, define_backend
from tests.draws import few_or_all
from tests.graph.graphs import inputs_of, random_graph

X, Y = hole("x"), hole("y")
CHAIN = """
def main(x: f32[4]):
    a: f32[4] = exp(x)
    b: f32[4] = abs(a)
    c: f32[4] = negative(b)
    d: f32[4] = sqrt(c)
    return d
"""


def backend_of(*rules: ClaimRule) -> Backend:
    @define_backend(rules=rules)
    def mine(claim: BackendClaim) -> ForeignCode:
        raise AssertionError("nothing is compiled here")

    return mine


def claims(text: str, *rules: ClaimRule) -> tuple[list[str], list[str]]:
    """Return the rules whose claims a function gets, in order, and the remarks."""
    func = parse(text)
    with recording(Recorder()) as recorder:
        after = backend_of(*rules).partition(func)
    assert verify(after) == []
    lambdas = [dict(bind.step.attrs) for bind in after.body.bindings if hasattr(bind.step, "attrs")]
    found = [str(attrs["composite"]) for attrs in lambdas if attrs.get("backend") == "mine"]
    return found, [remark.text for remark in recorder.remarks]


def gains(seconds: float) -> Callable[[Match], float]:
    return lambda found: seconds


def test_of_overlapping_claims_the_larger_one_is_taken() -> None:
    one, two = claim_rule("one", op("abs", X)), claim_rule("two", op("negative", op("abs", X)))
    assert claims(CHAIN, one, two) == (["two"], [])


def test_claims_with_gains_save_most_in_sum() -> None:
    # The pair in the middle saves more than either neighbour, but less than both.
    first = claim_rule("first", op("abs", op("exp", X)), gain=gains(2e-6))
    middle = claim_rule("middle", op("negative", op("abs", X)), gain=gains(3e-6))
    last = claim_rule("last", op("sqrt", op("negative", X)), gain=gains(2e-6))
    found, remarks = claims(CHAIN, first, middle, last)
    assert found == ["first", "last"]
    assert remarks == ["mine does not get 'middle': another claim has part of it"]


def test_a_claim_that_saves_nothing_is_left_with_a_remark() -> None:
    found, remarks = claims(CHAIN, claim_rule("slow", op("abs", X), gain=gains(-1e-6)))
    assert (found, remarks) == ([], ["mine does not get 'slow': it would save nothing (-1e-06 s)"])


def test_a_refused_claim_says_why() -> None:
    rule = claim_rule("abs", op("abs", X), refuses=lambda found: "it is too small")
    assert claims(CHAIN, rule) == ([], ["mine does not get 'abs': it is too small"])


@pytest.mark.parametrize("last", ["c = (b, a)", "c: f32[4] = add(a, b)"])
def test_a_result_that_is_needed_elsewhere_is_not_swallowed(last: str) -> None:
    lines = ("def main(x: f32[4]):", "a: f32[4] = exp(x)", "b: f32[4] = abs(a)", last, "return c\n")
    text = "\n    ".join(lines)
    found, remarks = claims(text, claim_rule("pair", op("abs", op("exp", X))))
    assert found == []
    assert remarks == ["mine does not get 'pair': the result of 'a' is needed elsewhere too"]


def test_a_result_that_only_the_claim_itself_needs_twice_is_inside() -> None:
    text = """
def main(x: f32[4]):
    a: f32[4] = sigmoid(x)
    b: f32[4] = exp(a)
    c: f32[4] = add(a, b)
    return c
"""
    inner = op("sigmoid", X, name="inner")
    assert claims(text, claim_rule("both", op("add", inner, op("exp", inner)))) == (["both"], [])


def test_state_is_left_to_irkit() -> None:
    text = """
@attrs(state=((0, 0),))
def main(h: f32[4], x: f32[4]):
    a: f32[4] = add(h, x)
    return a
"""
    found, remarks = claims(text, claim_rule("sum", op("add", X, Y)))
    assert found == []
    assert remarks == ["mine does not get 'sum': 'a' is state, or reads it"]


RULES = (
    claim_rule("pair", op("add multiply", op("relu exp sigmoid tanh abs negative add", X), Y)),
    claim_rule("unary", op("relu exp sigmoid tanh abs negative", X)),
    claim_rule("sum", op("add subtract", X, Y, commutative=True)),
)
COSTED = tuple(
    claim_rule(rule.name, rule.pattern, gain=gains(seconds))
    for rule, seconds in zip(RULES, (3e-6, 2e-6, 1e-6), strict=True)
)


@pytest.mark.parametrize("rules", [RULES, COSTED], ids=["greedy", "by gain"])
@settings(max_examples=few_or_all(8, 20))
@given(seed=st.integers(0, 10**6))
def test_the_graph_keeps_its_meaning(rules: tuple[ClaimRule, ...], seed: int) -> None:
    func = random_graph(seed)
    partition: Any = backend_of(*rules).partition
    after = partition(func)
    assert isinstance(after, GraphFunc)
    assert verify(after) == []
    assert partition(after) is after
    expected, found = (arrays_of(interpret(each, inputs_of(seed))) for each in (func, after))
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_array_equal(other, one)


def test_random_graphs_have_claims() -> None:
    partition = backend_of(*RULES).partition
    found = [partition(random_graph(seed)) for seed in range(20)]
    applied = [sum(isinstance(b.step, Apply) for b in func.body.bindings) for func in found]
    assert sum(applied) > 20
