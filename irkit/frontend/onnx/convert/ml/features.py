"""Features made ready for a model: Scaler, Normalizer, Binarizer, Imputer, ArrayFeatureExtractor
and FeatureVectorizer."""

import numpy as np

from irkit.frontend.onnx.convert.ml.scores import rows_of
from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.graph import Value
from irkit.ir import F32, F64


def scaler(node: OnnxNode) -> Value:
    """Subtract an offset and multiply by a scale, one for each feature or one for all.

    Source: ai.onnx.ml Scaler-1.
    """
    x = rows_of(node)
    width, kind = node.shape(x)[1], node.numpy_type(x)
    offset, scale = (
        np.array(node.numbers(name, ()) or (start,))
        for name, start in (("offset", 0.0), ("scale", 1.0))
    )
    if len(offset) not in (1, width) or len(scale) not in (1, width):
        raise node.fail(
            f"it has {len(offset)} offsets and {len(scale)} scales; expected 1 or {width}"
        )
    moved = node.op("subtract", x, node.constant(offset.astype(kind)))
    return node.cast(node.op("multiply", moved, node.constant(scale.astype(kind))), F32)


def normalizer(node: OnnxNode) -> Value:
    """Divide each row by its largest element, by the sum of its absolute values, or by the root of
    the sum of its squares; a row whose divisor is 0 stays.

    Source: ai.onnx.ml Normalizer-1.
    """
    x, norm = rows_of(node), node.text("norm", "MAX")
    if norm == "MAX":
        size = node.op("max", x, axes=(1,), keepdims=True)
    elif norm == "L1":
        size = node.op("sum", node.op("abs", x), axes=(1,), keepdims=True)
    elif norm == "L2":
        squares = node.op("sum", node.op("multiply", x, x), axes=(1,), keepdims=True)
        size = node.op("sqrt", squares)
    else:
        raise node.fail(f"norm is {norm!r}; expected MAX, L1 or L2")
    divisor = node.op("where", node.op("equal", size, 0), 1, size)
    return node.cast(node.op("divide", x, divisor), F32)


def binarizer(node: OnnxNode) -> Value:
    """Return 1 where a feature is above the threshold, and 0 elsewhere.

    Source: ai.onnx.ml Binarizer-1.
    """
    x, threshold = node.input(0), node.number("threshold", 0.0)
    wide = x if node.dtype(x).is_float else node.cast(x, F64)
    return node.cast(node.op("greater", wide, threshold), node.dtype(x))


def imputer(node: OnnxNode) -> Value:
    """Replace elements of one value, or those that are not a number, by a value for each feature or
    one for all.

    Source: ai.onnx.ml Imputer-1.
    """
    x = rows_of(node, floats=False)
    if node.dtype(x).is_float:
        old, new = node.number("replaced_value_float", 0.0), node.numbers("imputed_value_floats")
    else:
        old, new = node.integer("replaced_value_int64", 0), node.integers("imputed_value_int64s")
    width = node.shape(x)[1]
    if len(new) not in (1, width):
        raise node.fail(f"it has {len(new)} imputed values; expected 1 or {width}")
    missing = node.op("isnan", x) if np.isnan(old) else node.op("equal", x, old)
    return node.op("where", missing, node.constant(np.array(new, dtype=node.numpy_type(x))), x)


def array_feature_extractor(node: OnnxNode) -> Value:
    """Pick columns by number; of a vector, the result is one row.

    Source: ai.onnx.ml ArrayFeatureExtractor-1.
    """
    x, columns = node.input(0), node.op("reshape", node.input(1), shape=(-1,))
    if not node.rank(x):
        raise node.fail(f"{x.name!r} has no columns")
    count = node.shape(x)[-1]
    if node.is_known(1):
        numbers = node.array_of(node.input(1), "columns").astype(np.int64)
        outside = numbers[(numbers < 0) | (numbers >= count)]
        if outside.size:
            raise node.fail(f"it picks column {outside[0]} of {count}")
    picked = node.op("take", x, columns, axis=node.rank(x) - 1)
    return node.op("reshape", picked, shape=(1, -1)) if node.rank(x) == 1 else picked


def feature_vectorizer(node: OnnxNode) -> Value:
    """Join features side by side, each cut, or filled with zeros, to the width that an attribute
    says.

    Source: ai.onnx.ml FeatureVectorizer-1.
    """
    parts = [_column(node, node.input(at)) for at in range(len(node.inputs))]
    widths = node.integers("inputdimensions", ()) or [node.shape(part)[1] for part in parts]
    if len(widths) != len(parts) or min(widths, default=-1) < 0:
        raise node.fail(f"inputdimensions is {widths}; expected a width for each of {len(parts)}")
    fitted = [
        node.op("pad", part, pads=(0, 0, 0, width - node.shape(part)[1]), value=0)
        for part, width in zip(parts, widths, strict=True)
    ]
    return node.op("concat", *fitted, axis=1)


def _column(node: OnnxNode, x: Value) -> Value:
    if node.rank(x) not in (1, 2):
        raise node.fail(f"{x.name!r} has rank {node.rank(x)}; expected one column or rows")
    return node.cast(node.op("reshape", x, shape=(-1, 1)) if node.rank(x) == 1 else x, F32)
