"""Operators that make constants."""

import numpy as np

from irkit.frontend.onnx.convert.math.shaped import shaped
from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.graph import Value


def constant(node: OnnxNode) -> Value:
    """Return the tensor that an attribute holds.

    Source: Constant-1 to Constant-25.
    """
    if node.has("value"):
        return node.constant(node.tensor("value"))
    if node.has("value_float"):
        return node.constant(np.array(node.number("value_float"), dtype=np.float32))
    if node.has("value_int"):
        return node.constant(np.array(node.integer("value_int"), dtype=np.int64))
    if node.has("value_ints"):
        return node.constant(np.array(node.integers("value_ints"), dtype=np.int64))
    if node.has("value_floats"):
        return node.constant(np.array(node.numbers("value_floats"), dtype=np.float32))
    raise node.fail(
        "it holds neither a tensor nor numbers; sparse and string constants are not supported"
    )


def constant_of_shape(node: OnnxNode) -> Value:
    """Return a tensor filled with one value, by default 0.0; its shape must be known on import.

    Source: ConstantOfShape-9 to ConstantOfShape-25.
    """
    shape = node.sizes(0, "shape")
    if shape is None or any(isinstance(dim, int) and dim < 0 for dim in shape):
        raise node.fail(f"{shape} is not a shape")
    value = node.tensor("value") if node.has("value") else np.zeros(1, dtype=np.float32)
    if value.size != 1:
        raise node.fail(f"attribute 'value' must hold one element, found {value.size}")
    known = [dim for dim in shape if isinstance(dim, int)]
    if len(known) == len(shape):
        return node.full(known, value)
    one = node.constant(value.reshape(()))
    return shaped(node, "broadcast_to", one, shape=shape)
