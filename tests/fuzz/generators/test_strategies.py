"""The public strategies: samples that shrink to little, and arguments that fit."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, find, given, settings, strategies as st

import irkit.fuzz
from irkit.core import IRKitError, count_nodes, walk
from irkit.fuzz import (
    Sample,
    draw_sample,
    graphs,
    onnx_models,
    picks_of,
    pipelines,
    programs,
    schedules,
    tensors_for,
    texts,
)
from irkit.graph import GraphFunc, parse_module
from irkit.ir import Mul, PrimFunc, interpret, parse

QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
FEW = settings(max_examples=15, deadline=None, derandomize=True, suppress_health_check=QUIET)
SEEK = settings(
    max_examples=800, deadline=None, derandomize=True, suppress_health_check=QUIET, database=None
)
STRATEGIES: dict[str, Callable[[], st.SearchStrategy[Sample]]] = {
    "programs": programs,
    "schedules": schedules,
    "pipelines": pipelines,
    "graphs": graphs,
    "onnx": onnx_models,
    "text": texts,
}


@pytest.mark.parametrize("kind", STRATEGIES)
def test_a_strategy_draws_its_kind(kind: str) -> None:
    @FEW
    @given(STRATEGIES[kind]())
    def claim(sample: Sample) -> None:
        assert sample.kind == kind
        assert len(sample.inputs) == len(sample.expected) == len(sample.allowed)

    claim()


@pytest.mark.long
def test_a_program_shrinks_to_one_stage_and_few_nodes() -> None:
    def fails(sample: Sample) -> bool:
        assert isinstance(sample.ir, PrimFunc)
        return any(node.dtype.is_float for node in walk(sample.ir, on=Mul))

    found = find(programs(), fails, settings=SEEK).ir
    assert isinstance(found, PrimFunc)
    assert count_nodes(found) <= 60


def test_a_schedule_shrinks_to_few_steps() -> None:
    found = find(schedules(), lambda sample: "primitive:split" in sample.features, settings=SEEK)
    made = [step for step in found.schedule.steps if not step.primitive.startswith("get_")]
    assert len(made) == 1


@pytest.mark.long
def test_a_graph_shrinks_to_few_operators() -> None:
    found = find(graphs(), lambda sample: "op:matmul" in sample.features, settings=SEEK).ir
    assert isinstance(found, GraphFunc)
    assert len(found.body.bindings) <= 6


def test_text_is_read_or_refused_with_a_location() -> None:
    read = refused = placeless = 0
    for number in range(120):
        sample = draw_sample("text", picks_of(number))
        assert isinstance(sample.ir, str)
        try:
            module = parse_module(sample.ir)
        except IRKitError as error:
            refused += error.span is not None
            placeless += error.span is None
        else:
            assert parse_module(module.script()).script() == module.script()
            read += 1
    assert placeless == 0
    assert min(read, refused) > 20


def test_arguments_fit_a_function() -> None:
    func = parse(
        "def f(A: f32[n], B: u8[n, 3], C: f32[n]):\n"
        "    for i in serial(0, n):\n        C[i] = A[i] + cast(B[i, 1], f32)\n"
    )
    seen: set[str] = set()

    @settings(FEW, max_examples=60)
    @given(tensors_for(func))
    def claim(inputs: object) -> None:
        assert isinstance(inputs, irkit.fuzz.InputSet)
        seen.add(inputs.name.split()[0])
        with np.errstate(all="ignore"):
            interpret(func, *inputs.copied())

    claim()
    assert seen == {"whole", "integers", "fractions", "special"}


def test_names_that_are_modules_too_are_the_strategies() -> None:
    assert callable(irkit.fuzz.programs)
    assert all(
        strategy is getattr(irkit.fuzz, strategy.__name__) for strategy in STRATEGIES.values()
    )
