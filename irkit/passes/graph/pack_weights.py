"""Keep weights of 4 or 8 bits packed, and unpack them in the kernel that multiplies by them.

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

A product with a few rows waits for memory, and packed weights are an eighth of those in f32, or a
quarter (``matmul_8bit``), if 4 bits do not hold them.
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
    """Multiply by packed weights where a constant matrix of numbers of 8 bits, or fewer, is
    dequantised, and what it is multiplied with is not.

    Scales and zero points must be constants: one, or one for each column, or for each block of rows
    of a column. Weights of 16-bit floats are no longer rounded before they are multiplied.
    """
    return apply_rules(func, "pack-weights", _RULES)


def _is_bytes(array: Array) -> bool:
    """Return True for a matrix of bytes."""
    is_byte = array.dtype.itemsize == 1 and array.dtype.kind in "iu"
    return is_byte and array.ndim == 2 and array.size > 0


def _fits_4_bits(array: Array) -> bool:
    least, most = int(array.min()), int(array.max())
    return (least >= -8 and most <= 7) or (least >= 0 and most <= 15)


def _weights() -> Pattern:
    source = known("w", _is_bytes)
    wide = op("cast", source, dtype=I32)
    zero = known("zero", lambda zero: zero.dtype.kind in "iu")
    number = either(op("subtract", wide, zero), wide, source)
    scaled = op("multiply", op("cast", number, dtype=F32), known("scale"))
    return either(op("cast", scaled), scaled)


def _packed(b: Replacement, m: Match) -> Value | None:
    w, kind = m.array("w"), dtype_of_value(m["x"])
    scale, zero = m.array("scale"), m.array("zero") if "zero" in m else np.zeros((), np.int32)
    if kind is None or not kind.is_float or kind.bits > 32 or len(extents_of(m["x"])) == 0:
        return None
    # Numbers below 16 lie around the middle of 4 bits, those of a signed byte around 0.
    is_narrow = _fits_4_bits(w)
    low, middle = (0, MIDDLE) if is_narrow else (-128, 0)
    shift = (MIDDLE if w.min() < 0 else 0) if is_narrow else (-128 if w.dtype.kind == "u" else 0)
    if zero.size and not low <= int(zero.min()) + shift <= int(zero.max()) + shift <= low + 255:
        return None
    if np.any(scale.astype(numpy_dtype(kind)) != scale):
        return None  # Scales of a wider type than the product.
    scale, zero = np.broadcast_to(scale, w.shape), np.broadcast_to(zero, w.shape)
    w = w.astype(np.int16)
    if "turned" in m:
        w, scale, zero = w.T, scale.T, zero.T
    block = _block(scale, zero)
    if block < min(2, len(w)):
        remark(m.root, f"{m.root.var.name}: each row of the weights has scales of its own")
        return None
    rows = slice(0, None, block)
    scales = np.ascontiguousarray(scale[rows]).astype(numpy_dtype(kind))
    numbers = packed(w + shift) if is_narrow else (w + shift).astype(np.int8)
    args = [m["x"], b.constant(numbers, name="packed"), b.constant(scales, name="scales")]
    zeros = zero[rows].astype(np.int32) + shift
    if np.any(zeros != middle):
        zeros = zeros.astype(np.uint8 if is_narrow else np.int8)
        args.append(b.constant(zeros, name="zeros"))
    return b.op("matmul_4bit" if is_narrow else "matmul_8bit", *args, block=block)


def _block(*arrays: Array) -> int:
    """Return the largest number of rows, counted from the first one, that are always alike."""
    found = 0
    for array in arrays:
        if array.strides[0] == 0:
            continue  # One row for all.
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
