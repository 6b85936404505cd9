"""Rows of values for several parameters that cover each value and pairs of values.

Pairs come from orthogonal arrays: for a prime p, the rows ``(j + q * r) mod p`` for parameter q,
with j and r from 0 to p - 1, hold each pair of values of each two of up to p parameters once.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
FEW, MORE = 13, 31
"""Values of each parameter that are paired with each value of each other one."""
ALONE = 24
ANY = -1


def covering_rows(pools: Sequence[Array], *, brief: bool = False) -> Array:
    """Return rows of positions in the pools of values, a column for each parameter.

    The first rows are the most important ones, and the only ones if they shall be ``brief``.
    ``ANY`` stands for any ordinary value: each value is also tried alone.
    """
    sizes = np.array([len(pool) for pool in pools], np.int64)
    numbers: Array = np.arange(max(map(len, pools), default=0))
    if not pools:
        return np.zeros((0, 0), np.int64)
    rows = [_together(numbers[:ALONE], sizes)]
    if len(pools) > 1:
        rows += [*_alone(numbers[:ALONE], sizes), _pairs(FEW, sizes)]
    rows.append(_together(numbers[ALONE:], sizes))
    if len(pools) > 1 and not brief:
        rows += [*_alone(numbers[ALONE:], sizes), *_related(pools, numbers)]
        rows.append(_pairs(MORE, sizes))
    return np.concatenate(rows)


def _together(numbers: Array, sizes: Array) -> Array:
    return numbers[:, None] % sizes[None, :]


def _alone(numbers: Array, sizes: Array) -> list[Array]:
    made: list[Array] = []
    for place, size in enumerate(sizes):
        rows = np.full((len(numbers), len(sizes)), ANY)
        rows[:, place] = numbers % size
        made.append(rows)
    return made


def _pairs(prime: int, sizes: Array) -> Array:
    turn, first = np.divmod(np.arange(prime, prime * prime), prime)
    return (first[:, None] + turn[:, None] * np.arange(len(sizes))[None, :]) % prime % sizes


def _related(pools: Sequence[Array], numbers: Array) -> list[Array]:
    """Return rows of a value beside the next larger one, the next smaller one, and its negative."""
    rows: list[Array] = []
    partners = [_partners(pool) for pool in pools]
    for relation in range(3):
        columns: list[Array] = []
        for place, pool in enumerate(pools):
            own = numbers % len(pool)
            columns.append(partners[place][relation][own] if place % 2 else own)
        rows.append(np.stack(columns, axis=1))
    return rows


def _partners(pool: Array) -> tuple[Array, Array, Array]:
    """Return for each value of a pool the places of the next larger one, the next smaller one, and
    its negative, or of itself if there is none."""
    count = len(pool)
    if pool.dtype.kind not in "iub":
        pool = pool.astype(np.float64)
    order = np.argsort(pool, kind="stable")
    above, below = np.arange(count), np.arange(count)
    above[order[:-1]], below[order[1:]] = order[1:], order[:-1]
    with np.errstate(all="ignore"):
        negative = np.negative(pool) if pool.dtype != np.bool_ else ~pool
    at = np.clip(np.searchsorted(pool, negative, sorter=order), 0, count - 1)
    found = order[at]
    return above, below, np.where(pool[found] == negative, found, np.arange(count))
