"""Windows over an array in plain NumPy."""

import itertools
from typing import Any

import numpy as np


def padded(x: Any, begins: Any, ends: Any, value: Any) -> Any:
    around = [(0, 0), (0, 0), *zip(begins, ends, strict=True)]
    return np.pad(x, around, constant_values=value)


def places(
    dims: Any, kernel: Any, strides: Any, pads: Any, dilations: Any, ceil_mode: bool = False
) -> list[range]:
    """List where windows begin along each axis, in the padded input."""
    found = []
    rank = len(dims)
    for at, dim in enumerate(dims):
        whole = dim + pads[at] + pads[rank + at]
        reach = (kernel[at] - 1) * dilations[at] + 1
        starts = [start for start in range(0, whole, strides[at]) if start + reach <= whole]
        after = (starts[-1] if starts else -strides[at]) + strides[at]
        over = ceil_mode and after < dim + pads[at] and (after - strides[at] + reach) < whole
        found.append(range(0, after + (strides[at] if over else 0), strides[at]))
    return found


def window_at(array: Any, start: Any, kernel: Any, dilations: Any) -> Any:
    """Return the part of an array that is inside one window."""
    slices = tuple(
        slice(begin, begin + (size - 1) * dilation + 1, dilation)
        for begin, size, dilation in zip(start, kernel, dilations, strict=True)
    )
    return array[(slice(None), slice(None), *slices)]


def slid(x: Any, starts: list[range], kernel: Any, dilations: Any, function: Any) -> Any:
    """Apply a function with results [N, K] to each window."""
    sizes = [len(each) for each in starts]
    columns = [
        function(window_at(x, start, kernel, dilations)) for start in itertools.product(*starts)
    ]
    return np.stack(columns, -1).reshape(*columns[0].shape, *sizes)
