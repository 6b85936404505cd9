"""Conversions to narrow types, and between their numbers and their bits."""

import math

import numpy as np
from numpy.typing import NDArray

from irkit.frontend.onnx.narrow_types import NarrowType, rounding_steps
from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.graph import Value
from irkit.ir import F32, F64, I8, I32, I64, U8, DType


def narrowed(
    node: OnnxNode, x: Value, kind: NarrowType, *, saturate: bool = True, mode: str = "nearest"
) -> Value:
    """Convert to a narrow type.

    An integer type takes the lower bits of integers, and of what is left of floats without their
    fractions. A float type takes the nearest number, of two the one with even bits; what is too
    large becomes the largest, or without ``saturate`` infinity or NaN.
    """
    found = (
        _float(node, x, kind, mode, saturate) if kind.limits is None else _integer(node, x, kind)
    )
    return node.as_narrow(found, kind)


def _integer(node: OnnxNode, x: Value, kind: NarrowType) -> Value:
    whole = node.cast(x, I32) if node.dtype(x).is_float else x
    return _number_of(node, node.cast(whole, U8), kind)


def _float(node: OnnxNode, x: Value, kind: NarrowType, mode: str, saturate: bool) -> Value:
    dtype = node.dtype(x)
    exact_in_f32 = dtype.bits <= 16 or dtype == F32
    x = node.cast(x, F32 if exact_in_f32 else F64)
    least, numbers = rounding_steps(kind, node.numpy_type(x), mode, saturate=saturate)
    size = node.op("abs", x)
    found = node.op("take", node.constant(numbers), count_up_to(node, least, size), axis=0)
    if kind.has_sign:
        found = node.op("where", is_negative(node, x), node.op("negative", found), found)
    if not kind.nan_bits:
        return found
    nan = node.constant(np.array(np.nan, np.float32))
    return node.op("where", node.op("isnan", x), nan, found)


def count_up_to(node: OnnxNode, ascending: NDArray[np.generic], x: Value) -> Value:
    """Count the elements of a table that are at most ``x``, by halving it; none is for NaN."""
    steps = max(len(ascending), 1).bit_length()
    table = np.full((1 << steps) - 1, np.nan, ascending.dtype)
    table[: len(ascending)] = ascending
    steps_of = node.constant(table)
    place = node.op("full", shape=node.shape(x), value=0, dtype=str(I64))
    for half in (1 << step for step in reversed(range(steps))):
        probe = node.op("take", steps_of, node.op("add", place, half - 1), axis=0)
        further = node.cast(node.op("greater_equal", x, probe), I64)
        place = node.op("add", place, node.op("multiply", further, half))
    return place


def is_negative(node: OnnxNode, x: Value) -> Value:
    """Return whether the sign of a float is set, also that of a zero, but not that of NaN."""
    zero = node.op("equal", x, 0)
    return node.op("less", node.op("where", zero, node.op("reciprocal", x), x), 0)


def from_bits(node: OnnxNode, bits: Value, kind: NarrowType) -> Value:
    """Return the numbers that the bits of a narrow type stand for."""
    return node.as_narrow(_number_of(node, bits, kind), kind)


def _number_of(node: OnnxNode, bits: Value, kind: NarrowType) -> Value:
    mask = (1 << kind.bits) - 1
    bits = node.op("bitwise_and", bits, mask) if mask < 255 else bits
    if kind.limits is None:
        return node.op("take", node.constant(kind.numbers), node.cast(bits, I64), axis=0)
    if kind.limits[0] == 0:
        return bits
    sign = 1 << (kind.bits - 1)
    return node.op("subtract", node.cast(node.op("bitwise_xor", bits, sign), I8), sign)


def to_bits(node: OnnxNode, x: Value, kind: NarrowType) -> Value:
    """Return the bits of numbers of a narrow type; those of NaN are always the same."""
    if kind.limits is not None:
        return node.op("bitwise_and", node.cast(x, U8), (1 << kind.bits) - 1)
    held = kind.magnitudes
    held = np.append(held, np.float32(np.inf)) if kind.has_infinity else held
    code = count_up_to(node, held[1:], node.op("abs", x))
    if kind.has_sign:
        sign = node.op("multiply", node.cast(is_negative(node, x), I64), 1 << (kind.bits - 1))
        signed = node.op("add", code, sign)
        keeps = kind.has_negative_zero
        code = signed if keeps else node.op("where", node.op("equal", code, 0), code, signed)
    if kind.nan_bits:
        nan = node.constant(np.array(kind.nan_bits, np.int64))
        code = node.op("where", node.op("isnan", x), nan, code)
    return node.cast(code, U8)


_FRACTION = {16: 10, 32: 23, 64: 52}


def float_bits(node: OnnxNode, x: Value) -> Value:
    """Return the bits of floats, as i64; those of NaN are always the same.

    The exponent is counted in a table of powers of two; all of it is exact in f64.
    """
    bits, fraction = float_layout(node.dtype(x))
    bias = (1 << (bits - fraction - 2)) - 1
    wide = node.cast(x, F64)
    size = node.op("abs", wide)
    powers = np.array([math.ldexp(1.0, e - bias) for e in range(1, 2 * bias + 1)] + [math.inf])
    exponent = count_up_to(node, powers, size)
    # A number below the least power counts in steps of the smallest; infinity has no fraction.
    units = np.concatenate([[math.ldexp(1.0, 1 - bias)], powers[:-1], [1.0]])
    ratio = node.op("divide", size, node.op("take", node.constant(units), exponent, axis=0))
    offsets = np.concatenate([[0.0], np.ones(2 * bias)])
    taken = node.op("take", node.constant(np.append(offsets, 0.0)), exponent, axis=0)
    part = node.op("multiply", node.op("subtract", ratio, taken), float(1 << fraction))
    infinite = node.op("isinf", wide)
    part = node.cast(node.op("where", infinite, 0.0, part), I64)
    found = node.op("add", node.op("multiply", exponent, 1 << fraction), part)
    top = -(1 << 63) if bits == 64 else 1 << (bits - 1)
    sign = node.constant(np.array(top, np.int64))
    found = node.op("where", is_negative(node, wide), node.op("add", found, sign), found)
    nan = node.constant(np.array(((4 * bias + 3) << (fraction - 1)), np.int64))
    return node.op("where", node.op("isnan", wide), nan, found)


def float_of_bits(node: OnnxNode, bits: Value, width: int, fraction: int) -> Value:
    """Return the floats, as f64, that bits in i64 stand for; a NaN loses what its fraction says."""
    bias = (1 << (width - fraction - 2)) - 1
    exponent = node.op("shift_right", bits, fraction)
    exponent = node.op("bitwise_and", exponent, 2 * bias + 1)
    part = node.op("bitwise_and", bits, (1 << fraction) - 1)
    places = np.arange(2 * bias + 2)
    units = np.ldexp(1.0, np.maximum(places, 1) - bias - fraction)
    units[-1] = np.inf
    first = np.where(places > 0, float(1 << fraction), 0.0)
    whole = node.op("take", node.constant(first), exponent, axis=0)
    number = node.op("add", node.cast(part, F64), whole)
    size = node.op("multiply", number, node.op("take", node.constant(units), exponent, axis=0))
    is_nan = node.op(
        "logical_and", node.op("equal", exponent, 2 * bias + 1), node.op("not_equal", part, 0)
    )
    size = node.op("where", is_nan, node.constant(np.array(np.nan)), size)
    sign = node.op("bitwise_and", node.op("shift_right", bits, width - 1), 1)
    return node.op("where", node.op("equal", sign, 1), node.op("negative", size), size)


def float_layout(dtype: DType) -> tuple[int, int]:
    """Return the bits of a float type, and how many of them are its fraction."""
    return dtype.bits, 7 if dtype.kind == "bf" else _FRACTION[dtype.bits]
