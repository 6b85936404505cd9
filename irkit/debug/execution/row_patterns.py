"""Whole rows of values for reductions: all negative, all infinite, all equal, and the like.

A maximum that starts from 0, or from a number that is not the lowest, is wrong only where all the
values of a row are below it, which values drawn one by one never are.
"""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

from irkit.debug.execution.edge_values import Array
from irkit.ir import DType, numpy_dtype

_LARGEST = {
    ("f", 16): 65504.0,
    ("bf", 16): 3.3895313892515355e38,
    ("f", 32): 3.4028234663852886e38,
    ("f", 64): 1.7976931348623157e308,
}
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
    largest = _LARGEST[dtype.kind, dtype.bits]
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


def odd_rows(
    dtype: DType,
    shape: tuple[int, ...],
    constants: Sequence[int | float],
    places: Sequence[int],
    turn: int,
    *,
    odd: bool = True,
) -> Array:
    """Return an array whose rows hold one value each, but for an odd one at one of some places.

    A row is what has one index on the first axis, or in every other turn, or of rank 1, all of the
    array. Each row has the next values and place, the likeliest first; if not ``odd``, it is even.
    """
    pairs = _odd_pairs(dtype, constants)
    order = sorted(product(range(len(pairs)), range(len(places))), key=_rank)
    rows = 1 if len(shape) == 1 or turn % 2 or not shape[0] else shape[0]
    made = np.empty((rows, int(np.prod(shape, dtype=np.int64)) // rows), numpy_dtype(dtype))
    for number in range(rows):
        pair, place = order[(turn * (rows if len(shape) > 1 else 1) + number) % len(order)]
        with np.errstate(all="ignore"):
            usual, other = np.array(pairs[pair]).astype(made.dtype)
        made[number] = usual
        if odd and -made.shape[1] <= places[place] < made.shape[1]:
            made[number, places[place]] = other
    return made.reshape(shape)


def _rank(numbers: tuple[int, int]) -> int:
    """Return a number that grows with both: the first pairs get all places, and the first places
    all pairs."""
    return (numbers[0] + 1) * (numbers[1] + 1)


def _odd_pairs(dtype: DType, constants: Sequence[int | float]) -> list[tuple[Any, Any]]:
    """Return values of a row and its odd one: an ordinary one and each special one, both ways."""
    if dtype.is_bool:
        return [(False, True), (True, False)]
    if dtype.is_float:
        most, usual = _LARGEST[dtype.kind, dtype.bits], 1.5
        given = [c for c in constants if isinstance(c, float)]
        special = [*given[:2], np.nan, 0.0, *given[2:], np.inf, -np.inf, -0.0, most, -most, 2.5]
        signs = [(0.0, -0.0), (-0.0, 0.0)]
    else:
        usual, given = 3, [c for c in constants if isinstance(c, int)]
        special = [*given[:2], 0, *given[2:], 1, -1, dtype.low, dtype.high]
        special = [value for value in special if dtype.low <= value <= dtype.high]
        signs = []
    special = [value for value in dict.fromkeys(special) if value != usual]
    odd = [(usual, value) for value in special[:4]]
    even = [(value, usual) for value in special[:4]]
    rest = [pair for value in special[4:] for pair in ((usual, value), (value, usual))]
    return [*odd, *even, *signs, *rest]


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
