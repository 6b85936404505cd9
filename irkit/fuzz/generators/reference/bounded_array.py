"""NumPy arrays with error bounds: the oracle for floats that round.

Every value is computed in f64; its bound is how far a program may be from it that rounds to its own
type after each operation, in any order of a sum and with or without fused operations. A sum of K
numbers has the bound min(K, 2 sqrt(K)) u of the sum of their magnitudes.
"""

import itertools
from collections.abc import Sequence
from typing import Any, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from irkit.ir import INTRINSICS, DType
from irkit.ir.reference import call

Array: TypeAlias = NDArray[Any]

_UNIT = {"f16": 2.0**-11, "bf16": 2.0**-8, "f32": 2.0**-24, "f64": 2.0**-52}
_TINIEST = {"f16": 2.0**-24, "bf16": 2.0**-133, "f32": 2.0**-149, "f64": 5e-324}
_LARGEST = {"f16": 65504.0, "bf16": 3.3895e38, "f32": 3.4028e38, "f64": 1.79e308}


class BoundedArray(msgspec.Struct, frozen=True, eq=False):
    """An array of a type, floats in f64, and the error bound of each element; None is exact."""

    value: Array
    error: Array | None
    dtype: DType


def exact(value: Array, dtype: DType) -> BoundedArray:
    """Return an array as exact."""
    return BoundedArray(value.astype(np.float64) if dtype.is_float else value, None, dtype)


def ulps_of(name: str, dtype: DType) -> float:
    """Return the error of a function in units in the last place, with the interpreter's half."""
    units = INTRINSICS[name].ulps_in(dtype)
    if units <= 0.5:
        return 0.5
    # In f64, NumPy is no nearer to the true value than generated code.
    return units * (2 if dtype.bits == 64 else 1) + 0.5


def ulp_of(value: Array, dtype: DType) -> Array:
    """Return an upper bound of a unit in the last place of values; denormal values have that of
    denormals."""
    name = str(dtype)
    return 2 * _UNIT[name] * np.abs(value) + _TINIEST[name]


def unit_of(dtype: DType) -> float:
    """Return half a unit in the last place of 1.0, or a whole one for f64."""
    return _UNIT[str(dtype)]


def error_of(array: BoundedArray) -> Array | float:
    """Return the error, 0 where it is exact."""
    return 0.0 if array.error is None else array.error


def rounded(value: Array, error: Array | float, dtype: DType, halves: float = 1.0) -> BoundedArray:
    """Add the error of a rounding, in halves of a unit in the last place."""
    name = str(dtype)
    size = np.abs(value) + error
    # A value computed in f32 and then rounded to 16 bits is rounded twice.
    total = error + 1.01 * halves * _UNIT[name] * size + halves * _TINIEST[name]
    total = np.where(size + total > _LARGEST[name], np.inf, total)
    return BoundedArray(value, np.where(np.isnan(total), np.inf, total), dtype)


def uncertain(errors: Sequence[BoundedArray], shape: tuple[int, ...]) -> Array | None:
    """Return where a result that is not a float is uncertain."""
    inexact = [each.error for each in errors if each.error is not None]
    if not inexact:
        return None
    found = np.zeros(shape)
    for error in inexact:
        found = np.where(np.broadcast_to(error, shape) > 0, np.inf, found)
    return found


def compared(a: BoundedArray, b: BoundedArray, value: Array, dtype: DType) -> BoundedArray:
    """Compare floats; the result is certain only where they are far enough apart."""
    if a.error is None and b.error is None:
        return BoundedArray(value, None, dtype)
    with np.errstate(all="ignore"):
        apart = np.abs(a.value - b.value) > error_of(a) + error_of(b)
    return BoundedArray(value, np.where(apart, 0.0, np.inf), dtype)


def chosen(cond: BoundedArray, a: BoundedArray, b: BoundedArray) -> BoundedArray:
    """Select between two by a condition."""
    value = np.where(cond.value, a.value, b.value)
    if cond.error is None and a.error is None and b.error is None:
        return BoundedArray(value, None, a.dtype)
    error = np.where(cond.value, error_of(a), error_of(b))
    if cond.error is not None:
        gap = np.abs(a.value.astype(np.float64) - b.value.astype(np.float64))
        either = gap + np.maximum(error_of(a), error_of(b)) if a.dtype.is_float else np.inf
        error = np.where(cond.error > 0, either, error)
    return BoundedArray(value, error, a.dtype)


def product(a: BoundedArray, b: BoundedArray) -> tuple[Array, Array | float]:
    """Multiply, without a rounding."""
    ea, eb = error_of(a), error_of(b)
    return a.value * b.value, np.abs(a.value) * eb + np.abs(b.value) * ea + ea * eb


def quotient(a: BoundedArray, b: BoundedArray) -> tuple[Array, Array | float]:
    """Divide, without a rounding."""
    ea, eb = error_of(a), error_of(b)
    value, least = a.value / b.value, np.abs(b.value) - eb
    error = (np.abs(value) * eb + ea) / np.where(least > 0, least, 0.0)
    return value, np.where(least > 0, error, np.inf)


def called(name: str, args: Sequence[BoundedArray], dtype: DType) -> BoundedArray:
    """Apply a function of floats, also at both ends of the range of its arguments."""
    if name in ("strict_add", "strict_sub"):
        sign = 1.0 if name == "strict_add" else -1.0
        apart = error_of(args[0]) + error_of(args[1])
        return rounded(args[0].value + sign * args[1].value, apart, dtype)
    if name == "strict_mul":
        return rounded(*product(args[0], args[1]), dtype)
    if name in ("fma", "muladd"):
        value, error = product(args[0], args[1])
        # NumPy rounds the product; where the sum cancels, that is the whole result.
        error = error + _UNIT["f64"] * np.abs(value)
        return rounded(value + args[2].value, error + error_of(args[2]), dtype)
    if name == "abs":
        return BoundedArray(np.abs(args[0].value), args[0].error, dtype)
    value = _function(name, [arg.value for arg in args])
    error: Array | float = 0.0
    if any(arg.error is not None for arg in args):
        ends = [(arg.value - error_of(arg), arg.value + error_of(arg)) for arg in args]
        corners = list(itertools.product(*ends))
        apart = [np.abs(_function(name, list(corner)) - value) for corner in corners]
        error = 1.05 * np.maximum.reduce(apart)
        if name in ("sin", "cos"):  # Their ends may lie on both sides of a turning point.
            error = np.maximum(error, error_of(args[0]))
    return rounded(value, error, dtype, halves=2 * ulps_of(name, dtype))


def _function(name: str, args: list[Array]) -> Array:
    from_f64 = call(name, args, _F64)
    return np.asarray(from_f64)


_F64 = DType("f", 64)


def summed(source: BoundedArray, axes: tuple[int, ...], mask: Array | None) -> BoundedArray:
    """Sum along axes, in any order."""
    where: Any = True if mask is None else mask
    count = int(np.prod([source.value.shape[axis] for axis in axes], dtype=np.int64))
    value = np.add.reduce(source.value, axis=axes, where=where)
    sizes = np.add.reduce(np.abs(source.value), axis=axes, where=where)
    each = np.add.reduce(
        np.broadcast_to(error_of(source), source.value.shape), axis=axes, where=where
    )
    roundings = min(float(count), 2 * float(np.sqrt(count)))
    return rounded(value, each + roundings * _UNIT[str(source.dtype)] * sizes, source.dtype)


def largest(
    source: BoundedArray, axes: tuple[int, ...], mask: Array | None, *, most: bool
) -> BoundedArray:
    """Return the maximum along axes, or the minimum."""
    ufunc, start = (np.maximum, -np.inf) if most else (np.minimum, np.inf)
    where: Any = True if mask is None else mask
    value = ufunc.reduce(source.value, axis=axes, initial=start, where=where)
    if source.error is None:
        return BoundedArray(np.asarray(value), None, source.dtype)
    error = np.maximum.reduce(
        np.broadcast_to(source.error, source.value.shape), axis=axes, initial=0.0, where=where
    )
    return BoundedArray(np.asarray(value), np.asarray(error), source.dtype)
