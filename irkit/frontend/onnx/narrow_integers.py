"""Integers of 4 and 2 bits: only in a file do several share a byte, here each has one."""

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

RANGES: dict[str, tuple[int, int]] = {
    "int4": (-8, 7),
    "uint4": (0, 15),
    "int2": (-2, 1),
    "uint2": (0, 3),
}
"""The least and the largest number of each type."""

KEEPING = frozenset({"reshape", "transpose", "take", "slice", "pad", "concat", "identity"})
"""Operators whose result has the numbers of their first operand."""

_TYPES = {np.dtype(getattr(ml_dtypes, name)): RANGES[name] for name in RANGES}


def in_bytes(array: NDArray[np.generic]) -> tuple[NDArray[np.generic], tuple[int, int] | None]:
    """Return an array in a type that irkit has, and the range of its type if that is narrower."""
    limits = _TYPES.get(array.dtype)
    if limits is None:
        return array, None
    return array.astype(np.int8 if limits[0] < 0 else np.uint8), limits
