"""Pools: maximum and mean of windows."""

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
