"""Compare arrays element by element: how far apart, in which unit, and where first."""

import msgspec
import numpy as np

from irkit.debug.execution.inputs import Array


class Difference(msgspec.Struct, frozen=True):
    """How far two arrays are apart at most, and the first element beyond what is allowed.

    Units: ``ulp`` counts representable numbers between the two. ``at`` is None if all are
    allowed; NaN against a number is infinitely far.
    """

    abs: float = 0.0
    rel: float = 0.0
    ulp: float = 0.0
    wrong: int = 0
    at: tuple[int, ...] | None = None
    expected: str = ""
    found: str = ""


def identical(expected: Array, found: Array) -> bool:
    """Say whether two arrays hold the same values, signs of zero included; NaN is NaN."""
    if not is_float(expected):
        return np.array_equal(expected, found)
    return bool(np.all(_alike(expected, found)))


def is_float(array: Array) -> bool:
    """Say whether an array holds floats; NumPy does not count bf16 among them."""
    return array.dtype.kind == "f" or array.dtype.name == "bfloat16"


def _alike(expected: Array, found: Array) -> Array:
    same = _bits(expected, "u") == _bits(found, "u")
    return np.asarray(same | (np.isnan(expected) & np.isnan(found)))


def _bits(array: Array, kind: str) -> Array:
    whole = np.ascontiguousarray(array).view(f"{kind}{array.dtype.itemsize}")
    return whole.reshape(array.shape)  # A contiguous copy of rank 0 has rank 1.


def compare(
    expected: Array, found: Array, allowed: Array | None = None, *, zeros_have_signs: bool = True
) -> Difference:
    """Measure the difference, where ``allowed`` bounds the absolute error of each element.

    What is not finite on either side must be alike.
    """
    if not is_float(expected):
        apart = np.abs(expected.astype(object) - found.astype(object)).astype(np.float64)
        return _summed(expected, found, expected != found, apart, apart)
    alike = _alike(expected, found)
    with np.errstate(all="ignore"):
        wide, other = expected.astype(np.float64), found.astype(np.float64)
        finite = np.isfinite(wide) & np.isfinite(other)
        apart = np.where(alike, 0.0, np.where(finite, np.abs(wide - other), np.inf))
        ulps = np.where(alike, 0.0, np.where(finite, _steps_between(expected, found), np.inf))
        fine = finite & (apart <= (0.0 if allowed is None else allowed))
        if zeros_have_signs:
            fine &= apart > 0
    return _summed(expected, found, ~(alike | fine), apart, ulps)


def _steps_between(expected: Array, found: Array) -> Array:
    return np.abs(_ordered(expected) - _ordered(found))


def _ordered(array: Array) -> Array:
    """Number the floats so that neighbours differ by 1, and both zeros are 0."""
    # Integers of 64 bits would wrap; a long double holds them.
    bits = _bits(array, "i").astype(np.longdouble)
    lowest = -(np.longdouble(2) ** (8 * array.dtype.itemsize - 1))
    return np.where(bits < 0, lowest - bits, bits)


def _summed(expected: Array, found: Array, wrong: Array, apart: Array, ulps: Array) -> Difference:
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
