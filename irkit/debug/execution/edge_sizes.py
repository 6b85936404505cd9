"""The sizes of symbolic dimensions at which a function is tried: all of them, in order."""

from collections.abc import Iterator, Sequence
from itertools import cycle

import numpy as np

from irkit.core import IRKitError, walk
from irkit.debug.execution.edge_values import Edges
from irkit.debug.execution.many_values import Batch, computed
from irkit.ir import Compare, Expr, Load, PrimFunc, Var, numpy_dtype

SIZES = (0, 1, 65, 257, 2, 33, 129, 17, 3, 128, 5, 64, 256, 63, 127, 255, 31, 7, 9, 16, 8, 32, 15)
"""No iteration, one, and both sides of the usual tiles, vectors and limits of narrow types."""
SMALL = (2, 1, 3, 1, 2)
LARGEST_ALIKE = 33
"""Up to here all dimensions are tried at one size."""
USUAL = (17, 6, 5, 9, 3, 4, 8)
LARGEST_OF_STEP, LARGEST = 5000, 300
"""Limits of sizes near constants: those that a step brings or removes, and all others."""
GRID = (0, 130, 41, 17)
"""How many sizes of each dimension are looked at for conditions, by the number of dimensions."""
LEAST = (1, 8, 17)
"""For each way that conditions can turn out, the first sizes are tried that are all as large."""
MOST_WAYS = 12


def size_conditions(versions: Sequence[PrimFunc], dims: Sequence[Var]) -> list[Expr]:
    """Return the comparisons in versions of a function that only depend on its dimensions."""
    found: dict[Expr, None] = {}
    for node in (node for func in versions for node in walk(func, Compare) if dims):
        inside = list(walk(node))
        symbols = {each for each in inside if isinstance(each, Var)}
        if symbols and symbols <= {*dims} and not any(isinstance(each, Load) for each in inside):
            found[node] = None
    return list(found)


def deciding(dims: Sequence[Var], conditions: Sequence[Expr]) -> Iterator[dict[Var, int]]:
    """Yield sizes for each way in which conditions can turn out together, up to a limit."""
    if not conditions or not 0 < len(dims) < len(GRID):
        return
    axes = [np.arange(GRID[len(dims)])] * len(dims)
    grids = np.meshgrid(*axes, indexing="ij")
    batch: Batch = {dim: grid.reshape(-1) for dim, grid in zip(dims, grids, strict=True)}
    try:
        outcomes = [computed(each, _converted(batch)) for each in conditions]
    except IRKitError:  # It has a part that cannot be computed by itself.
        return
    ways = np.unique(np.stack(outcomes), axis=1, return_inverse=True)[1].reshape(-1)
    smallest = np.min(np.stack(list(batch.values())), axis=0)
    order = np.argsort(sum(batch.values()), kind="stable")
    for least in LEAST:
        for way in range(min(MOST_WAYS, int(ways.max()) + 1)):
            fits = order[(ways[order] == way) & (smallest[order] >= least)]
            if len(fits):
                yield {dim: int(sizes[fits[0]]) for dim, sizes in batch.items()}


def _converted(batch: Batch) -> Batch:
    return {dim: sizes.astype(numpy_dtype(dim.dtype)) for dim, sizes in batch.items()}


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
