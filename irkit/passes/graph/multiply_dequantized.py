"""Multiply dequantised tensors as integers: the products are exact, and scaled once.

Before::

    def main(x: u8[2, 3], w: i8[3, 4]):
        s: f32[1] = constant([0.5])
        a: f32[2, 3] = cast(x, dtype="f32")
        b: f32[2, 3] = multiply(a, s)
        c: f32[3, 4] = cast(w, dtype="f32")
        d: f32[3, 4] = multiply(c, s)
        y: f32[2, 4] = matmul(b, d)
        return y

After::

    def main(x: u8[2, 3], w: i8[3, 4]):
        s: f32[1] = constant([0.5])
        a: f32[2, 3] = cast(x, dtype="f32")
        b: f32[2, 3] = multiply(a, s)
        c: f32[3, 4] = cast(w, dtype="f32")
        d: f32[3, 4] = multiply(c, s)
        y_matmul_integer: i32[2, 4] = matmul_integer(x, w)
        y_cast: f32[2, 4] = cast(y_matmul_integer, dtype="f32")
        y_scale: f32[()] = constant([0.25])
        y: f32[2, 4] = multiply(y_cast, y_scale)
        return y

The sums have no rounding errors, where those of floats have one for each term: so a result that is
quantised again can move by one step, to that of the exact sum.
"""

from math import prod

import numpy as np

from irkit.core import remark
from irkit.graph import (
    Array,
    GraphFunc,
    Match,
    Op,
    OpPattern,
    Pattern,
    Replacement,
    Value,
    apply_rules,
    attributes,
    dtype_of_value,
    either,
    extents_of,
    graph_rule,
    hole,
    known,
    op,
)
from irkit.ir import F32, I16, I32
from irkit.transform import define_pass

_MOST = 2**31 // 255**2
"""Products of 8-bit numbers whose sum fits into 32 bits."""


@define_pass(idempotent=True, changes_rounding=True)
def multiply_dequantized(func: GraphFunc) -> GraphFunc:
    """Replace products and convolutions of dequantised 8-bit tensors by those of integers.

    The scale of the first operand must be one number, that of the second one number a column or
    filter; scales and zero points must be constants. Pools and changes of shape are moved before
    the scaling, and a tensor that is quantised again by the same numbers is left as it was.
    """
    return apply_rules(func, "multiply-dequantized", _RULES)


def _is_byte(value: Value) -> bool:
    dtype = dtype_of_value(value)
    return dtype is not None and dtype.is_integer and dtype.bits == 8


def _is_scale(array: Array) -> bool:
    """Return True for scales whose products with bytes, and with each other, are normal numbers."""
    return bool(np.all((array > 1e-15) & (array < 1e15)))


def _is_zero_point(array: Array) -> bool:
    return array.dtype.kind in "iu" and bool(np.all((array >= -128) & (array <= 255)))


def _dequantized(name: str) -> Pattern:
    """Return the pattern of a byte tensor ``name`` less a zero point, times a scale."""
    source = hole(name, _is_byte)
    wide = op("cast", source, dtype=I32)
    centred = op("subtract", wide, known(f"{name}_zero", _is_zero_point))
    scale = known(f"{name}_scale", _is_scale)
    return op("multiply", op("cast", either(centred, wide, source), dtype=F32), scale)


def _centred(b: Replacement, m: Match, name: str) -> Value:
    """Return a tensor less its zero point, exactly; that itself if the zero point is 0."""
    if f"{name}_zero" not in m or not np.any(zero := m.array(f"{name}_zero")):
        return m[name]
    shifted = b.constant(zero.astype(np.int16), name=f"{name}_zero")
    return b.op("subtract", b.op("cast", m[name], dtype=I16), shifted)


def _scaled(b: Replacement, total: Value, scale: Array) -> Value:
    wide = b.op("cast", total, dtype=F32)
    return b.op("multiply", wide, b.constant(scale.astype(np.float32), name="scale"))


def _scale(m: Match, *names: str) -> Array:
    """Return the product of scales, computed in f64."""
    scales = [m.array(f"{name}_scale").astype(np.float64) for name in names]
    return prod(scales[1:], start=scales[0])


def _product(b: Replacement, m: Match) -> Value | None:
    rank, inner = len(extents_of(m["w"])), extents_of(m["x"])[-1]
    columns = m.array("w_scale")
    axes = (1,) * (rank - columns.ndim) + columns.shape
    if m.array("x_scale").size != 1 or rank < 2 or prod(axes[:-1]) != 1:
        return _left(m, "their scales must be one number, or one for each column")
    if inner is None or inner > _MOST:
        return _left(m, f"a sum of more than {_MOST} products can overflow")
    scale = _scale(m, "x", "w").reshape(-1) if columns.size > 1 else _scale(m, "x", "w").reshape(())
    total = b.op("matmul_integer", _centred(b, m, "x"), _centred(b, m, "w"))
    return _scaled(b, total, scale)


def _convolution(b: Replacement, m: Match) -> Value | None:
    filters, *rest = extents_of(m["w"])
    each = m.array("w_scale")
    shape = (1,) * (len(rest) + 1 - each.ndim) + each.shape
    if m.array("x_scale").size != 1 or prod(shape[1:]) != 1:
        return _left(m, "their scales must be one number, or one for each filter")
    known_extents = [extent for extent in rest if extent is not None]
    if len(known_extents) < len(rest) or prod(known_extents) > _MOST:
        return _left(m, f"a sum of more than {_MOST} products can overflow")
    spatial = (1,) * (len(rest) - 1)
    conv = Op("conv_integer", (_centred(b, m, "x"), _centred(b, m, "w")), m.root_op.attrs)
    scale = _scale(m, "x", "w").reshape((-1, *spatial) if each.size > 1 else ())
    result = _scaled(b, b.emit(conv, "conv_integer"), scale)
    if "bias" not in m:
        return result
    assert filters is not None
    return b.op("add", result, b.op("reshape", m["bias"], shape=(filters, *spatial)))


def _left(m: Match, why: str) -> None:
    remark(m.root, f"{m.root.var.name} is not computed in integers: {why}")


def _moved(b: Replacement, m: Match) -> Value | None:
    """Apply an operator that only compares or moves elements to the bytes."""
    op, rank = m.root_op, len(extents_of(m["x"]))
    axes = attributes(op).ints("axes") if op.name == "transpose" else None
    parts = {name: m.array(name) for name in ("x_zero", "x_scale") if name in m}
    if axes is None and any(each.size != 1 for each in parts.values()):
        return None
    for name, array in parts.items():
        whole = array.reshape((1,) * (rank - array.ndim) + array.shape)
        parts[name] = array.reshape(()) if axes is None else whole.transpose(axes)
    wide = b.op("cast", b.emit(op.replace(args=(m["x"],)), op.name), dtype=I32)
    if "x_zero" in parts:
        zero = b.constant(parts["x_zero"].astype(np.int32), name="zero")
        wide = b.op("subtract", wide, zero)
    return _scaled(b, wide, parts["x_scale"])


def _quantized_again(b: Replacement, m: Match) -> Value | None:
    """Return the bytes: (n * scale) / scale rounds to n for every difference n of bytes."""
    if dtype_of_value(m["x"]) != dtype_of_value(m.root.var):
        return None
    zeros = [m.array(name) if name in m else np.zeros(()) for name in ("x_zero", "y_zero")]
    scales = m.array("x_scale"), m.array("y_scale")
    same = all(
        a.size == 1 and b.size == 1 and a.reshape(()) == b.reshape(()) for a, b in (zeros, scales)
    )
    return m["x"] if same else None


def _quantized(source: Pattern) -> OpPattern:
    """Return the pattern of a tensor that is divided by a scale, rounded, shifted and narrowed."""
    rounded = op("round", op("divide", source, known("y_scale", _is_scale)))
    return op("cast", either(op("add", rounded, known("y_zero")), rounded))


_X, _W = _dequantized("x"), _dequantized("w")
_RULES = (
    graph_rule("multiply-bytes", op("matmul", _X, _W), _product, shared=True),
    graph_rule("convolve-bytes", op("conv", _X, _W), _convolution, shared=True),
    graph_rule(
        "convolve-bytes-with-bias", op("conv", _X, _W, hole("bias")), _convolution, shared=True
    ),
    graph_rule("move-bytes", op("max_pool reshape transpose", _X), _moved),
    graph_rule("quantize-again", _quantized(_X), _quantized_again, shared=True),
)
