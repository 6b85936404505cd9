"""Keep weights of 4 bits packed, and unpack them in the kernel that multiplies by them.

Before::

    def main(x: f32[1, 4]):
        w: i8[4, 2] = constant([1, -8, 3, 7, -1, 0, 2, 5])
        s: f32[2] = constant([0.5, 0.25])
        a: f32[4, 2] = cast(w, dtype="f32")
        b: f32[4, 2] = multiply(a, s)
        y: f32[1, 2] = matmul(x, b)
        return y

After::

    def main(x: f32[1, 4]):
        w: i8[4, 2] = constant([1, -8, 3, 7, -1, 0, 2, 5])
        s: f32[2] = constant([0.5, 0.25])
        a: f32[4, 2] = cast(w, dtype="f32")
        b: f32[4, 2] = multiply(a, s)
        y_packed: u8[2, 2] = constant([185, 240, 167, 216])
        y_scales: f32[1, 2] = constant([0.5, 0.25])
        y: f32[1, 2] = matmul_4bit(x, y_packed, y_scales, block=4)
        return y

A product with a few rows waits for memory, and packed weights are an eighth of those in f32.
"""

from math import gcd

import numpy as np

from irkit.core import remark
from irkit.graph import (
    MIDDLE,
    Array,
    GraphFunc,
    Match,
    Pattern,
    Replacement,
    Value,
    apply_rules,
    dtype_of_value,
    either,
    extents_of,
    graph_rule,
    hole,
    known,
    op,
    packed,
)
from irkit.ir import F32, I32, numpy_dtype
from irkit.transform import define_pass


@define_pass(idempotent=True, changes_rounding=True)
def pack_weights(func: GraphFunc) -> GraphFunc:
    """Multiply by packed weights where a constant matrix of numbers of 4 bits is dequantised.

    Scales and zero points must be constants: one, or one for each column, or for each block of rows
    of a column. Weights of 16-bit floats are no longer rounded before they are multiplied.
    """
    return apply_rules(func, "pack-weights", _RULES)


def _is_narrow(array: Array) -> bool:
    """Return True for a matrix of bytes whose numbers 4 bits can hold."""
    if array.dtype.itemsize != 1 or array.dtype.kind not in "iu" or array.ndim != 2:
        return False
    if not array.size:
        return False
    least, most = int(array.min()), int(array.max())
    return (least >= -8 and most <= 7) or (least >= 0 and most <= 15)


def _weights() -> Pattern:
    source = known("w", _is_narrow)
    wide = op("cast", source, dtype=I32)
    zero = known("zero", lambda zero: zero.dtype.kind in "iu")
    number = either(op("subtract", wide, zero), wide, source)
    scaled = op("multiply", op("cast", number, dtype=F32), known("scale"))
    return either(op("cast", scaled), scaled)


def _packed(b: Replacement, m: Match) -> Value | None:
    w, kind = m.array("w").astype(np.int32), dtype_of_value(m["x"])
    scale = np.broadcast_to(m.array("scale"), w.shape)
    zero = np.broadcast_to(m.array("zero") if "zero" in m else 0, w.shape)
    if "turned" in m:
        w, scale, zero = w.T, scale.T, zero.T
    if kind is None or not kind.is_float or kind.bits > 32 or len(extents_of(m["x"])) == 0:
        return None
    shift = MIDDLE if w.min() < 0 else 0
    if np.any(zero + shift < 0) or np.any(zero + shift > 255):
        return None
    if np.any(scale.astype(numpy_dtype(kind)) != scale):
        return None  # Scales of a wider type than the product.
    block = _block(scale, zero)
    if block < min(2, len(w)):
        remark(m.root, f"{m.root.var.name}: each row of the weights has scales of its own")
        return None
    rows = slice(0, None, block)
    scales = np.ascontiguousarray(scale[rows]).astype(numpy_dtype(kind))
    args = [m["x"], b.constant(packed(w + shift), name="packed")]
    args.append(b.constant(scales, name="scales"))
    if np.any(zero + shift != MIDDLE):
        args.append(b.constant((zero[rows] + shift).astype(np.uint8), name="zeros"))
    return b.op("matmul_4bit", *args, block=block)


def _block(*arrays: Array) -> int:
    """Return the largest number of rows, counted from the first one, that are always alike."""
    found = 0
    for array in arrays:
        changed = np.any(array[1:] != array[:-1], axis=1)
        for at in np.flatnonzero(changed):
            found = gcd(found, int(at) + 1)
    return found or len(arrays[0])


_WEIGHTS = _weights()
_RULES = (
    graph_rule("pack-weights", op("matmul", hole("x"), _WEIGHTS), _packed, shared=True),
    graph_rule(
        "pack-transposed-weights",
        op("matmul", hole("x"), op("transpose", _WEIGHTS, name="turned")),
        _packed,
        shared=True,
    ),
)
