"""The sizes of symbolic dimensions at which a function is tried: all of them, in order."""

from collections.abc import Iterator, Sequence
from itertools import cycle

import numpy as np

from irkit.debug.execution.edge_values import Edges
from irkit.ir import Var

SIZES = (0, 1, 65, 257, 2, 33, 129, 17, 3, 128, 5, 64, 256, 63, 127, 255, 31, 7, 9, 16, 8, 32, 15)
"""No iteration, one, and both sides of the usual tiles, vectors and limits of narrow types."""
SMALL = (2, 1, 3, 1, 2)
LARGEST_ALIKE = 33
"""Up to here all dimensions are tried at one size."""
USUAL = (17, 6, 5, 9, 3, 4, 8)
LARGEST_OF_STEP, LARGEST = 5000, 300
"""Limits of sizes near constants: those that a step brings or removes, and all others."""


def wanted_sizes(edges: Edges, *, fresh_only: bool = False) -> list[int]:
    """Return the sizes to try in order: near constants of the step, the usual ones, and near other
    constants."""
    near: list[int] = []
    later: list[int] = []
    for number, value in enumerate(edges.constants):
        if np.isfinite(value) and float(value).is_integer():
            fresh = number < edges.fresh
            most = LARGEST_OF_STEP if fresh else LARGEST
            found = [int(value) + d for d in (0, 1, -1)]
            (near if fresh else later).extend(size for size in found if 0 <= size <= most)
            later.extend(size for size in (2 * int(value) + 1,) if 0 <= size <= most)
    if fresh_only:
        return list(dict.fromkeys(near))
    return list(dict.fromkeys((0, 1, *near, *SIZES, *later)))


def assignments(dims: Sequence[Var], wanted: Sequence[int]) -> Iterator[dict[Var, int]]:
    """Yield sizes of all dimensions: each one at each size, the others small, and all alike."""
    others = cycle(SMALL)
    for size in wanted:
        if len(dims) > 1 and size <= LARGEST_ALIKE:
            yield dict.fromkeys(dims, size)
        for dim in dims:
            yield {each: size if each is dim else next(others) for each in dims}
