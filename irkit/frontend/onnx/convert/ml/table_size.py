"""Sizes of tables that kernels read: powers of two, so that tables of about one size share one.

An ensemble exported tree by tree has as many tables as trees, each of a size of its own.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def table_size(count: int) -> int:
    """Return the least power of two that is at least ``count``, and at least 1."""
    return 1 << max(count - 1, 0).bit_length()


def in_table(array: NDArray[Any], size: int) -> NDArray[Any]:
    """Return an array with its last element repeated up to ``size``; one without any is filled
    with zeros."""
    mode = "edge" if len(array) else "constant"
    widths = [(0, size - len(array)), *[(0, 0)] * (array.ndim - 1)]
    return np.ascontiguousarray(np.pad(array, widths, mode=mode))
