"""By how much two targets may differ in each element of an array."""

from collections.abc import Sequence

import msgspec
import numpy as np

from irkit.debug.check.difference import Difference, beyond, compare
from irkit.debug.execution.inputs import Array


class ErrorLimit(msgspec.Struct, frozen=True):
    """A bound for each element, and where rounding can explain any value, as beside an overflow:
    there, numbers that are not finite are not compared, nor signs of zero."""

    bound: Array
    unknown: Array


Limits = Sequence[ErrorLimit | None]
"""A limit for each array; None where bits must agree."""


def difference(one: Array, two: Array, limit: ErrorLimit | None) -> Difference:
    """Return the difference of two arrays, and the first element beyond its limit."""
    if limit is None:
        return compare(one, two)
    return compare(one, _compared(one, two, limit), limit.bound)


def agree(one: Array, two: Array, limit: ErrorLimit | None) -> Array:
    """Return where two arrays are within their limit."""
    if limit is None:
        return ~beyond(one, two)
    return ~beyond(one, _compared(one, two, limit), limit.bound)


def _compared(one: Array, two: Array, limit: ErrorLimit) -> Array:
    """Return the second array, with elements of the first where any value can be explained."""
    finite = np.isfinite(one.astype(np.float64)) & np.isfinite(two.astype(np.float64))
    return np.where(limit.unknown & (~finite | (one == two)), one, two).astype(two.dtype)
