"""Normalisation: BatchNormalization and LRN."""

import numpy as np

from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.graph import Value
from irkit.ir import numpy_dtype


def batch_normalization(node: OnnxNode) -> Value | tuple[Value | None, ...]:
    """Normalise each channel by the statistics in the inputs; in training mode by those of the
    batch, which also update the inputs.

    Source: BatchNormalization-1 to BatchNormalization-15. The mode is ``training_mode`` from
    version 14 on, before that the number of outputs, and before version 7 ``is_test``.
    """
    x, scale, bias, mean, var = (node.input(at) for at in range(5))
    epsilon = node.number("epsilon", 1e-5)
    if node.version < 9 and not node.integer("spatial", 1):
        raise node.fail("spatial=0 (statistics for each element) is not supported")
    if node.version >= 14:
        training = bool(node.integer("training_mode", 0))
    elif node.version >= 7:
        training = any(node.wants(at) for at in range(1, 5))
    else:
        training = not node.integer("is_test", 0)
    if not training:
        return node.op("batch_norm", x, scale, bias, mean, var, epsilon=epsilon)
    if node.version < 14:
        raise node.fail("training mode is supported from version 14 on only")
    batch_mean, batch_var = _statistics(node, x)
    result = node.op("batch_norm", x, scale, bias, batch_mean, batch_var, epsilon=epsilon)
    momentum = node.number("momentum", 0.9)
    running = tuple(
        _moving_average(node, old, new, momentum) if node.wants(at) else None
        for at, old, new in ((1, mean, batch_mean), (2, var, batch_var))
    )
    return result, *running


def _statistics(node: OnnxNode, x: Value) -> tuple[Value, Value]:
    """Return mean and population variance of each channel.

    Shapes: x [N, C, ...] -> [C] each.
    """
    axes = (0, *range(2, node.rank(x)))
    mean = node.op("mean", x, axes=axes, keepdims=True)
    centred = node.op("subtract", x, mean)
    var = node.op("mean", node.op("multiply", centred, centred), axes=axes, keepdims=False)
    return node.op("reshape", mean, shape=(node.shape(x)[1],)), var


def _moving_average(node: OnnxNode, old: Value, new: Value, momentum: float) -> Value:
    kind = numpy_dtype(node.dtype(old))
    old_part = node.op("multiply", old, node.constant(np.array(momentum, dtype=kind)))
    new_part = node.op("multiply", new, node.constant(np.array(1 - momentum, dtype=kind)))
    return node.op("add", old_part, new_part)


def lrn(node: OnnxNode) -> Value:
    """Divide by a power of the local sum of squares across channels.

    Source: LRN-1 to LRN-13.
    """
    return node.op(
        "lrn",
        node.input(0),
        size=node.integer("size"),
        alpha=node.number("alpha", 1e-4),
        beta=node.number("beta", 0.75),
        bias=node.number("bias", 1.0),
    )
