"""Values at which the two sides of a comparison cross, by halving intervals.

Where operations cannot be undone one after the other (``inversion``), as in ``x * x + 3 * x ==
40``, the difference of the sides changes its sign between two values of an unknown. Halving that
interval, in the order of the numbers of a type, ends at neighbours.
"""

from collections.abc import Iterator

import numpy as np

from irkit.core import postorder
from irkit.debug.counterexamples.inversion import MOST_COMPARISONS, Turn
from irkit.debug.execution.edge_values import Array
from irkit.debug.execution.many_values import Batch, prepared
from irkit.ir import Compare, Const, DType, Expr, Var, numpy_dtype

LANES = 256
"""Values between which signs may change."""


def crossings(root: Expr, fixed: Batch, spread: Batch) -> Iterator[Turn]:
    """Yield for each comparison in an expression, and each of its unknowns, values near which it
    turns: between values of ``spread``, with the others ``fixed``, the same in each lane."""
    comparisons = [node for node in postorder(root) if isinstance(node, Compare)]
    for node in comparisons[:MOST_COMPARISONS]:
        inside = [each for each in postorder(node) if isinstance(each, Var)]
        for unknown in dict.fromkeys(inside):
            if not unknown.dtype.is_bool and _is_no_step(node, unknown):
                batch = {**fixed, unknown: spread[unknown]}
                for values in _crossing(node, unknown, batch):
                    yield Turn(unknown, values)


def _is_no_step(node: Compare, unknown: Var) -> bool:
    """Return False where inversion alone finds the value: the unknown against a constant."""
    sides = {id(node.a), id(node.b)}
    return not (id(unknown) in sides and any(isinstance(s, Const) for s in (node.a, node.b)))


def _crossing(node: Compare, unknown: Var, batch: Batch) -> tuple[Array, Array]:
    """Halve the intervals between values of the unknown, lane by lane, down to neighbours."""
    dtype = unknown.dtype
    places = np.sort(_ordered(batch[unknown], dtype))
    low, high = places, np.append(places[1:], places[-1:])

    sides = [prepared(side, batch) for side in (node.a, node.b)]

    def sign(at: Array) -> Array:
        values = {**batch, unknown: _numbered(at, dtype)}
        with np.errstate(all="ignore"):
            one, other = (side(values).astype(np.longdouble) for side in sides)
            return np.sign(one - other)

    start = sign(low)
    for _ in range(dtype.bits):
        middle = low + (high - low) // 2
        same = sign(middle) == start
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return _numbered(low, dtype), _numbered(high, dtype)


def _ordered(values: Array, dtype: DType) -> Array:
    """Return whole numbers in the order of values, as Python's, which do not overflow."""
    if not dtype.is_float:
        return values.astype(object)
    bits = values.view(f"i{dtype.bytes}").astype(object)
    return np.where(bits < 0, -(bits + (1 << (dtype.bits - 1))), bits)


def _numbered(places: Array, dtype: DType) -> Array:
    """Return the values at places in the order of a type."""
    kind = numpy_dtype(dtype)
    if not dtype.is_float:
        return places.astype(kind)
    bits = np.where(places < 0, -places - (1 << (dtype.bits - 1)), places)
    return bits.astype(f"i{dtype.bytes}").view(kind)
