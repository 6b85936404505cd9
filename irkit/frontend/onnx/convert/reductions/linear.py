"""Products of matrices."""

import numpy as np

from irkit.frontend.onnx.limits import MAX_ELIMINATED
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


def determinant(node: OnnxNode) -> Value:
    """Compute determinants by elimination, with the largest element of each column as pivot.

    Source: Det-11, Det-22.
    """
    x = node.input(0)
    *lead, size, other = node.shape(x) if node.rank(x) >= 2 else (0, 1)
    if size != other or size > MAX_ELIMINATED:
        raise node.fail(
            f"matrices of {size} x {other}; expected square ones up to {MAX_ELIMINATED}"
        )
    rank = len(lead)
    result = node.constant(np.ones(lead, node.numpy_type(x)))
    for left in range(size, 0, -1):
        column = node.op("slice", x, begins=(0,), ends=(1,), strides=(1,), axes=(rank + 1,))
        pivot = node.op("argmax", node.op("abs", column), axis=rank, keepdims=True)
        here = node.op("equal", node.constant(np.arange(left)[:, None]), pivot)
        row = node.op("sum", node.op("where", here, x, 0), axes=(rank,), keepdims=True)
        first = node.op("slice", x, begins=(0,), ends=(1,), strides=(1,), axes=(rank,))
        # The pivot's row changes places with the first, which changes the sign.
        swapped = node.op("where", here, first, x)
        head = node.op("slice", row, begins=(0,), ends=(1,), strides=(1,), axes=(rank + 1,))
        value = node.op("reshape", head, shape=tuple(lead))
        stays = node.op("equal", node.op("reshape", pivot, shape=tuple(lead)), 0)
        signed = node.op("where", stays, value, node.op("negative", value))
        result = node.op("multiply", result, signed)
        if left == 1:
            break
        rest = node.op("slice", swapped, begins=(1,), ends=(left,), strides=(1,), axes=(rank,))
        below = node.op("slice", rest, begins=(0,), ends=(1,), strides=(1,), axes=(rank + 1,))
        safe = node.op("where", node.op("equal", head, 0), 1, head)
        cut = node.op("multiply", node.op("divide", below, safe), row)
        rest = node.op("subtract", rest, cut)
        x = node.op("slice", rest, begins=(1,), ends=(left,), strides=(1,), axes=(rank + 1,))
    return result
