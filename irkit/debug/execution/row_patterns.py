"""Whole rows of values for reductions: all negative, all infinite, all equal, and the like.

A maximum that starts from 0, or from a number that is not the lowest, is wrong only where all the
values of a row are below it, which values drawn one by one never are.
"""

from collections.abc import Callable

import numpy as np

from irkit.debug.execution.edge_values import Array
from irkit.ir import DType, numpy_dtype

Row = Callable[[int, np.random.Generator], Array]


def rows_of(dtype: DType) -> list[Row]:
    """Return functions from a length to a row of values of a type, as f64 or integers."""
    if dtype.is_bool:
        return [
            _single(-1, 1, 0),
            _all(0),
            _all(1),
            _single(0, 1, 0),
            _single(-1, 0, 1),
            _turns(0, 1),
        ]
    if not dtype.is_float:
        low, high = dtype.low, dtype.high
        return [
            _all(low),
            _uniform(high // 2, high),
            _all(high),
            _uniform(low, low // 2 if low else 3),
            _turns(low, high),
            _single(-1, 1, 0),
            _single(0, high, 0),
            _uniform(-9 if low else 1, -1 if low else 9),
            _all(7),
            _steps(1),
            _steps(-1),
            _all(0),
            _uniform(low, high),
        ]
    largest = {16: 65504.0, 32: 3.4028234663852886e38, 64: 1.7976931348623157e308}[dtype.bits]
    if dtype.kind == "bf":
        largest = 3.3895313892515355e38
    huge = min(largest, 1e32)
    return [
        _spread(-9.0, -1.0),
        _spread(-huge, -huge / 8),
        _all(-np.inf),
        _all(-largest),
        _single(-1, 9.0, 0.0),
        _single(0, 9.0, 0.0),
        _all(-0.5),
        _spread(1.0, 9.0),
        _all(np.nan),
        _turns(0.0, -0.0),
        _all(np.inf),
        _spread(huge / 8, huge),
        _all(largest),
        _turns(4.0, -4.0),
        _all(-0.0),
        _steps(1),
        _steps(-1),
        _all(0.1),
        _turns(np.nan, 1.0),
        _spread(1e-7, 1e-6),
    ]


def filled_rows(
    dtype: DType, shape: tuple[int, ...], axis: int | None, start: int, rng: np.random.Generator
) -> Array:
    """Return an array whose rows follow the patterns of a type from number ``start`` on.

    A row is what has one index on ``axis``; without an axis the whole array is one row.
    """
    kinds = rows_of(dtype)
    made = np.empty(shape, np.float64 if dtype.is_float else np.int64)
    if dtype.kind == "u" and dtype.bits == 64:
        made = made.astype(np.uint64)
    if axis is None:
        made[...] = kinds[start % len(kinds)](made.size, rng).reshape(shape)
    else:
        along = np.moveaxis(made, axis, 0)
        for number in range(along.shape[0]):
            row = kinds[(start + number) % len(kinds)]
            along[number] = row(along[number].size, rng).reshape(along.shape[1:])
    with np.errstate(all="ignore"):
        return made.astype(numpy_dtype(dtype))


def _all(value: float) -> Row:
    return lambda count, rng: np.full(count, value)


def _turns(first: float, second: float) -> Row:
    return lambda count, rng: np.resize(np.array([first, second], object), count)


def _single(at: int, value: float, other: float) -> Row:
    """Return rows of which one element stands out, the first or the last one."""

    def row(count: int, rng: np.random.Generator) -> Array:
        made = np.full(count, other, object)
        made[at : at + 1 or None] = value
        return made

    return row


def _steps(step: int) -> Row:
    def row(count: int, rng: np.random.Generator) -> Array:
        numbers = np.arange(1, count + 1)
        return numbers[::step] % 100

    return row


def _spread(low: float, high: float) -> Row:
    return lambda count, rng: rng.uniform(low, high, size=count)


def _uniform(low: int, high: int) -> Row:
    def row(count: int, rng: np.random.Generator) -> Array:
        kind = np.uint64 if high > np.iinfo(np.int64).max else np.int64
        return rng.integers(low, high, size=count, dtype=kind, endpoint=True)

    return row
