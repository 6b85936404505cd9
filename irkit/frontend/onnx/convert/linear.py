"""Products of matrices."""

import numpy as np

from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.graph import Value
from irkit.ir import numpy_dtype


def matmul(node: OnnxNode) -> Value:
    """Multiply matrices as numpy.matmul does.

    Source: MatMul-1 to MatMul-13.
    """
    return node.op("matmul", node.input(0), node.input(1))


def gemm(node: OnnxNode) -> Value:
    """Compute alpha * A' * B' + beta * C, where A' and B' may be transposed.

    Source: Gemm-1 to Gemm-13; before version 7 C broadcasts only if attribute ``broadcast`` is set.
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
