"""What each intrinsic function computes, on NumPy arrays: the reference of te and of graphs.

Functions with an error are computed in f64 and rounded once to the type; f16 and bf16 through f32.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from irkit.ir.dtype import DType
from irkit.ir.intrinsics import INTRINSICS
from irkit.ir.numpy_types import numpy_dtype

Array = Any


def _rsqrt(x: Array) -> Array:
    return 1.0 / np.sqrt(x)


def _sigmoid(x: Array) -> Array:
    return np.exp(-np.logaddexp(0.0, -x))


def _erf(x: Array) -> Array:
    flat = [math.erf(item) for item in np.ravel(x).tolist()]
    return np.asarray(flat, dtype=np.float64).reshape(np.shape(x))


def _pow(a: Array, b: Array) -> Array:
    # Of zeros and infinities, only an odd power has a sign; NumPy errs for a scalar power of 0.5.
    unsigned = ((a == 0) | np.isinf(a)) & (np.mod(b, 2) != 1)
    return np.power(np.copysign(a, np.where(unsigned, 1.0, a)), b)


_ON_FLOATS: dict[str, Callable[..., Array]] = {
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
    "pow": _pow,
    "atan2": np.arctan2,
    "fmod": np.fmod,
    "strict_add": np.add,
    "strict_sub": np.subtract,
    "strict_mul": np.multiply,
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
}


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


def _mul_sat(a: Array, b: Array) -> Array:
    edges = np.iinfo(a.dtype)
    exact = np.asarray(a, dtype=object) * np.asarray(b, dtype=object)
    return np.asarray(np.clip(exact, edges.min, edges.max)).astype(a.dtype)


def _popcount(a: Array) -> Array:
    bits = a.dtype.itemsize * 8
    counts = [(int(item) & ((1 << bits) - 1)).bit_count() for item in np.ravel(a)]
    return np.asarray(counts, dtype=a.dtype).reshape(np.shape(a))


def _clz(a: Array) -> Array:
    digits = [np.binary_repr(item, a.dtype.itemsize * 8) for item in np.ravel(a).tolist()]
    counts = [len(each) - len(each.lstrip("0")) for each in digits]
    return np.asarray(counts, dtype=a.dtype).reshape(np.shape(a))


_ON_INTEGERS: dict[str, Callable[..., Array]] = {
    "abs": np.abs,
    "sign": np.sign,
    "pow": _integer_power,
    "truncdiv": _truncdiv,
    "truncmod": _truncmod,
    "mul_sat": _mul_sat,
    "popcount": _popcount,
    "clz": _clz,
}


def _fma(a: float, b: float, c: float, kind: type[np.floating[Any]]) -> float:
    """Multiply and add exactly, then round once to f32 or f64."""
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        # The product of two finite numbers is finite, even where f64 cannot hold it.
        return c if math.isfinite(a) and math.isfinite(b) else a * b + c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:  # The sum of two zeros or of two opposites has the right sign.
        return a * b + c
    try:
        near = kind(exact.numerator / exact.denominator)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
    if kind is np.float64:
        return float(near)
    # Rounded twice: one of the neighbours may be nearer; of two as near, the even one is right.
    beside = (near, np.nextafter(near, kind(-math.inf)), np.nextafter(near, kind(math.inf)))
    return float(min(beside, key=lambda each: (abs(_size(each) - exact), _is_odd(each))))


def _size(value: np.floating[Any]) -> Fraction:
    """Return a finite f32, or 2**128 for an infinity, where rounding to it begins."""
    return Fraction(float(value)) if np.isfinite(value) else Fraction(int(np.sign(value)) << 128)


def _is_odd(value: np.floating[Any]) -> bool:
    return bool(np.float32(value).view(np.uint32) & 1)


def call(name: str, args: list[Array], dtype: DType) -> Array:
    """Evaluate an intrinsic on arrays of a type."""
    if not dtype.is_float:
        return _ON_INTEGERS[name](*args)
    kind = np.float64 if dtype.bits == 64 else np.float32
    # What has a single right value can be computed in the type itself, but for sums of products.
    fuses = name in ("fma", "muladd")
    plain = INTRINSICS[name].ulps <= 0.5 and not fuses
    wide = [arg.astype(kind if plain else np.float64, copy=False) for arg in args]
    if fuses:

        def fused(a: float, b: float, c: float) -> float:
            return _fma(a, b, c, kind)

        found = np.asarray(np.frompyfunc(fused, 3, 1)(*wide), np.float64)
    else:
        found = np.asarray(_ON_FLOATS[name](*wide))
    if found.dtype == np.bool_:
        return found
    return found.astype(kind, copy=False).astype(numpy_dtype(dtype), copy=False)
