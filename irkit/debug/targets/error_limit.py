"""By how much two targets may differ in each element of an array."""

from collections.abc import Sequence

import msgspec
import numpy as np

from irkit.debug.check.difference import Difference, compare
from irkit.debug.execution.inputs import Array


class ErrorLimit(msgspec.Struct, frozen=True):
    """A bound for each element, and where rounding can explain any value, as beside an overflow:
    there, numbers that are not finite are not compared."""

    bound: Array
    unknown: Array


Limits = Sequence[ErrorLimit | None]
"""A limit for each array; None where bits must agree."""


def difference(one: Array, two: Array, limit: ErrorLimit | None) -> Difference:
    """Return the difference of two arrays, and the first element beyond its limit."""
    if limit is None:
        return compare(one, two)
    finite = np.isfinite(one.astype(np.float64)) & np.isfinite(two.astype(np.float64))
    seen = np.where(limit.unknown & ~finite, one, two).astype(two.dtype)
    return compare(one, seen, limit.bound, zeros_have_signs=False)
