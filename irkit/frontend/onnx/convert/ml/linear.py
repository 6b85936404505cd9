"""LinearClassifier and LinearRegressor."""

import numpy as np

from irkit.frontend.onnx.convert.ml.scores import (
    chosen,
    class_labels,
    largest,
    pair_of,
    rows_of,
    transformed,
)
from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.graph import Value
from irkit.ir import F32


def linear_regressor(node: OnnxNode) -> Value:
    """Multiply rows of features by coefficients, and add intercepts.

    Source: ai.onnx.ml LinearRegressor-1.
    """
    scores = _scores(node, node.integer("targets", 1))
    return transformed(node, scores, node.text("post_transform", "NONE"))


def linear_classifier(node: OnnxNode) -> tuple[Value, Value]:
    """Score each class by a linear function; the largest score wins, before the transform.

    One score for two classes is that of the second: the first gets its negative, or what is left
    of 1 if there is no transform.
    Source: ai.onnx.ml LinearClassifier-1.
    """
    labels, how = class_labels(node, "classlabels_ints"), node.text("post_transform", "NONE")
    width = node.shape(rows_of(node))[1]
    count = len(node.numbers("coefficients")) // max(width, 1)
    if count == 1 and len(labels) == 2:
        score = _scores(node, 1)
        winner = pair_of(node, score, probability=False)
        scores = pair_of(node, score, probability=how in ("NONE", "PROBIT"))
    else:
        winner = scores = _scores(node, len(labels))
    return chosen(node, largest(node, winner), labels), transformed(node, scores, how)


def _scores(node: OnnxNode, count: int) -> Value:
    """Return the scores [N, ``count``] of the rows, in f32."""
    x = rows_of(node)
    width = node.shape(x)[1]
    coefficients = np.array(node.numbers("coefficients"))
    intercepts = np.array(node.numbers("intercepts", ()) or (0.0,) * count)
    if coefficients.shape != (count * width,) or intercepts.shape != (count,):
        raise node.fail(
            f"it has {len(coefficients)} coefficients and {len(intercepts)} intercepts; expected "
            f"{count * width} and {count}, for {count} scores of {width} features"
        )
    kind = node.numpy_type(x)
    weights = node.constant(np.ascontiguousarray(coefficients.reshape(count, width).T).astype(kind))
    scores = node.op("matmul", x, weights)
    return node.cast(node.op("add", scores, node.constant(intercepts.astype(kind))), F32)
