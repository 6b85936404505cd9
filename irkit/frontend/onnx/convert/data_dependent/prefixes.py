"""Outputs that are cut to a number of elements which is only known when the model runs."""

from irkit.frontend.onnx.convert.shapes.size_kernels import window
from irkit.frontend.onnx.onnx_node import Counted, OnnxNode
from irkit.frontend.sizes import Window
from irkit.graph import TensorType, Value
from irkit.ir import I64, Expr


def prefixes(node: OnnxNode, found: Counted) -> list[Value | None]:
    """Return the outputs with the dimension that ``found.count`` decides, the same for all.

    The first of them binds it, along its first axis; the others are copied.
    """
    count = node.op("reshape", node.cast(found.count, I64), shape=())
    extent: Expr | None = None
    made: list[Value | None] = []
    for value, axis in zip(found.outputs, found.axes, strict=True):
        if value is None or axis is None:
            made.append(value)
            continue
        rows = _moved(node, value, axis, 0)
        if extent is None:
            rows = node.prefix(rows, count)
            extent = _first(rows)
        else:
            rest = node.dims(rows)[1:]
            copied = window(node, rows, [Window(0, dim) for dim in (extent, *rest)])
            rows = node.alike(copied, rows)
        made.append(_moved(node, rows, 0, axis))
    return made


def prefix_along(node: OnnxNode, value: Value, axis: int, count: Value) -> Value:
    """Return the first places of a value along an axis, as many as a scalar says."""
    return _moved(node, node.prefix(_moved(node, value, axis, 0), count), 0, axis)


def _first(value: Value) -> Expr:
    assert isinstance(value.type, TensorType)
    return value.type.shape[0]


def _moved(node: OnnxNode, value: Value, axis: int, to: int) -> Value:
    """Move an axis to another place."""
    if axis == to:
        return value
    order = [at for at in range(node.rank(value)) if at != axis]
    order.insert(to, axis)
    return node.op("transpose", value, axes=tuple(order))
