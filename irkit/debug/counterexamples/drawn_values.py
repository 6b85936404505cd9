"""Thousands of values of each unknown: all of a narrow type, else drawn in several ways."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from irkit.debug.execution.edge_values import Edges, float_edges, integer_edges
from irkit.ir import DType, Var, numpy_dtype

Array = NDArray[Any]
COUNT = 1 << 14
"""Values of each unknown: as many as a vector has lanes."""
ALL_BITS = 16
"""Up to here all combinations of the values are tried."""


def are_few(unknowns: Sequence[Var]) -> bool:
    """Return True if all combinations of values are tried."""
    return sum(1 if var.dtype.is_bool else var.dtype.bits for var in unknowns) <= ALL_BITS


def drawn_values(
    unknowns: Sequence[Var], edges: Edges, rng: np.random.Generator
) -> list[dict[Var, Array]]:
    """Return batches of values of all unknowns."""
    if are_few(unknowns):
        return _batches(_all_values(unknowns), COUNT)
    made = {var: _drawn(var.dtype, edges, rng) for var in unknowns}
    _relate(made, rng)
    return [made]


def values_of_bits(bits: Array, dtype: DType) -> Array:
    """Return the values of a type whose bits are the low bits of integers."""
    kind = numpy_dtype(dtype)
    if dtype.is_bool:
        return (bits & 1).astype(kind)
    values = bits.astype(f"u{dtype.bytes}").view(kind)
    if dtype.is_float:
        with np.errstate(all="ignore"):
            values[np.isnan(values)] = np.nan  # A NaN that signals would make NumPy warn.
    return values


def _all_values(unknowns: Sequence[Var]) -> dict[Var, Array]:
    counts = [1 << (1 if var.dtype.is_bool else var.dtype.bits) for var in unknowns]
    grids = np.meshgrid(*[np.arange(count, dtype=np.uint64) for count in counts], indexing="ij")
    columns = zip(unknowns, grids, strict=True)
    return {var: values_of_bits(grid.reshape(-1), var.dtype) for var, grid in columns}


def _batches(values: dict[Var, Array], size: int) -> list[dict[Var, Array]]:
    count = len(next(iter(values.values())))
    return [
        {var: column[at : at + size] for var, column in values.items()}
        for at in range(0, count, size)
    ]


def _drawn(dtype: DType, edges: Edges, rng: np.random.Generator) -> Array:
    if dtype.is_bool:
        return rng.integers(0, 2, size=COUNT).astype(bool)
    ways = _float_ways if dtype.is_float else _integer_ways
    made = ways(dtype, edges, rng)
    chosen = rng.integers(0, len(made), size=COUNT)
    return np.choose(chosen, made).astype(numpy_dtype(dtype))


def _bits(rng: np.random.Generator) -> Array:
    return rng.integers(0, 1 << 64, size=COUNT, dtype=np.uint64)


def _integer_ways(dtype: DType, edges: Edges, rng: np.random.Generator) -> list[Array]:
    """Return values of any size, small ones, some at the edges, and some near multiples of
    constants."""
    whole = values_of_bits(_bits(rng), dtype)
    some = values_of_bits(_bits(rng) >> rng.integers(0, 64, size=COUNT, dtype=np.uint64), dtype)
    small = values_of_bits(rng.integers(-9, 300, size=COUNT).astype(np.uint64), dtype)
    known = rng.choice(integer_edges(dtype, edges), size=COUNT)
    found = [int(c) for c in edges.constants if np.isfinite(c) and abs(c) < 1 << 62]
    constants = np.array(found or [1], np.int64)
    near = rng.choice(constants, size=COUNT) * rng.integers(-9, 1000, size=COUNT)
    near = values_of_bits((near + rng.integers(-1, 2, size=COUNT)).astype(np.uint64), dtype)
    return [whole, some, -some if dtype.low else small, small, known, near]


def _float_ways(dtype: DType, edges: Edges, rng: np.random.Generator) -> list[Array]:
    """Return any bits, fractions of few bits, fractions of any size, and values at the edges."""
    kind = numpy_dtype(dtype)
    scale = 2.0 ** rng.integers(0, 12, size=COUNT)
    few = rng.integers(-(1 << 12), 1 << 12, size=COUNT) / scale
    usual = rng.uniform(-4, 4, size=COUNT) * 10.0 ** rng.integers(-6, 3, size=COUNT)
    known = rng.choice(float_edges(dtype, edges), size=COUNT)
    return [values_of_bits(_bits(rng), dtype), few.astype(kind), usual.astype(kind), known]


def _relate(made: dict[Var, Array], rng: np.random.Generator) -> None:
    """Make each unknown equal to one before it, its neighbour, or its negative, in some places."""
    for (before, values), (var, own) in product(made.items(), repeat=2):
        if before is var:
            continue
        if before.dtype != var.dtype or var.dtype.is_bool:
            continue
        where = rng.random(size=COUNT) < 0.08
        own[where] = neighbours(values, rng.integers(-1, 2, size=COUNT))[where]
        where = rng.random(size=COUNT) < 0.02
        own[where] = -values[where]


def neighbours(values: Array, step: Array) -> Array:
    """Return for each value the next smaller one, itself, or the next larger one of its type."""
    if values.dtype.kind in "iub":
        return (values + step.astype(values.dtype)).astype(values.dtype)
    infinity = np.asarray(np.inf, values.dtype)
    with np.errstate(all="ignore"):
        above, below = np.nextafter(values, infinity), np.nextafter(values, -infinity)
    return np.where(step > 0, above, np.where(step < 0, below, values)).astype(values.dtype)
