"""The semantics of each operation on NumPy arrays, for the reference evaluator.

Written from docs/semantics.md, sharing nothing with the interpreter of loops, so that a mistake in
either shows as a difference.
"""

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from irkit.ir import (
    EQ,
    GE,
    GT,
    LE,
    LT,
    NE,
    Add,
    And,
    Binary,
    BitAnd,
    BitOr,
    BitXor,
    Div,
    DType,
    FloorDiv,
    FloorMod,
    Max,
    Min,
    Mul,
    Or,
    Shl,
    Shr,
    Sub,
)

Array = Any


def array_type(dtype: DType) -> np.dtype[Any]:
    """Return the NumPy type of arrays of a type."""
    if dtype.kind == "bf":
        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(np.bool_) if dtype.is_bool else np.dtype(f"{dtype.kind}{dtype.bytes}")


def full_of(value: float, dtype: DType) -> Array:
    """Make the 0-d array of a constant."""
    return np.asarray(value).astype(array_type(dtype))


def _floor_divide(a: Array, b: Array) -> Array:
    if a.dtype.kind not in "iu":
        return np.floor_divide(a, b)
    # NumPy gives 0 for a zero divisor and wraps for the smallest integer over -1, as we specify.
    return np.where(b == 0, 0, np.floor_divide(a, np.where(b == 0, 1, b))).astype(a.dtype)


def _floor_modulo(a: Array, b: Array) -> Array:
    if a.dtype.kind not in "iu":
        return np.mod(a, b)
    return np.where(b == 0, 0, np.mod(a, np.where(b == 0, 1, b))).astype(a.dtype)


def _shift(function: Callable[..., Array], left: bool) -> Callable[[Array, Array], Array]:
    def shift(a: Array, b: Array) -> Array:
        wide = a.dtype.itemsize * 8
        inside = (b >= 0) & (b < wide)
        # In the type of a: no NumPy integer type holds both u64 values and -1.
        beyond = 0 if left else np.where(a < 0, -1, 0).astype(a.dtype)
        return np.where(inside, function(a, np.where(inside, b, 0)), beyond).astype(a.dtype)

    return shift


BINARY: dict[type[Binary], Callable[[Array, Array], Array]] = {
    Add: np.add,
    Sub: np.subtract,
    Mul: np.multiply,
    Div: np.true_divide,
    FloorDiv: _floor_divide,
    FloorMod: _floor_modulo,
    Min: np.minimum,
    Max: np.maximum,
    BitAnd: np.bitwise_and,
    BitOr: np.bitwise_or,
    BitXor: np.bitwise_xor,
    Shl: _shift(np.left_shift, left=True),
    Shr: _shift(np.right_shift, left=False),
    EQ: np.equal,
    NE: np.not_equal,
    LT: np.less,
    LE: np.less_equal,
    GT: np.greater,
    GE: np.greater_equal,
    And: np.logical_and,
    Or: np.logical_or,
}


def convert(value: Array, dtype: DType) -> Array:
    """Convert between types: floats to integers saturate, and NaN gives 0; integers wrap around."""
    kind = array_type(dtype)
    if dtype.is_float and dtype.bits == 16:  # Via f32, also from integers and f64.
        return value.astype(np.float32).astype(kind)
    from_float = value.dtype.kind == "f" or value.dtype == np.dtype(ml_dtypes.bfloat16)
    if not from_float or dtype.is_float or dtype.is_bool:
        return value.astype(kind)
    wide = np.trunc(value.astype(np.float64))
    low, high = float(dtype.low), float(dtype.high)
    inside = np.where((wide > low) & (wide < high), wide, 0.0).astype(kind)
    saturated = np.where(wide >= high, dtype.high, np.where(wide <= low, dtype.low, inside))
    return saturated.astype(kind)


def negate(value: Array) -> Array:
    return np.negative(value)


def invert(value: Array) -> Array:
    """Flip a bool, or every bit of an integer."""
    return np.logical_not(value) if value.dtype == np.bool_ else np.invert(value)


def _rsqrt(x: Array) -> Array:
    return 1.0 / np.sqrt(x)


def _fma(a: Array, b: Array, c: Array) -> Array:
    return a * b + c


def _sigmoid(x: Array) -> Array:
    return np.exp(-np.logaddexp(0.0, -x))


def _erf(x: Array) -> Array:
    flat = [math.erf(item) for item in np.ravel(x).tolist()]
    return np.asarray(flat, dtype=np.float64).reshape(np.shape(x))


# Computed in f64 and rounded once.
_BY_F64: dict[str, Callable[..., Array]] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "rsqrt": _rsqrt,
    "sigmoid": _sigmoid,
    "tanh": np.tanh,
    "erf": _erf,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "round": np.round,
    "abs": np.abs,
    "sign": np.sign,
    "pow": np.power,
    "atan2": np.arctan2,
    "fmod": np.fmod,
    "fma": _fma,
}
_TESTS = {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite}


def _integer_power(a: Array, b: Array) -> Array:
    """Raise to a power, wrapping around; a negative exponent truncates 1 / a**-b."""
    a, b = np.broadcast_arrays(a, b)
    pairs: zip[tuple[int, int]] = zip(a.ravel().tolist(), b.ravel().tolist(), strict=True)
    items = [_power(x, y) for x, y in pairs]
    bits = a.dtype.itemsize * 8
    wrapped = [item & ((1 << bits) - 1) for item in items]
    return np.asarray(wrapped, dtype=np.uint64).astype(a.dtype).reshape(np.shape(a))


def _power(a: int, b: int) -> int:
    if b >= 0:
        return pow(a, b, 1 << 64)
    return {1: 1, -1: 1 - 2 * (b & 1)}.get(a, 0)


def _truncdiv(a: Array, b: Array) -> Array:
    safe = np.where(b == 0, 1, b).astype(a.dtype)
    quotient, rest = np.floor_divide(a, safe), np.mod(a, safe)
    up = (rest != 0) & ((a < 0) != (safe < 0))
    return np.where(b == 0, 0, quotient + up).astype(a.dtype)


def _truncmod(a: Array, b: Array) -> Array:
    safe = np.where(b == 0, 1, b).astype(a.dtype)
    rest = np.mod(a, safe)
    up = (rest != 0) & ((a < 0) != (safe < 0))
    return np.where(b == 0, 0, np.where(up, rest - safe, rest)).astype(a.dtype)


def _popcount(a: Array) -> Array:
    bits = a.dtype.itemsize * 8
    counts = [(int(item) & ((1 << bits) - 1)).bit_count() for item in np.ravel(a)]
    return np.asarray(counts, dtype=a.dtype).reshape(np.shape(a))


_ON_INTEGERS: dict[str, Callable[..., Array]] = {
    "abs": np.abs,
    "sign": np.sign,
    "pow": _integer_power,
    "truncdiv": _truncdiv,
    "truncmod": _truncmod,
    "popcount": _popcount,
}


def call(name: str, args: list[Array], dtype: DType) -> Array:
    """Evaluate an intrinsic on arrays."""
    if name in _TESTS:
        return _TESTS[name](args[0].astype(np.float64))
    if dtype.is_float:
        wide = [arg.astype(np.float64) for arg in args]
        return np.asarray(_BY_F64[name](*wide)).astype(array_type(dtype))
    return _ON_INTEGERS[name](*args)
