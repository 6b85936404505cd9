"""Every graph pass keeps what the function computes, and makes a function the verifier accepts."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from irkit.graph import arrays_of, interpret, verify
from irkit.passes.graph import (
    eliminate_dead_nodes,
    fold_batch_norm,
    fold_constants,
    fuse_ops,
    plan_memory,
    simplify_graph,
)
from tests.draws import few_or_all
from tests.graph.graphs import inputs_of, random_graph

PASSES: list[Any] = [
    simplify_graph,
    fold_constants,
    fold_batch_norm,
    eliminate_dead_nodes,
    fuse_ops,
    fuse_ops.using(max_ops=2),
    plan_memory,
]


def assert_same_results(before: Any, after: Any, seed: int) -> None:
    expected = list(arrays_of(interpret(before, inputs_of(seed))))
    found = list(arrays_of(interpret(after, inputs_of(seed))))
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_allclose(other, one, 1e-4, 1e-4)


@pytest.mark.parametrize("each", PASSES, ids=str)
@settings(max_examples=few_or_all(10, 25), deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6))
def test_a_pass_alone_keeps_the_results(each: Any, seed: int) -> None:
    func = random_graph(seed)
    assert verify(func) == []
    after = each(func)
    assert verify(after) == []
    assert_same_results(func, after, seed)
    assert each(after) is after


@settings(max_examples=few_or_all(10, 25), deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6))
def test_all_passes_in_order_keep_the_results(seed: int) -> None:
    func = after = random_graph(seed, steps=30)
    for each in PASSES:
        after = each(after)
        assert verify(after) == [], str(each)
    assert_same_results(func, after, seed)
