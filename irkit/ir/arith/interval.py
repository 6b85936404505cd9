"""Closed intervals of integers: the possible values of an expression."""

from collections.abc import Mapping
from typing import ClassVar

import msgspec

from irkit.ir.dtype import DType
from irkit.ir.expr import Var


class Interval(msgspec.Struct, frozen=True, gc=False):
    """The integers from ``low`` to ``high``, inclusive; None is no limit on that side."""

    everything: ClassVar["Interval"]

    low: int | None = None
    high: int | None = None

    def contains(self, value: int) -> bool:
        """Return True if ``value`` is in the interval."""
        return (self.low is None or self.low <= value) and (self.high is None or value <= self.high)

    def __add__(self, other: "Interval | int") -> "Interval":
        that = _interval(other)
        return Interval(_sum(self.low, that.low), _sum(self.high, that.high))

    def __neg__(self) -> "Interval":
        return Interval(
            None if self.high is None else -self.high, None if self.low is None else -self.low
        )

    def __sub__(self, other: "Interval | int") -> "Interval":
        return self + -_interval(other)

    def __mul__(self, other: "Interval | int") -> "Interval":
        that = _interval(other)
        zero = Interval(0, 0)
        if self == zero or that == zero:
            return zero
        low = high = None
        if self.low is None or self.high is None or that.low is None or that.high is None:
            if self.low is not None and that.low is not None and self.low >= 0 <= that.low:
                low = self.low * that.low
        else:
            corners = [a * b for a in (self.low, self.high) for b in (that.low, that.high)]
            low, high = min(corners), max(corners)
        return Interval(low, high)

    def intersect(self, other: "Interval") -> "Interval":
        """Return the intersection of two intervals."""
        lows = [low for low in (self.low, other.low) if low is not None]
        highs = [high for high in (self.high, other.high) if high is not None]
        return Interval(max(lows, default=None), min(highs, default=None))

    def union(self, other: "Interval") -> "Interval":
        """Return the smallest interval that contains both."""
        low = None if self.low is None or other.low is None else min(self.low, other.low)
        high = None if self.high is None or other.high is None else max(self.high, other.high)
        return Interval(low, high)


Interval.everything = Interval()
Ranges = Mapping[Var, Interval]

# Machine integers are finite, so inside this folder a range is a pair of numbers.
Pair = tuple[int, int]
_LIMITS: dict[DType, Pair] = {}


def limits(dtype: DType) -> Pair:
    """Return the smallest and largest value of an integer or bool type."""
    found = _LIMITS.get(dtype)
    if found is None:
        found = _LIMITS[dtype] = (dtype.low, dtype.high)
    return found


def fitted(low: int, high: int, limit: Pair) -> Pair:
    """Return the range of a wrapped result: unchanged if nothing can wrap, else the whole type."""
    return (low, high) if limit[0] <= low and high <= limit[1] else limit


def clamped(low: int, high: int, limit: Pair) -> Pair:
    """Return the range of a result that saturates: each end, or the nearest that the type holds."""
    return min(max(low, limit[0]), limit[1]), min(max(high, limit[0]), limit[1])


def wrap(value: int, dtype: DType) -> int:
    """Reduce a number to an integer type, modulo 2**bits; for a bool, test that it is not 0."""
    if dtype.kind == "bool":
        return int(value != 0)
    value &= (1 << dtype.bits) - 1
    return value - (1 << dtype.bits) if dtype.kind == "i" and value >> (dtype.bits - 1) else value


def var_pair(var: Var, ranges: Ranges) -> Pair:
    """Return the range of a variable, clipped to its type; an empty range is ignored."""
    low, high = limits(var.dtype)
    known = ranges.get(var)
    if known is not None:
        cut_low = low if known.low is None else max(low, known.low)
        cut_high = high if known.high is None else min(high, known.high)
        if cut_low <= cut_high:
            return cut_low, cut_high
    return low, high


def _interval(value: "Interval | int") -> Interval:
    return value if isinstance(value, Interval) else Interval(value, value)


def _sum(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b
