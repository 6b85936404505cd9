"""Batch normalisation becomes part of a convolution, or stays if it cannot."""

import numpy as np
import pytest

from irkit.core import Recorder, recording
from irkit.graph import interpret, parse
from irkit.passes.graph import eliminate_dead_nodes, fold_batch_norm
from tests.passes.graph.programs import ops
from tests.passes.graph.test_simplify_graph import LET

CONV_BN = """\
def main(x: f32[1, 2, 4, 4], s: f32[2]):
    w: f32[2, 2, 1, 1] = constant([1.0, 2.0, 3.0, 4.0])
    b: f32[2] = constant([0.5, -0.5])
    m: f32[2] = constant([0.25, 2.0])
    v: f32[2] = constant([4.0, 0.25])
    c = conv(x, w, b)
    n = batch_norm(c, b, m, m, v)
    return n
"""


def test_batch_norm_folds_into_weights_and_an_existing_bias() -> None:
    func = parse(CONV_BN)
    after = eliminate_dead_nodes(fold_batch_norm(func))
    assert ops(after) == ["conv"]
    rng = np.random.default_rng(0)
    inputs = [rng.standard_normal((1, 2, 4, 4)).astype("f"), np.ones(2, "f")]
    np.testing.assert_allclose(
        np.asarray(interpret(after, inputs)), np.asarray(interpret(func, inputs)), 1e-5, 1e-5
    )


def test_a_folded_convolution_has_the_span_of_the_batch_norm() -> None:
    func = parse(CONV_BN)
    norm = func.body.bindings[-1]
    made = [bind for bind in fold_batch_norm(func).body.bindings if bind not in func.body.bindings]
    assert len(made) == 3
    assert norm.span is not None
    assert all(bind.span == norm.span for bind in made)


LEFT = [
    ("batch_norm(c, b, ", "batch_norm(c, s, "),
    ("return n", "r = add(n, c)\n    return r"),
    ("conv(x, w, b)", "relu(x)"),
]


@pytest.mark.parametrize(("old", "new"), LEFT)
def test_batch_norm_stays_where_it_cannot_be_folded(old: str, new: str) -> None:
    func = parse(CONV_BN.replace(old, new))
    assert fold_batch_norm(func) is func


def test_foldings_that_are_switched_off_do_not_happen() -> None:
    func = parse(CONV_BN)
    with recording(Recorder(frozenset({0}))) as recorder:
        assert fold_batch_norm(func) is func
    assert recorder.count == 1


def test_folding_leaves_other_lets_alone() -> None:
    func = parse(LET)
    assert fold_batch_norm(func) is func
