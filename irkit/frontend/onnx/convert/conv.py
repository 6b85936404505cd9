"""Convolution."""

from irkit.frontend.onnx.convert.window import window_attributes
from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.graph import Value


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
    window = window_attributes(node, node.shape(x)[2:], kernel)
    args = (x, w) if bias is None else (x, w, bias)
    return node.op("conv", *args, **window, groups=node.integer("group", 1))
