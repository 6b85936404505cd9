"""Arithmetic on sizes: numbers where they are known, expressions over dimensions where not."""

import msgspec

from irkit.core import equal
from irkit.ir import (
    I64,
    Add,
    Const,
    Expr,
    as_int,
    bounds,
    floordiv,
    maximum,
    minimum,
    simplify,
)
from irkit.ir.arith import Ranges

Dim = int | Expr


def add(a: Dim, b: Dim) -> Dim:
    """Add sizes, without zeros; a constant comes last."""
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    if isinstance(a, int):
        return add(b, a)
    if isinstance(b, int):
        return a if b == 0 else a + b if b > 0 else a - -b
    return a + b


def subtract(a: Dim, b: Dim) -> Dim:
    if isinstance(b, int):
        return add(a, -b)
    if isinstance(a, Expr) and equal(a, b):
        return 0
    if isinstance(a, Expr):
        # (p + s) - p, as a model with a cache computes it.
        parts = _terms(a)
        same = next((at for at, part in enumerate(parts) if equal(part, b)), None)
        if same is not None:
            rest: Dim = 0
            for part in (*parts[:same], *parts[same + 1 :]):
                rest = add(rest, part)
            return rest
    return Const(a, I64) - b if isinstance(a, int) else a - b


def multiply(a: Dim, b: Dim) -> Dim:
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    if isinstance(a, int):
        return multiply(b, a)
    if isinstance(b, int):
        return a if b == 1 else 0 if b == 0 else a * b
    return a * b


def divide(a: Dim, b: int) -> Dim:
    """Divide by a positive number, rounding down."""
    if isinstance(a, int):
        return a // b
    return a if b == 1 else floordiv(a, b)


def smaller(a: Dim, b: Dim) -> Dim:
    return min(a, b) if isinstance(a, int) and isinstance(b, int) else minimum(a, b)


def larger(a: Dim, b: Dim) -> Dim:
    """Return the larger of two sizes."""
    return max(a, b) if isinstance(a, int) and isinstance(b, int) else maximum(a, b)


def settled(size: Dim, ranges: Ranges) -> Dim:
    """Return a size in a simple form, as it is within the ranges of its dimensions."""
    if isinstance(size, int):
        return size
    simple = simplify(size, ranges)
    number = as_int(simple)
    return simple if number is None else number


def same_size(a: Dim, b: Dim, ranges: Ranges) -> bool:
    """Return True if two sizes are certainly equal within the ranges of their dimensions."""
    return settled(subtract(a, b), ranges) == 0


class Window(msgspec.Struct, frozen=True, eq=False):
    """The elements ``begin``, ``begin + step`` and so on of an axis, of which there are
    ``count``."""

    begin: Dim
    count: Dim
    step: int = 1


def sliced(begin: Dim, end: Dim, step: int, extent: Dim, ranges: Ranges) -> Window:
    """Return what a slice takes of an axis, as Python and ONNX define slices: a negative place
    counts from the end, and one beyond either end is moved to it.

    ``step`` is not 0. ``begin`` of the result is a place in the axis wherever there are elements.
    """
    begin, end = (_from_front(place, extent, ranges) for place in (begin, end))
    # What lies between does not change if only one of the two is moved to each end of the axis.
    if step > 0:
        begin = settled(larger(begin, 0), ranges)
        span = subtract(settled(smaller(end, extent), ranges), begin)
    else:
        begin = settled(smaller(begin, subtract(extent, 1)), ranges)
        span = subtract(begin, settled(larger(end, -1), ranges))
    count = divide(add(span, abs(step) - 1), abs(step))
    return Window(begin, settled(larger(count, 0), ranges), step)


def _from_front(place: Dim, extent: Dim, ranges: Ranges) -> Dim:
    """Return a place counted from the front; it can be outside of the axis."""
    if isinstance(place, int):
        return place if place >= 0 else add(extent, max(place, -(1 << 62)))
    found = bounds(place, ranges)
    if found.low is not None and found.low >= 0:
        return place
    if found.high is not None and found.high < 0:
        return add(extent, place)
    is_negative = smaller(larger(subtract(0, place), 0), 1)
    return add(place, multiply(is_negative, extent))


def _terms(expr: Expr) -> list[Expr]:
    """Return the terms of a sum."""
    if not isinstance(expr, Add):
        return [expr]
    return [*_terms(expr.a), *_terms(expr.b)]
