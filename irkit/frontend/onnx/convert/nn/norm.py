"""Normalisation over batches, channels, groups and axes."""

import numpy as np

from irkit.frontend.onnx.convert.math import element_type
from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.graph import Value
from irkit.ir import F32, numpy_dtype


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


def layer_normalization(node: OnnxNode) -> tuple[Value | None, ...]:
    """Normalise over the axes from one on, in the type that ``stash_type`` names.

    Source: LayerNormalization-17.
    """
    x, scale, bias = node.input(0), node.input(1), node.optional(2)
    kind = node.dtype(x)
    axes = _from_axis(node, x)
    stash = element_type(node, node.integer("stash_type", 1))
    wide = node.cast(x, F32 if kind.bits < 32 else kind)
    normal, mean, inverse = _normalised(node, wide, axes)
    result = node.op("multiply", node.cast(normal, kind), scale)
    if bias is not None:
        result = node.op("add", result, bias)
    return (
        result,
        node.cast(mean, stash) if node.wants(1) else None,
        node.cast(inverse, stash) if node.wants(2) else None,
    )


def rms_normalization(node: OnnxNode) -> Value:
    """Divide by the root of the mean square over the axes from one on.

    Source: RMSNormalization-23.
    """
    x, scale = node.input(0), node.input(1)
    kind = node.dtype(x)
    wide = node.cast(x, F32 if kind.bits < 32 else kind)
    square = node.op(
        "mean", node.op("multiply", wide, wide), axes=_from_axis(node, x), keepdims=True
    )
    root = node.op("sqrt", node.op("add", square, node.number("epsilon", 1e-5)))
    return node.op("multiply", node.cast(node.op("divide", wide, root), kind), scale)


def _from_axis(node: OnnxNode, x: Value) -> tuple[int, ...]:
    rank = node.rank(x)
    return tuple(range(node.axis(node.integer("axis", -1), rank), rank))


def _normalised(node: OnnxNode, x: Value, axes: tuple[int, ...]) -> tuple[Value, Value, Value]:
    """Return x of mean 0 and variance 1 over some axes, its mean, and 1 / its deviation."""
    mean = node.op("mean", x, axes=axes, keepdims=True) if axes else x
    centred = node.op("subtract", x, mean)
    squares = node.op("multiply", centred, centred)
    variance = node.op("mean", squares, axes=axes, keepdims=True) if axes else squares
    deviation = node.op("sqrt", node.op("add", variance, node.number("epsilon", 1e-5)))
    inverse = node.op("reciprocal", deviation)
    return node.op("multiply", centred, inverse), mean, inverse


def instance_normalization(node: OnnxNode) -> Value:
    """Normalise each channel of each image.

    Source: InstanceNormalization-1 to InstanceNormalization-22.
    """
    x = node.input(0)
    kind, rank = node.dtype(x), node.rank(x)
    wide = node.cast(x, F32 if kind.bits < 32 else kind)
    normal, _, _ = _normalised(node, wide, tuple(range(2, rank)))
    scale, bias = (
        node.op("reshape", node.input(at), shape=(-1, *(1,) * (rank - 2))) for at in (1, 2)
    )
    return node.op("add", node.op("multiply", node.cast(normal, kind), scale), bias)


def group_normalization(node: OnnxNode) -> Value:
    """Normalise groups of channels of each image.

    Source: GroupNormalization-18 (scale and bias for each group) and GroupNormalization-21 (for
    each channel).
    """
    x = node.input(0)
    kind, shape, groups = node.dtype(x), node.shape(x), node.integer("num_groups")
    if len(shape) < 2 or groups < 1 or shape[1] % groups:
        raise node.fail(f"x of shape {shape} has no {groups} groups of channels")
    wide = node.cast(x, F32 if kind.bits < 32 else kind)
    grouped = node.op("reshape", wide, shape=(shape[0], groups, -1))
    normal = node.cast(_normalised(node, grouped, (2,))[0], kind)
    if node.version < 21:
        scale, bias = (node.op("reshape", node.input(at), shape=(-1, 1)) for at in (1, 2))
        scaled = node.op("add", node.op("multiply", normal, scale), bias)
        return node.op("reshape", scaled, shape=shape)
    normal = node.op("reshape", normal, shape=shape)
    tail = (-1, *(1,) * (len(shape) - 2))
    scale, bias = (node.op("reshape", node.input(at), shape=tail) for at in (1, 2))
    return node.op("add", node.op("multiply", normal, scale), bias)


def mean_variance_normalization(node: OnnxNode) -> Value:
    """Subtract the mean and divide by the deviation over some axes.

    Source: MeanVarianceNormalization-9, MeanVarianceNormalization-13.
    """
    x = node.input(0)
    kind, rank = node.dtype(x), node.rank(x)
    wide = node.cast(x, F32 if kind.bits < 32 else kind)
    axes = tuple(sorted({node.axis(axis, rank) for axis in node.integers("axes", (0, 2, 3))}))
    mean = node.op("mean", wide, axes=axes, keepdims=True) if axes else wide
    centred = node.op("subtract", wide, mean)
    squares = node.op("multiply", centred, centred)
    variance = node.op("mean", squares, axes=axes, keepdims=True) if axes else squares
    deviation = node.op("add", node.op("sqrt", variance), 1e-9)
    return node.cast(node.op("divide", centred, deviation), kind)


def lp_normalization(node: OnnxNode) -> Value:
    """Divide by the norm along an axis; where that is 0, the result is 0.

    Source: LpNormalization-1, LpNormalization-22.
    """
    x, p = node.input(0), node.integer("p", 2)
    if p not in (1, 2):
        raise node.fail(f"p is {p}; expected 1 or 2")
    axes = (node.axis(node.integer("axis", -1), node.rank(x)),)
    if p == 1:
        norm = node.op("sum", node.op("abs", x), axes=axes, keepdims=True)
    else:
        squares = node.op("sum", node.op("multiply", x, x), axes=axes, keepdims=True)
        norm = node.op("sqrt", squares)
    return node.op("where", node.op("equal", norm, 0), 0, node.op("divide", x, norm))
