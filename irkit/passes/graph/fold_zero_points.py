"""Multiply bytes as they are, and subtract what their zero points add to the sums.

Before::

    def main(x: u8[2, 3]):
        w: i8[3, 2] = constant([1, 2, 3, 4, 5, 6])
        z: i16[1] = constant([7])
        a: i16[2, 3] = cast(x, dtype="i16")
        b: i16[2, 3] = subtract(a, z)
        y: i32[2, 2] = matmul_integer(b, w)
        return y

After::

    def main(x: u8[2, 3]):
        w: i8[3, 2] = constant([1, 2, 3, 4, 5, 6])
        z: i16[1] = constant([7])
        a: i16[2, 3] = cast(x, dtype="i16")
        b: i16[2, 3] = subtract(a, z)
        y_matmul_integer: i32[2, 2] = matmul_integer(x, w)
        y_cast: i32[1] = cast(z, dtype="i32")
        y_sums: i32[2] = constant([9, 12])
        y_multiply: i32[2] = multiply(y_cast, y_sums)
        y: i32[2, 2] = subtract(y_matmul_integer, y_multiply)
        return y

Bytes take half the memory of the 16 bits that differences need, and their products fewer
instructions. Integers wrap around, so the result is the same for any operands.
"""

import numpy as np

from irkit.graph import (
    Array,
    GraphFunc,
    Match,
    Op,
    Replacement,
    Value,
    apply_rules,
    attributes,
    dtype_of_value,
    extents_of,
    graph_rule,
    hole,
    known,
    op,
)
from irkit.ir import I16, I32
from irkit.transform import define_pass


@define_pass(idempotent=True)
def fold_zero_points(func: GraphFunc) -> GraphFunc:
    """Take zero points out of integer products with constant weights.

    The zero point of a convolution must be one constant: it fills the pads.
    """
    return apply_rules(func, "fold-zero-points", _RULES)


def _is_byte(value: Value) -> bool:
    dtype = dtype_of_value(value)
    return dtype is not None and dtype.is_integer and dtype.bits == 8


def _is_short_of_bytes(array: Array) -> bool:
    """Return True for 16-bit numbers that 8 bits can hold."""
    return array.dtype == np.int16 and array.size > 0 and _byte_type(array) is not None


def _byte_type(array: Array) -> type[np.generic] | None:
    low, high = int(array.min()), int(array.max())
    return np.int8 if low >= -128 and high <= 127 else np.uint8 if low >= 0 and high < 256 else None


def _narrowed(b: Replacement, m: Match) -> Value | None:
    array = m.array("w")
    kind = _byte_type(array)
    assert kind is not None
    w = b.constant(array.astype(kind), name="weights")
    return b.emit(m.root_op.replace(args=(m.root_op.args[0], w)), m.root_op.name)


def _product(b: Replacement, m: Match) -> Value | None:
    zero = extents_of(m["zero"])
    if zero[-1:] not in ((), (1,)) or len(zero) > len(extents_of(m["x"])):
        return None
    total = b.op("matmul_integer", m["x"], m["w"])
    return _less(b, total, m["zero"], m.array("w").sum(axis=-2, dtype=np.int32))


def _convolution(b: Replacement, m: Match) -> Value | None:
    options, w, x = attributes(m.root_op), m.array("w"), m["x"]
    spatial = w.ndim - 2
    if m.array("zero").ndim > w.ndim:
        return None
    pads, zero = options.ints("pads"), m.array("zero").reshape(())
    if any(pads):
        info = np.iinfo(np.int8 if str(dtype_of_value(x)) == "i8" else np.uint8)
        if not info.min <= int(zero) <= info.max:
            return None
        begins, ends = (0, 0, *pads[:spatial]), (0, 0, *pads[spatial:])
        x = b.op("pad", x, pads=(*begins, *ends), value=int(zero))
    attrs = tuple((name, value) for name, value in m.root_op.attrs if name != "pads")
    total = b.emit(Op("conv_integer", (x, m["w"]), attrs), "conv_integer")
    sums = w.sum(axis=tuple(range(1, w.ndim)), dtype=np.int32).reshape(-1, *(1,) * spatial)
    return _less(b, total, m["zero"], sums)


def _less(b: Replacement, total: Value, zero: Value, sums: Array) -> Value:
    factor = b.op("multiply", b.op("cast", zero, dtype=I32), b.constant(sums, name="sums"))
    return b.op("subtract", total, factor)


_X = hole("x", _is_byte)
_WIDE = op("cast", _X, dtype=I16)
_RULES = (
    graph_rule(
        "narrow-weights", op("matmul_integer", hole("x"), known("w", _is_short_of_bytes)), _narrowed
    ),
    graph_rule(
        "narrow-filters", op("conv_integer", hole("x"), known("w", _is_short_of_bytes)), _narrowed
    ),
    graph_rule(
        "zero-point-of-a-product",
        op("matmul_integer", op("subtract", _WIDE, hole("zero")), known("w", lambda w: w.ndim > 1)),
        _product,
        shared=True,
    ),
    graph_rule(
        "zero-point-of-a-convolution",
        op(
            "conv_integer",
            op("subtract", _WIDE, known("zero", lambda zero: zero.size == 1)),
            known("w"),
        ),
        _convolution,
        shared=True,
    ),
)
