"""Comparison of arrays element by element: by how much they differ, and where first."""

import msgspec
import numpy as np

from irkit.debug.execution.inputs import Array


class Difference(msgspec.Struct, frozen=True):
    """The largest difference of two arrays, and the first element beyond the tolerance.

    Units: ``ulp`` counts representable numbers between the two. ``at`` is None if all elements are
    within the tolerance; NaN is infinitely far from any number.
    """

    abs: float = 0.0
    rel: float = 0.0
    ulp: float = 0.0
    wrong: int = 0
    at: tuple[int, ...] | None = None
    expected: str = ""
    found: str = ""


def identical(expected: Array, found: Array) -> bool:
    """Return True if two arrays hold the same values, including signs of zero; NaN equals NaN."""
    if not is_float(expected):
        return np.array_equal(expected, found)
    return bool(np.all(same_bits(expected, found)))


def same_values(expected: Array, found: Array) -> Array:
    """Return where two arrays hold the same values, as :func:`identical` compares them."""
    return same_bits(expected, found) if is_float(expected) else np.asarray(expected == found)


def is_float(array: Array) -> bool:
    """Return True if an array holds floats; NumPy does not count bf16 among them."""
    return array.dtype.kind == "f" or array.dtype.name == "bfloat16"


def same_bits(expected: Array, found: Array) -> Array:
    """Return where two arrays of floats hold the same bits, or NaN both."""
    same = _bits(expected, "u") == _bits(found, "u")
    return np.asarray(same | (np.isnan(expected) & np.isnan(found)))


def _bits(array: Array, kind: str) -> Array:
    whole = np.ascontiguousarray(array).view(f"{kind}{array.dtype.itemsize}")
    return whole.reshape(array.shape)  # A contiguous copy of rank 0 has rank 1.


def compare(
    expected: Array, found: Array, allowed: Array | None = None, *, zeros_have_signs: bool = True
) -> Difference:
    """Return the difference of two arrays; ``allowed`` bounds the absolute error of each element.

    An element that is not finite on either side must be the same on both. Where
    ``zeros_have_signs``, zeros of different sign differ unless the error may be above 0.
    """
    wrong = beyond(expected, found, allowed, zeros_have_signs=zeros_have_signs)
    if not is_float(expected):
        apart = np.abs(expected.astype(object) - found.astype(object)).astype(np.float64)
        return _summary(expected, found, wrong, apart, apart)
    same = same_bits(expected, found)
    with np.errstate(all="ignore"):
        wide, other = expected.astype(np.float64), found.astype(np.float64)
        finite = np.isfinite(wide) & np.isfinite(other)
        apart = np.where(same, 0.0, np.where(finite, np.abs(wide - other), np.inf))
        ulps = np.where(same, 0.0, np.where(finite, _steps_between(expected, found), np.inf))
    return _summary(expected, found, wrong, apart, ulps)


def beyond(
    expected: Array, found: Array, allowed: Array | None = None, *, zeros_have_signs: bool = True
) -> Array:
    """Return where two arrays differ by more than is allowed, as :func:`compare` does."""
    if not is_float(expected):
        if allowed is None:
            return np.asarray(expected != found)
        apart = np.abs(expected.astype(object) - found.astype(object)).astype(np.float64)
        return np.asarray(apart > allowed)
    limit = np.asarray(0.0 if allowed is None else allowed)
    with np.errstate(all="ignore"):
        wide, other = expected.astype(np.float64), found.astype(np.float64)
        apart = np.abs(wide - other)
        fine = np.isfinite(wide) & np.isfinite(other) & (apart <= limit)
        if zeros_have_signs:
            fine &= (apart > 0) | (limit > 0)
    return np.asarray(~(same_bits(expected, found) | fine))


def _steps_between(expected: Array, found: Array) -> Array:
    return np.abs(_ordered(expected) - _ordered(found))


def _ordered(array: Array) -> Array:
    """Number the floats so that neighbours differ by 1 and both zeros are 0."""
    # Integers of 64 bits would wrap; a long double holds them.
    bits = _bits(array, "i").astype(np.longdouble)
    lowest = -(np.longdouble(2) ** (8 * array.dtype.itemsize - 1))
    return np.where(bits < 0, lowest - bits, bits)


def _summary(expected: Array, found: Array, wrong: Array, apart: Array, ulps: Array) -> Difference:
    if expected.size == 0:
        return Difference()
    with np.errstate(all="ignore"):
        size = np.abs(expected.astype(np.float64))
        rel = np.where(apart == 0, 0.0, apart / size)
    places = np.argwhere(wrong)
    far, near, steps = float(apart.max()), float(np.nan_to_num(rel, nan=np.inf).max()), ulps.max()
    if not len(places):
        return Difference(far, near, float(steps))
    at = tuple(int(i) for i in places[0])
    return Difference(far, near, float(steps), len(places), at, str(expected[at]), str(found[at]))
