"""Costs of functions as native code, and what counts as noise."""

import random

import pytest

from irkit.core import IRKitError
from irkit.graph import GRAPH_LEVEL, parse as parse_graph
from irkit.inspector_web.jobs.costs import (
    compare_costs,
    cost_of_samples,
    function_costs,
    is_more_than_noise,
)
from irkit.ir import parse
from irkit.transform import Step, Trace
from tests.inspector_web.jobs.test_verdicts import LONG
from tests.inspector_web.jobs.verdicts_programs import step

SHORT = LONG.format(1, "")
TALL = """\
def f(A: f32[64], C: f32[64]):
    for n in serial(0, 20000):
        for i in serial(0, 64):
            C[i] = C[i] * f32(0.5) + A[i]
"""


def samples(median: float, seed: int, spread: float = 0.1) -> list[float]:
    drawn = random.Random(seed)
    return [median * drawn.uniform(1 - spread, 1 + spread) for _ in range(100)]


def test_two_samples_of_the_same_cost_do_not_differ() -> None:
    pairs = [
        (cost_of_samples(samples(1e-3, n)), cost_of_samples(samples(1e-3, n + 1000)))
        for n in range(40)
    ]
    assert sum(is_more_than_noise(a, b) for a, b in pairs) == 0


def test_a_difference_beyond_the_noise_counts() -> None:
    a, b = cost_of_samples(samples(1e-3, 1)), cost_of_samples(samples(1.2e-3, 2))
    assert is_more_than_noise(a, b)
    assert a.low < a.least < a.median < a.most < a.high
    assert a.runs == 100


def test_a_pass_that_makes_a_function_faster_is_measured_with_its_noise() -> None:
    found = compare_costs(Trace([step(TALL, SHORT)]), 0)
    assert found.differs
    assert found.ratio > 10
    assert found.before.median > found.after.median > 0
    assert "times as fast" in found.text


def test_a_stage_that_crashes_is_reported_and_the_others_are_timed() -> None:
    wild = LONG.format(3, " + 900000000000")
    crashing = step(SHORT, wild)
    after = step(wild, SHORT, 1)
    found = function_costs(Trace([crashing, after]), "f")
    assert [each.step for each in found.stages] == [-1, 0, 1]
    assert "SIGSEGV" in found.stages[1].message
    assert found.stages[0].median > 0
    assert found.stages[2].median > 0


def test_a_graph_is_not_timed() -> None:
    graph = parse_graph("def main(x: f32[4]):\n    a: f32[4] = relu(x)\n    return a\n")
    made = Step(0, GRAPH_LEVEL, 0, "", "p", "p", {}, "main", graph, graph, 0.0)
    with pytest.raises(IRKitError, match="only a loop function can be timed"):
        compare_costs(Trace([made]), 0)


def test_sizes_of_symbolic_dimensions_are_reported() -> None:
    text = "def f(A: f32[n], C: f32[n]):\n    for i in serial(0, n):\n        C[i] = A[i]{}\n"
    found = compare_costs(Trace([step(text.format(""), text.format(" + f32(1.0)"))]), 0)
    assert found.sizes == "n = 64"
    assert parse(text.format("")).name == found.function
