"""Scores of classes: the transforms that turn them into probabilities, and the label that wins."""

import math

import numpy as np

from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.graph import Value
from irkit.ir import F32, F64

TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
_NEARLY_ZERO = 1e-7


def transformed(node: OnnxNode, scores: Value, how: str) -> Value:
    """Apply a ``post_transform`` to scores, row by row.

    SOFTMAX_ZERO leaves scores that are zero out of the sum. PROBIT is the quantile of the normal
    distribution by a formula that is right to about 0.003.
    Source: ai.onnx.ml; Winitzki, A handy approximation for the error function and its inverse.
    """
    if how == "NONE":
        return scores
    if how == "LOGISTIC":
        return node.op("sigmoid", scores)
    if how == "SOFTMAX":
        return node.op("softmax", scores, axis=1)
    if how == "SOFTMAX_ZERO":
        return _softmax_zero(node, scores)
    if how == "PROBIT":
        return _probit(node, scores)
    raise node.fail(f"post_transform is {how!r}; expected {', '.join(TRANSFORMS)}")


def _softmax_zero(node: OnnxNode, scores: Value) -> Value:
    largest = node.op("max", scores, axes=(1,), keepdims=True)
    grown = node.op("exp", node.op("subtract", scores, largest))
    counts = node.op("greater", node.op("abs", scores), _NEARLY_ZERO)
    kept = node.op("where", counts, grown, 0)
    total = node.op("sum", kept, axes=(1,), keepdims=True)
    empty = node.op("equal", total, 0)
    return node.op("divide", kept, node.op("where", empty, 1, total))


def _probit(node: OnnxNode, scores: Value) -> Value:
    x = node.op("subtract", node.op("multiply", scores, 2), 1)
    product = node.op("multiply", node.op("subtract", 1, x), node.op("add", x, 1))
    log = node.op("log", product)
    a = 0.147
    half = node.op("add", node.op("multiply", log, 0.5), 2 / (math.pi * a))
    under = node.op("subtract", node.op("multiply", half, half), node.op("multiply", log, 1 / a))
    root = node.op("sqrt", node.op("subtract", node.op("sqrt", under), half))
    signed = node.op("where", node.op("less", x, 0), node.op("negative", root), root)
    return node.op("multiply", signed, math.sqrt(2))


def class_labels(node: OnnxNode, name: str) -> tuple[int, ...]:
    """Return the labels of the classes, which must be integers.

    Raises: ImportFailed if they are strings.
    """
    if node.has("classlabels_strings") and node.texts("classlabels_strings"):
        raise node.fail(
            "its class labels are strings, which irkit does not support",
            hint="Number the classes (LabelEncoder of scikit-learn), fit and export again.",
        )
    labels = node.integers(name, ())
    if len(labels) < 2:
        raise node.fail(f"it has {len(labels)} class labels; expected at least 2")
    return labels


def chosen(node: OnnxNode, best: Value, labels: tuple[int, ...]) -> Value:
    """Return the labels of classes that are given by their numbers."""
    if labels == tuple(range(len(labels))):
        return best
    return node.op("take", node.constant(np.array(labels, dtype=np.int64)), best, axis=0)


def largest(node: OnnxNode, scores: Value) -> Value:
    """Return the number of the class with the largest score in each row: of equal ones the
    first."""
    return node.op("argmax", scores, axis=1)


def pair_of(node: OnnxNode, score: Value, *, probability: bool) -> Value:
    """Return the scores of two classes, of which one score [N, 1] is known: the second is that
    score, the first what is left of 1 if it is a probability, else its negative."""
    first = node.op("subtract", 1, score) if probability else node.op("negative", score)
    return node.op("concat", first, score, axis=1)


def rows_of(node: OnnxNode, *, floats: bool = True) -> Value:
    """Return the input as rows of features: a vector is one row.

    With ``floats``, f64 stays and every other type becomes f32.
    """
    x = node.input(0)
    if node.rank(x) not in (1, 2):
        raise node.fail(f"{x.name!r} has rank {node.rank(x)}; expected rows of features")
    if node.rank(x) == 1:
        x = node.op("reshape", x, shape=(1, *node.shape(x)))
    return node.cast(x, F32) if floats and node.dtype(x) != F64 else x
