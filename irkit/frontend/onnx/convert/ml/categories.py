"""Categories that are numbers: LabelEncoder, OneHotEncoder and ZipMap."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from irkit.frontend.onnx.convert.ml.table_size import in_table, table_size
from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.graph import Value
from irkit.ir import F32, I64


def label_encoder(node: OnnxNode) -> Value:
    """Replace each key by its value, and all others by a default; NaN is a key like others.

    Source: ai.onnx.ml LabelEncoder-2, LabelEncoder-4; version 1 is between numbers and strings.
    """
    x, keys, values, default = node.input(0), *_table(node)
    if len(keys) != len(values) or not len(keys):
        raise node.fail(f"it has {len(keys)} keys and {len(values)} values")
    if node.numpy_type(x) != keys.dtype:
        raise node.fail(f"its keys are {keys.dtype}, but its input is {node.dtype(x)}")
    # Of equal keys the last one counts. Whether a place was found is tested afterwards.
    order = in_table(np.arange(len(keys))[::-1], table_size(len(keys)))
    known = node.constant(np.ascontiguousarray(keys[order]))
    wide = node.op("expand_dims", x, axes=(-1,))
    node.check_size((*node.shape(x), len(order)))
    place = node.op("argmax", node.cast(_same(node, wide, known), I64), axis=node.rank(x))
    found = _same(node, x, node.op("take", known, place, axis=0))
    value = node.op("take", node.constant(np.ascontiguousarray(values[order])), place, axis=0)
    return node.op("where", found, value, node.constant(default))


def _same(node: OnnxNode, a: Value, b: Value) -> Value:
    equal = node.op("equal", a, b)
    if not node.dtype(a).is_float:
        return equal
    neither = node.op("logical_and", node.op("isnan", a), node.op("isnan", b))
    return node.op("logical_or", equal, neither)


def _table(node: OnnxNode) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the keys, the values and the default."""
    for name in ("classes_strings", "keys_strings", "values_strings"):
        if node.has(name):
            raise _strings(node, name)
    keys, values = _column(node, "keys"), _column(node, "values")
    if node.has("values_tensor"):
        if not node.has("default_tensor"):
            raise node.fail("it has values_tensor, and so needs default_tensor")
        default = node.tensor("default_tensor").reshape(-1)
        if default.shape != (1,) or default.dtype != values.dtype:
            raise node.fail(f"default_tensor must be one {values.dtype}")
        return keys, values, default.reshape(())
    other = node.integer("default_int64", -1) if values.dtype.kind == "i" else None
    number = node.number("default_float", -0.0) if other is None else other
    return keys, values, np.array(number, dtype=values.dtype)


def _column(node: OnnxNode, name: str) -> NDArray[Any]:
    if node.has(f"{name}_tensor"):
        return node.tensor(f"{name}_tensor").reshape(-1)
    if node.has(f"{name}_int64s"):
        return np.array(node.integers(f"{name}_int64s"), dtype=np.int64)
    return np.array(node.numbers(f"{name}_floats"), dtype=np.float32)


def _strings(node: OnnxNode, name: str) -> Exception:
    return node.fail(
        f"attribute {name} holds strings, which irkit does not support",
        hint="Number the categories before they reach the model, and export it again.",
    )


def one_hot_encoder(node: OnnxNode) -> Value:
    """Return 1 in the column of the category of each element, and 0 in the others; an element of no
    category gets zeros, even where attribute ``zeros`` calls it an error.

    Source: ai.onnx.ml OneHotEncoder-1.
    """
    if node.has("cats_strings") and node.texts("cats_strings"):
        raise _strings(node, "cats_strings")
    x, categories = node.input(0), np.array(node.integers("cats_int64s"), dtype=np.int64)
    node.check_size((*node.shape(x), len(categories)))
    wide = node.op("expand_dims", node.cast(x, I64), axes=(-1,))
    return node.cast(node.op("equal", wide, node.constant(categories)), F32)


def zip_map(node: OnnxNode) -> Value:
    """Return the probabilities as they are, one column for each label, instead of a dictionary for
    each row.

    Source: ai.onnx.ml ZipMap-1.
    """
    return node.input(0)
