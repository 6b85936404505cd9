"""Elementwise operators: arithmetic, activations, and those that return their input."""

from collections.abc import Callable

import numpy as np

from irkit.frontend.onnx.convert.math.arithmetic import aligned_operands
from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.graph import Value
from irkit.ir import BOOL, numpy_dtype


def unary(name: str) -> Callable[[OnnxNode], Value]:
    """Convert an operator of one argument to the graph operator of that name."""

    def convert(node: OnnxNode) -> Value:
        return node.op(name, node.input(0))

    return convert


def binary(name: str) -> Callable[[OnnxNode], Value]:
    """Convert an operator of two arguments.

    Source: Add, Sub, Mul, Div, comparisons and logic, in every version.
    """

    def convert(node: OnnxNode) -> Value:
        a, b = aligned_operands(node)
        return node.op(name, a, b)

    return convert


def variadic(name: str) -> Callable[[OnnxNode], Value]:
    """Convert an operator of one or more arguments by folding a binary operator over them."""

    def convert(node: OnnxNode) -> Value:
        result = node.input(0)
        for at in range(1, len(node.inputs)):
            result = node.op(name, result, node.input(at))
        return result

    return convert


def identity(node: OnnxNode) -> Value:
    """Return the input.

    Source: Identity-1.
    """
    return node.input(0)


def dropout(node: OnnxNode) -> tuple[Value, Value | None]:
    """Return the input; the mask, if it is used, is True everywhere.

    Source: Dropout-1 to Dropout-22. Training mode draws random numbers, so it is refused unless the
    ratio is 0.
    """
    x = node.input(0)
    if node.version >= 12:
        training = node.array(2, "training_mode")
        drops = training is not None and bool(training.any())
        ratio = node.array(1, "ratio") if drops else None
        drops &= ratio is None or bool(ratio.any())
    else:
        drops = node.version < 7 and not node.integer("is_test", 0)
    if drops:
        raise node.fail("training mode draws random numbers; only inference is supported")
    if not node.wants(1):
        return x, None
    # Before version 10 the mask was of the input's type.
    kind = BOOL if node.version >= 10 else node.dtype(x)
    return x, node.op("full", shape=node.shape(x), value=1.0, dtype=str(kind))


def clip(node: OnnxNode) -> Value:
    """Limit values to two bounds, each of which is optional.

    Source: Clip-1 to Clip-13; before version 11 the bounds are attributes. If the lower bound is
    above the upper, every value becomes the upper.
    """
    result = node.input(0)
    low, high = node.optional(1), node.optional(2)
    if node.version < 11:
        kind = numpy_dtype(node.dtype(result))
        limits = np.finfo(np.float32)
        low = node.constant(np.array(node.number("min", float(limits.min)), dtype=kind))
        high = node.constant(np.array(node.number("max", float(limits.max)), dtype=kind))
    if low is not None:
        result = node.op("maximum", result, _scalar(node, low))
    if high is not None:
        result = node.op("minimum", result, _scalar(node, high))
    return result


def _scalar(node: OnnxNode, bound: Value) -> Value:
    if node.rank(bound) > 1:
        raise node.fail(f"bound {bound.name!r} has rank {node.rank(bound)}; expected one number")
    return bound if node.rank(bound) == 0 else node.op("reshape", bound, shape=())
