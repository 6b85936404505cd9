"""Activations that are more than one elementwise operator: Softmax."""

import math

from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.graph import Value


def softmax(node: OnnxNode) -> Value:
    """Exponentiate and divide by the sum along an axis.

    Source: Softmax-1 to Softmax-13. Before version 13 the input is a matrix, split at ``axis``
    (default 1), and each row sums to 1; from 13 on each line along ``axis`` (default: the last)
    does.
    """
    x = node.input(0)
    if node.version >= 13:
        return node.op("softmax", x, axis=node.axis(node.integer("axis", -1), node.rank(x)))
    shape = node.shape(x)
    axis = node.axis(node.integer("axis", 1), len(shape), end=True)
    if math.prod(shape[axis + 1 :]) == 1 and axis < len(shape):
        return node.op("softmax", x, axis=axis)
    rows = node.op("reshape", x, shape=(math.prod(shape[:axis]), math.prod(shape[axis:])))
    return node.op("reshape", node.op("softmax", rows, axis=1), shape=shape)
