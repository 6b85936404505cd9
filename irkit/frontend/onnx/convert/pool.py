"""Pools: maximum and mean of windows."""

import math

from irkit.frontend.onnx.convert.window import window_attributes
from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.graph import Value


def max_pool(node: OnnxNode) -> Value | tuple[Value, Value]:
    """Compute the maximum of each window, without padding; output 1 holds the indices of the
    maxima.

    Source: MaxPool-1 to MaxPool-22.
    """
    x = node.input(0)
    kernel = node.integers("kernel_shape")
    window = window_attributes(node, node.shape(x)[2:], kernel)
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
    """Compute the mean of each window.

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
        **window_attributes(node, node.shape(x)[2:], kernel),
    )


def global_average_pool(node: OnnxNode) -> Value:
    """Compute the mean over all spatial dimensions, which stay with extent 1.

    Source: GlobalAveragePool-1 to GlobalAveragePool-22.
    """
    x = node.input(0)
    return node.op("mean", x, axes=tuple(range(2, node.rank(x))), keepdims=True)


def global_max_pool(node: OnnxNode) -> Value:
    """Compute the maximum over all spatial dimensions, which stay with extent 1.

    Source: GlobalMaxPool-1, GlobalMaxPool-22.
    """
    x = node.input(0)
    return node.op("max", x, axes=tuple(range(2, node.rank(x))), keepdims=True)


def global_lp_pool(node: OnnxNode) -> Value:
    """Compute the p-norm over all spatial dimensions, which stay with extent 1.

    Source: GlobalLpPool-1 (p is a float) to GlobalLpPool-22.
    """
    x = node.input(0)
    p = node.number("p", 2.0) if node.version < 2 else node.integer("p", 2)
    powers = _powers(node, x, p)
    total = node.op("sum", powers, axes=tuple(range(2, node.rank(x))), keepdims=True)
    return node.op("power", total, 1 / p)


def lp_pool(node: OnnxNode) -> Value:
    """Compute the p-norm of each window; padding counts as 0.

    Source: LpPool-1 (p is a float) to LpPool-22.
    """
    x = node.input(0)
    p = node.number("p", 2.0) if node.version < 2 else node.integer("p", 2)
    kernel = node.integers("kernel_shape")
    window = window_attributes(node, node.shape(x)[2:], kernel)
    pads = list(window["pads"])
    rank = len(kernel)
    if node.integer("ceil_mode", 0):
        for at, extent in enumerate(node.shape(x)[2:]):
            reach = (kernel[at] - 1) * window["dilations"][at] + 1
            stride = window["strides"][at]
            room = extent + pads[at] + pads[rank + at] - reach
            # A window that would begin in the padding at the end is left out.
            count = min(-(-room // stride) + 1, -(-(extent + pads[at]) // stride))
            pads[rank + at] = (count - 1) * stride + reach - extent - pads[at]
    padded = node.op("pad", _powers(node, x, p), pads=(0, 0, *pads[:rank], 0, 0, *pads[rank:]))
    mean = node.op(
        "avg_pool",
        padded,
        kernel=kernel,
        strides=window["strides"],
        dilations=window["dilations"],
        pads=(0,) * 2 * rank,
        ceil_mode=False,
        count_include_pad=True,
    )
    return node.op("power", node.op("multiply", mean, math.prod(kernel)), 1 / p)


def _powers(node: OnnxNode, x: Value, p: float) -> Value:
    if p <= 0:
        raise node.fail(f"p is {p}; expected a positive number")
    return node.op("power", node.op("abs", x), p)
