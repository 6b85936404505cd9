"""The effect of each operation on NumPy scalars and lane arrays: docs/semantics.md in code.

One of the four meanings that check each other (see ``irkit/ir/intrinsics.py``): it shares no code
with the folder, the reference or code generation.

Every function here takes NumPy scalars (one lane) or one-dimensional arrays (several) and returns
the same. Callers silence warnings about overflow and division.
"""

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy

from irkit.core import IRKitError
from irkit.ir.dtype import DType
from irkit.ir.expr import (
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
    FloorDiv,
    FloorMod,
    Max,
    Min,
    Mul,
    Or,
    Scalar,
    Shl,
    Shr,
    Sub,
)
from irkit.ir.numpy_types import numpy_dtype

Function = Callable[..., Any]
Unary = Callable[[Any], Any]
# Pyright cannot type ufuncs over both scalars and arrays of every type.
np: Any = numpy
op: Any = operator
_ERF = np.frompyfunc(math.erf, 1, 1)


def constant(value: Scalar, dtype: DType) -> Any:
    """Return the NumPy scalar of a constant; floats round to the type, integers wrap around."""
    kind = numpy_dtype(dtype).type
    if dtype.is_float:
        return narrow(np.float64(value), dtype)
    if dtype.is_bool:
        return np.bool_(value)
    if isinstance(value, float):
        raise IRKitError(f"a constant of type {dtype} cannot be {value!r}")
    whole = int(value) & ((1 << dtype.bits) - 1)
    return kind(whole - (1 << dtype.bits) if whole > dtype.high else whole)


def narrow(value: Any, dtype: DType) -> Any:
    """Round to a float type; to f16 and bf16 via f32, as the arithmetic does."""
    if dtype.bits == 16 and value.dtype != np.float32:
        value = value.astype(np.float32)
    return value.astype(numpy_dtype(dtype))


def _through(kind: type[Any], function: Function, dtype: DType) -> Function:
    """Compute in a wider type, then round."""
    return lambda *args: narrow(function(*(arg.astype(kind) for arg in args)), dtype)


def _wide(test: Function) -> Unary:
    return lambda value: test(value.astype(np.float64))


def _minimum(a: Any, b: Any) -> Any:
    return np.where((a < b) | (a != a), a, b)


def _maximum(a: Any, b: Any) -> Any:
    return np.where((a > b) | (a != a), a, b)


def _minimum_scalar(a: Any, b: Any) -> Any:
    return a if a < b or a != a else b


def _maximum_scalar(a: Any, b: Any) -> Any:
    return a if a > b or a != a else b


_PLAIN: dict[type[Binary], Function] = {
    Add: op.add,
    Sub: op.sub,
    Mul: op.mul,
    Div: op.truediv,
    FloorDiv: op.floordiv,
    FloorMod: op.mod,
    BitAnd: op.and_,
    BitOr: op.or_,
    BitXor: op.xor,
    And: op.and_,
    Or: op.or_,
    Shl: op.lshift,
    Shr: op.rshift,
    EQ: op.eq,
    NE: op.ne,
    LT: op.lt,
    LE: op.le,
    GT: op.gt,
    GE: op.ge,
}


def binary_function(cls: type[Binary], dtype: DType) -> Function:
    """Return what a binary operation does to two operands of type ``dtype``."""
    if cls is Min:
        return _minimum_scalar if dtype.lanes == 1 else _minimum
    if cls is Max:
        return _maximum_scalar if dtype.lanes == 1 else _maximum
    plain = _PLAIN[cls]
    if dtype.is_float and dtype.bits == 16 and cls in (FloorDiv, FloorMod):
        return _through(np.float32, plain, dtype.element)
    return plain


lanes_and: Function = op.and_
lanes_not: Unary = op.invert


def ramp(dtype: DType) -> Function:
    """Return a function that makes a ramp from its base and its stride."""
    lanes = np.arange(dtype.lanes).astype(numpy_dtype(dtype))

    def spread(base: Any, stride: Any) -> Any:
        return base + lanes * stride

    return spread


def repeat(lanes: int) -> Unary:
    """Return a function that repeats a scalar over lanes."""
    return lambda value: np.full(lanes, value)


def cast_function(source: DType, target: DType) -> Unary:
    """Return the conversion between the elements of two types."""
    kind = numpy_dtype(target)
    if target.is_bool:
        return lambda value: value != 0
    if target.is_float:
        return lambda value: narrow(value, target)
    if source.is_float:
        return (
            _float_to_integer_scalar(target)
            if source.lanes == 1
            else _float_to_integer_lanes(target)
        )
    return kind.type if source.lanes == 1 else lambda value: value.astype(kind)


def reinterpretation(target: DType) -> Unary:
    """Return what takes bits for those of another type of the same width."""
    kind = numpy_dtype(target)
    return lambda value: value.view(kind)


def scaled(dtype: DType) -> Function:
    """Return the product of a number and a power of 2, rounded once."""
    kind = np.float64 if dtype.bits == 64 else np.float32

    def run(value: Any, exponent: Any) -> Any:
        # Farther than any float reaches.
        near = np.clip(exponent, max(-4096, np.iinfo(exponent.dtype).min),
                       min(4096, np.iinfo(exponent.dtype).max))  # fmt: skip
        return narrow(np.ldexp(value.astype(kind), near.astype(np.int32)), dtype)

    return run


def _float_to_integer_scalar(target: DType) -> Unary:
    kind, low, high = numpy_dtype(target).type, target.low, target.high

    def convert(value: Any) -> Any:
        number = float(value)
        if number != number:
            return kind(0)
        if number >= high:
            return kind(high)
        return kind(max(low, int(number))) if number > low else kind(low)

    return convert


def _float_to_integer_lanes(target: DType) -> Unary:
    kind, below, above = numpy_dtype(target), float(target.low - 1), float(target.high + 1)

    def convert(value: Any) -> Any:
        wide = value.astype(np.float64)
        result = np.where((wide > below) & (wide < above), wide, 0.0).astype(kind)
        result[wide >= above] = target.high
        result[wide <= below] = target.low
        return result

    return convert


def _sigmoid(x: Any) -> Any:
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1.0 / (1.0 + small), small / (1.0 + small))[()]


def _rsqrt(x: Any) -> Any:
    return 1.0 / np.sqrt(x)


def _power(a: Any, b: Any) -> Any:
    # For a scalar exponent of 0.5 NumPy uses sqrt, which differs for -0.0 and -inf.
    root = (b == 0.5) & ((a == 0) | np.isinf(a))
    return np.where(root, np.abs(a), np.power(a, b))[()]


def _erf(x: Any) -> Any:
    # frompyfunc applies math.erf to each element and keeps the shape.
    return np.asarray(_ERF(x), dtype=np.float64)[()]


# Computed in f64 and rounded once, so that the reference is closer to the true value than f32
# code.
_TRANSCENDENTAL: dict[str, Function] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
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
    "atan2": np.arctan2,
    "pow": _power,
}
_EXACT: dict[str, Function] = {
    "sqrt": np.sqrt,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "round": np.rint,
    "abs": np.abs,
    "sign": np.sign,
    "fmod": np.fmod,
    "strict_add": np.add,
    "strict_sub": np.subtract,
    "strict_mul": np.multiply,
}
_TESTS: dict[str, Function] = {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite}


def call_function(name: str, dtype: DType) -> Function:
    """Return what an intrinsic does to arguments of type ``dtype``."""
    if not dtype.is_float:
        return _INTEGER[name]
    element = dtype.element
    if name in _TRANSCENDENTAL:
        return _through(np.float64, _TRANSCENDENTAL[name], element)
    if name in _TESTS:
        return _wide(_TESTS[name])
    if name in ("fma", "muladd"):
        return _fma_f64 if dtype.bits == 64 else _through(np.float64, _fma_in_f64, element)
    return _through(np.float64 if dtype.bits == 64 else np.float32, _EXACT[name], element)


def _fma_in_f64(a: Any, b: Any, c: Any) -> Any:
    """Multiply and add f32 values held in f64, rounded once to f32.

    The product is exact; the sum is rounded to odd, so that the second rounding is harmless.
    """
    product = a * b
    total = product + c
    back = total - product
    error = (product - (total - back)) + (c - back)
    even = (np.asarray(total).view(np.int64) & 1) == 0
    inexact = np.isfinite(total) & (error != 0) & even
    away = np.where((error > 0), np.inf, -np.inf)
    return np.where(inexact, np.nextafter(total, away), total)[()].astype(np.float32)


def _fma_one(a: float, b: float, c: float) -> float:
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b + c
    if not math.isfinite(c):
        return c  # However large the product is, it is finite.
    # Whole numbers over powers of two; Fraction would look for common divisors.
    (p, over_p), (q, over_q), (r, over_r) = map(float.as_integer_ratio, (a, b, c))
    exact = p * q * over_r + r * over_p * over_q
    if exact == 0:
        return float(np.float64(a) * np.float64(b) + np.float64(c)) if a * b == 0 else 0.0
    try:
        return exact / (over_p * over_q * over_r)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


_FMA = np.frompyfunc(_fma_one, 3, 1)


def _fma_f64(a: Any, b: Any, c: Any) -> Any:
    return np.asarray(_FMA(a, b, c), dtype=np.float64)[()]


def _truncdiv(a: Any, b: Any) -> Any:
    quotient = a // b
    inexact = (b != 0) & (quotient * b != a) & ((a < 0) != (b < 0))
    return quotient + inexact.astype(quotient.dtype)


def _truncmod(a: Any, b: Any) -> Any:
    return np.where(b == 0, a.dtype.type(0), a - _truncdiv(a, b) * b)[()]


def _mul_sat(a: Any, b: Any) -> Any:
    edges = np.iinfo(a.dtype)
    wrapped = a * b
    # Division undoes a product that is exact; only INT_MIN * -1 is wrong and looks right.
    lost = (a != 0) & (_truncdiv(wrapped, np.where(a == 0, a.dtype.type(1), a)[()]) != b)
    if edges.min < 0:
        lost = lost | ((a == -1) & (b == edges.min))
    nearest = np.where((a < 0) != (b < 0), edges.min, edges.max).astype(a.dtype)
    return np.where(lost, nearest, wrapped)[()]


def _popcount(a: Any) -> Any:
    return np.bitwise_count(a.view(f"u{a.dtype.itemsize}")).astype(a.dtype)


def _clz(a: Any) -> Any:
    # The bits below the highest one set are set too, and then counted.
    filled = a.view(f"u{a.dtype.itemsize}")
    for step in (1, 2, 4, 8, 16, 32)[: (a.dtype.itemsize * 8).bit_length() - 1]:
        filled = filled | (filled >> filled.dtype.type(step))
    return (a.dtype.itemsize * 8 - np.bitwise_count(filled)).astype(a.dtype)


def _integer_power(a: Any, b: Any) -> Any:
    one = a.dtype.type(1)
    result, square = np.ones_like(a), a
    left = np.where(b > 0, b, 0).astype(np.uint64)
    while np.any(left):
        result = np.where(left & np.uint64(1), result * square, result)
        square = square * square
        left = left >> np.uint64(1)
    if a.dtype.kind == "u":
        return result[()]
    # 1 / a**-b, truncated: only 1 and -1 give something other than 0.
    unit = np.where(a == 1, one, np.where(a == -1, np.where(b & one, -one, one), one - one))
    return np.where(b < 0, unit, result)[()]


_INTEGER: dict[str, Function] = {
    "abs": np.abs,
    "sign": np.sign,
    "pow": _integer_power,
    "truncdiv": _truncdiv,
    "truncmod": _truncmod,
    "mul_sat": _mul_sat,
    "popcount": _popcount,
    "clz": _clz,
}
