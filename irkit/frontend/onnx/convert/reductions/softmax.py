"""Softmax and its kin: lines along an axis, or before version 13 rows of a matrix."""

import math
from collections.abc import Callable

import numpy as np

from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.graph import Value

_Along = Callable[[OnnxNode, Value, int], Value]


def softmax(node: OnnxNode) -> Value:
    """Exponentiate and divide by the sum along an axis.

    Source: Softmax-1 to Softmax-13. Before version 13 the input is a matrix, split at ``axis``
    (default 1), and each row sums to 1; from 13 on each line along ``axis`` (default: the last)
    does.
    """
    return _along(node, lambda node, x, axis: node.op("softmax", x, axis=axis))


def log_softmax(node: OnnxNode) -> Value:
    """Return the logarithm of softmax.

    Source: LogSoftmax-1 to LogSoftmax-13; the axis is that of Softmax.
    """
    return _along(node, lambda node, x, axis: node.op("log_softmax", x, axis=axis))


def hardmax(node: OnnxNode) -> Value:
    """Return 1 at the first of the largest elements, and 0 elsewhere.

    Source: Hardmax-1 to Hardmax-13; the axis is that of Softmax.
    """
    return _along(node, _first_largest)


def _first_largest(node: OnnxNode, x: Value, axis: int) -> Value:
    shape = node.shape(x)
    places = np.arange(shape[axis]).reshape(-1, *(1,) * (len(shape) - axis - 1))
    largest = node.op("argmax", x, axis=axis, keepdims=True)
    return node.cast(node.op("equal", node.constant(places), largest), node.dtype(x))


def _along(node: OnnxNode, of_axis: _Along) -> Value:
    x = node.input(0)
    if node.version >= 13:
        return of_axis(node, x, node.axis(node.integer("axis", -1), node.rank(x)))
    shape = node.shape(x)
    axis = node.axis(node.integer("axis", 1), len(shape), end=True)
    if math.prod(shape[axis + 1 :]) == 1 and axis < len(shape):
        return of_axis(node, x, axis)
    rows = node.op("reshape", x, shape=(math.prod(shape[:axis]), math.prod(shape[axis:])))
    return node.op("reshape", of_axis(node, rows, 1), shape=shape)
