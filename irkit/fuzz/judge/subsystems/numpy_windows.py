"""Convolution and pooling in NumPy, as sums over the places of a window."""

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from irkit.fuzz.generators.sample import Array


def convolve(
    x: Array,
    w: Array,
    *,
    strides: Sequence[int],
    pads: Sequence[int],
    dilations: Sequence[int],
    groups: int,
) -> Array:
    """Convolve images with filters.

    Shapes: x [N, C, spatial...], w [K, C / groups, kernel...] -> [N, K, spatial...].
    """
    total: Array | float = 0.0
    count, outer = w.shape[1], w.shape[0] // groups
    for place, part in _parts(x, w.shape[2:], strides, pads, dilations, 0.0):
        at = (slice(None), slice(None), *place)
        made = [
            np.einsum(
                "nc...,kc->nk...",
                part[:, g * count : (g + 1) * count],
                w[at][g * outer : (g + 1) * outer],
            )
            for g in range(groups)
        ]
        total = total + np.concatenate(made, 1)
    return np.asarray(total)


def pool(
    x: Array,
    *,
    average: bool,
    kernel: Sequence[int],
    strides: Sequence[int],
    pads: Sequence[int],
    dilations: Sequence[int],
    count_include_pad: bool = False,
) -> Array:
    """Return the largest or the average element of each window.

    Shapes: x [N, C, spatial...].
    """
    if not average:
        parts = [part for _, part in _parts(x, kernel, strides, pads, dilations, -np.inf)]
        return np.max(parts, 0)
    counted = np.ones_like(x)
    outside = 1.0 if count_include_pad else 0.0
    sums = sum(part for _, part in _parts(x, kernel, strides, pads, dilations, 0.0))
    counts = sum(part for _, part in _parts(counted, kernel, strides, pads, dilations, outside))
    return np.asarray(sums / counts)


def _parts(
    x: Array,
    kernel: Sequence[int],
    strides: Sequence[int],
    pads: Sequence[int],
    dilations: Sequence[int],
    outside: float,
) -> Iterator[tuple[tuple[int, ...], Array]]:
    """Yield each place of a window, and the element there of all windows."""
    rank = len(kernel)
    widths = [(0, 0), (0, 0), *zip(pads[:rank], pads[rank:], strict=True)]
    padded = np.pad(x, widths, constant_values=outside)
    spans = [(size - 1) * by + 1 for size, by in zip(kernel, dilations, strict=True)]
    counts = [
        (extent - span) // stride + 1
        for extent, span, stride in zip(padded.shape[2:], spans, strides, strict=True)
    ]
    for place in product(*(range(size) for size in kernel)):
        begins = [at * by for at, by in zip(place, dilations, strict=True)]
        cuts = [
            slice(begin, begin + (count - 1) * stride + 1, stride)
            for begin, count, stride in zip(begins, counts, strides, strict=True)
        ]
        yield place, padded[(slice(None), slice(None), *cuts)]
