"""Ensembles of trees: TreeEnsembleClassifier, TreeEnsembleRegressor and TreeEnsemble."""

import msgspec
import numpy as np

from irkit.frontend.onnx.convert.ml.forest import Floats, Forest
from irkit.frontend.onnx.convert.ml.forest_kernel import aggregated
from irkit.frontend.onnx.convert.ml.scores import (
    TRANSFORMS,
    chosen,
    class_labels,
    largest,
    pair_of,
    rows_of,
    transformed,
)
from irkit.frontend.onnx.convert.ml.tree_attributes import (
    base_values,
    named_forest,
    numbered_forest,
)
from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.graph import Value
from irkit.ir import F32

_AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")


def tree_regressor(node: OnnxNode) -> Value:
    """Combine the weights of the leaves that each row reaches, and add the base values.

    Source: ai.onnx.ml TreeEnsembleRegressor-1 to -5; without a value, a row takes the branch that
    ``nodes_missing_value_tracks_true`` says, whatever the test.
    """
    x, count = rows_of(node), node.integer("n_targets", 1)
    _check_targets(node, count)
    forest = named_forest(node, "target", node.shape(x)[1], count)
    found = aggregated(node, x, forest, count, node.text("aggregate_function", "SUM"))
    base = base_values(node)
    if len(base) not in (0, count):
        raise node.fail(f"base_values has {len(base)} items; expected {count} or none")
    found = node.cast(found, F32) if not len(base) else _plus(node, found, base)
    return transformed(node, found, node.text("post_transform", "NONE"))


def _plus(node: OnnxNode, scores: Value, base: Floats) -> Value:
    values = node.constant(base.astype(node.numpy_type(scores)))
    return node.cast(node.op("add", scores, values), F32)


def tree_classifier(node: OnnxNode) -> tuple[Value, Value]:
    """Add up the weights of the leaves that each row reaches, class by class; the largest sum
    wins, before the transform.

    Of two classes, exporters write the weights of one only. Then the other gets the negative score;
    or what is left of 1, if the transform is PROBIT, or NONE and no weight is negative.
    Source: ai.onnx.ml TreeEnsembleClassifier-1 to -5.
    """
    x, labels = rows_of(node), class_labels(node, "classlabels_int64s")
    forest = named_forest(node, "class", node.shape(x)[1], len(labels))
    base, how = base_values(node), node.text("post_transform", "NONE")
    single = len(labels) == 2 and len(np.unique(forest.targets)) <= 1
    if single:
        scores = _score_of_one(node, x, forest, base, how)
    else:
        if len(base) not in (0, len(labels)):
            raise node.fail(f"base_values has {len(base)} items; expected {len(labels)} or none")
        found = aggregated(node, x, forest, len(labels), "SUM")
        scores = _plus(node, found, base) if len(base) else node.cast(found, F32)
    return chosen(node, largest(node, scores), labels), transformed(node, scores, how)


def _score_of_one(node: OnnxNode, x: Value, forest: Forest, base: Floats, how: str) -> Value:
    """Return the scores of two classes, from weights that are all of one."""
    if len(base) > 2:
        raise node.fail(f"base_values has {len(base)} items; expected 1, 2 or none")
    alone = msgspec.structs.replace(forest, targets=np.zeros_like(forest.targets))
    score = aggregated(node, x, alone, 1, "SUM")
    if len(base):
        number = int(forest.targets[0]) if len(base) == 2 and len(forest.targets) else 0
        score = _plus(node, score, base[number : number + 1])
    score = node.cast(score, F32)
    positive = bool((forest.weights >= 0).all())
    return pair_of(node, score, probability=how == "PROBIT" or (how == "NONE" and positive))


def tree_ensemble(node: OnnxNode) -> Value:
    """Combine the weights of the leaves that each row reaches.

    Source: ai.onnx.ml TreeEnsemble-5; a test for several values becomes one node for each.
    """
    x, count = rows_of(node), node.integer("n_targets", 1)
    _check_targets(node, count)
    kind = node.dtype(node.input(0))
    forest = numbered_forest(node, node.shape(x)[1], count)
    how, transform = node.integer("aggregate_function", 1), node.integer("post_transform", 0)
    if not 0 <= how < len(_AGGREGATES) or not 0 <= transform < len(TRANSFORMS):
        raise node.fail(f"aggregate_function {how} or post_transform {transform} does not exist")
    found = aggregated(node, x, forest, count, _AGGREGATES[how])
    return node.cast(transformed(node, found, TRANSFORMS[transform]), kind)


def _check_targets(node: OnnxNode, count: int) -> None:
    if count < 1:
        raise node.fail(f"n_targets is {count}; expected at least 1")
