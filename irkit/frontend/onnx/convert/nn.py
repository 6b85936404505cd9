"""Operators of neural networks: convolution, pooling, matrix products, normalisation, softmax."""

import math

import numpy as np

from irkit.frontend.onnx.context import OnnxNode
from irkit.graph import Value
from irkit.ir import numpy_dtype


def _window(
    node: OnnxNode, spatial: tuple[int, ...], kernel: tuple[int, ...]
) -> dict[str, tuple[int, ...]]:
    """Read strides, dilations and pads, and resolve ``auto_pad`` into explicit pads."""
    rank = len(kernel)
    strides = node.integers("strides", (1,) * rank)
    dilations = node.integers("dilations", (1,) * rank)
    pads = node.integers("pads", (0,) * 2 * rank)
    auto = node.text("auto_pad", "NOTSET")
    for name, given, wanted in (
        ("strides", strides, rank),
        ("dilations", dilations, rank),
        ("pads", pads, 2 * rank),
    ):
        if len(given) != wanted or any(item < (0 if name == "pads" else 1) for item in given):
            raise node.fail(f"{name} is {given}; expected {wanted} numbers, none too small")
    if len(spatial) != rank:
        raise node.fail(f"the kernel {kernel} does not fit {len(spatial)} spatial dimensions")
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        totals = [
            max((math.ceil(extent / stride) - 1) * stride + (size - 1) * dilation + 1 - extent, 0)
            for extent, stride, size, dilation in zip(
                spatial, strides, kernel, dilations, strict=True
            )
        ]
        small = tuple(total // 2 for total in totals)
        large = tuple(total - total // 2 for total in totals)
        pads = small + large if auto == "SAME_UPPER" else large + small
    elif auto == "VALID":
        pads = (0,) * 2 * rank
    elif auto != "NOTSET":
        raise node.fail(f"auto_pad is {auto!r}; expected NOTSET, SAME_UPPER, SAME_LOWER or VALID")
    begins, ends = pads[:rank], pads[rank:]
    node.check_size([sum(widths) for widths in zip(spatial, begins, ends, strict=True)])
    return {"strides": strides, "dilations": dilations, "pads": pads}


def conv(node: OnnxNode) -> Value:
    """Convolve, channels first, with groups, and add a bias if there is one.

    Shapes: x [N, C, *spatial], w [K, C / groups, *kernel], b [K].
    Source: Conv-1 to Conv-22.
    """
    x, w, bias = node.input(0), node.input(1), node.optional(2)
    if node.rank(x) < 3 or node.rank(w) != node.rank(x):
        raise node.fail(
            f"x has rank {node.rank(x)} and w rank {node.rank(w)}; expected the same, at least 3"
        )
    kernel = node.shape(w)[2:]
    if node.integers("kernel_shape", kernel) != kernel:
        raise node.fail(
            f"kernel_shape is {node.integers('kernel_shape')}, but w is {node.shape(w)}"
        )
    window = _window(node, node.shape(x)[2:], kernel)
    args = (x, w) if bias is None else (x, w, bias)
    return node.op("conv", *args, **window, groups=node.integer("group", 1))


def max_pool(node: OnnxNode) -> Value | tuple[Value, Value]:
    """Take the maximum of each window; padding never wins. The second output holds the places of
    the maxima.

    Source: MaxPool-1 to MaxPool-22.
    """
    x = node.input(0)
    kernel = node.integers("kernel_shape")
    window = _window(node, node.shape(x)[2:], kernel)
    ceil_mode = bool(node.integer("ceil_mode", 0))
    if not node.wants(1):
        return node.op("max_pool", x, kernel=kernel, ceil_mode=ceil_mode, **window)
    both = node.op(
        "max_pool_with_indices",
        x,
        kernel=kernel,
        ceil_mode=ceil_mode,
        storage_order=node.integer("storage_order", 0),
        **window,
    )
    return node.builder.item(both, 0), node.builder.item(both, 1)


def average_pool(node: OnnxNode) -> Value:
    """Take the mean of each window.

    Source: AveragePool-1 to AveragePool-22; padding counts only with ``count_include_pad``.
    """
    x = node.input(0)
    kernel = node.integers("kernel_shape")
    return node.op(
        "avg_pool",
        x,
        kernel=kernel,
        ceil_mode=bool(node.integer("ceil_mode", 0)),
        count_include_pad=bool(node.integer("count_include_pad", 0)),
        **_window(node, node.shape(x)[2:], kernel),
    )


def global_average_pool(node: OnnxNode) -> Value:
    """Take the mean over all spatial dimensions, which stay with extent 1.

    Source: GlobalAveragePool-1 to GlobalAveragePool-22.
    """
    x = node.input(0)
    return node.op("mean", x, axes=tuple(range(2, node.rank(x))), keepdims=True)


def matmul(node: OnnxNode) -> Value:
    """Multiply matrices as numpy.matmul does.

    Source: MatMul-1 to MatMul-13.
    """
    return node.op("matmul", node.input(0), node.input(1))


def gemm(node: OnnxNode) -> Value:
    """Compute alpha * A' * B' + beta * C, where A' and B' may be transposed.

    Source: Gemm-1 to Gemm-13; before version 7 C broadcasts only where attribute ``broadcast`` says
    so.
    """
    a, b, c = node.input(0), node.input(1), node.optional(2)
    for value in (a, b):
        if node.rank(value) != 2:
            raise node.fail(f"{value.name!r} has rank {node.rank(value)}; expected a matrix")
    if node.integer("transA", 0):
        a = node.op("transpose", a, axes=(1, 0))
    if node.integer("transB", 0):
        b = node.op("transpose", b, axes=(1, 0))
    result = _scaled(node, node.op("matmul", a, b), node.number("alpha", 1.0))
    if c is None or node.number("beta", 1.0) == 0.0:
        return result
    return node.op("add", result, _scaled(node, c, node.number("beta", 1.0)))


def _scaled(node: OnnxNode, value: Value, factor: float) -> Value:
    if factor == 1.0:
        return value
    kind = numpy_dtype(node.dtype(value))
    return node.op("multiply", value, node.constant(np.array(factor).astype(kind)))


def batch_normalization(node: OnnxNode) -> Value | tuple[Value | None, ...]:
    """Normalise each channel by given statistics; in training mode by those of the batch, which
    also update the given ones.

    Source: BatchNormalization-1 to BatchNormalization-15. Up to version 13 the number of outputs
    (before 7, ``is_test``)
    says which mode is meant; from 14 on ``training_mode`` does.
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
        _mixed(node, old, new, momentum) if node.wants(at) else None
        for at, old, new in ((1, mean, batch_mean), (2, var, batch_var))
    )
    return result, *running


def _statistics(node: OnnxNode, x: Value) -> tuple[Value, Value]:
    """Take mean and population variance of each channel.

    Shapes: x [N, C, ...] -> [C] each.
    """
    axes = (0, *range(2, node.rank(x)))
    mean = node.op("mean", x, axes=axes, keepdims=True)
    centred = node.op("subtract", x, mean)
    var = node.op("mean", node.op("multiply", centred, centred), axes=axes, keepdims=False)
    return node.op("reshape", mean, shape=(node.shape(x)[1],)), var


def _mixed(node: OnnxNode, old: Value, new: Value, momentum: float) -> Value:
    kind = numpy_dtype(node.dtype(old))
    kept = node.op("multiply", old, node.constant(np.array(momentum, dtype=kind)))
    added = node.op("multiply", new, node.constant(np.array(1 - momentum, dtype=kind)))
    return node.op("add", kept, added)


def softmax(node: OnnxNode) -> Value:
    """Exponentiate and divide by the sum along an axis.

    Source: Softmax-1 to Softmax-13. Before version 13 the input is seen as a matrix, split at
    ``axis`` (1 unless given), and
    each row sums to 1; from 13 on each line along ``axis`` (the last unless given) does.
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
