"""The first elements of a tensor in order, where extents are only known at a call."""

from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.frontend.sizes import Dim, rank_kernel
from irkit.graph import TensorType, Value
from irkit.ir import I64, index


def ranked(node: OnnxNode, x: Value, axis: int, count: Dim, largest: bool) -> tuple[Value, Value]:
    """Emit the first ``count`` elements along an axis, the largest or smallest first, and where
    they are. A call with fewer elements than that is refused."""
    dims = node.dims(x)
    kernel = rank_kernel(dims, axis, count, node.dtype(x), largest=largest, asker="TopK")
    shape = tuple(index(count if at == axis else dim) for at, dim in enumerate(dims))
    types = (TensorType(shape, node.dtype(x)), TensorType(shape, I64))
    first, places = node.loops(kernel, x, types=types)
    return first, places
