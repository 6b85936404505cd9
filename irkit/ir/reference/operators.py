"""What each operator and conversion computes, on NumPy arrays."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

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
    Shl,
    Shr,
    Sub,
)
from irkit.ir.numpy_types import numpy_dtype

Array = Any


def full_of(value: float, dtype: DType) -> Array:
    """Make the 0-d array of a constant."""
    return np.asarray(value).astype(numpy_dtype(dtype))


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
    kind = numpy_dtype(dtype)
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
