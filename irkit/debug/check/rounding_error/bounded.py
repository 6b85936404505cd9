"""A float and the bounds on its error, as expressions in f64."""

from typing import NamedTuple

import numpy as np

from irkit.ir import F64, Const, DType, Expr, call, const, eq, le, lt, select

ULPS = 16
"""Error of a function of the C library that a pass may make; see docs/legal-changes.md."""
UNIT = {"f16": 2.0**-11, "bf16": 2.0**-8, "f32": 2.0**-24, "f64": 2.0**-52}
"""Largest relative error of a rounding. That of f64 is doubled, as f64 itself computes it."""
TINIEST = {"f16": 2.0**-24, "bf16": 2.0**-133, "f32": 2.0**-149, "f64": 5e-324}
LARGEST = {"f16": 65504.0, "bf16": 3.3895e38, "f32": 3.4028e38, "f64": 1.7976e308}
NORMAL = {"f16": 2.0**-14, "bf16": 2.0**-126, "f32": 2.0**-126, "f64": 2.0**-1022}
INF = float("inf")


class Bounded(NamedTuple):
    """The four numbers of a float: see ``running_error``."""

    value: Expr
    size: Expr
    rate: Expr
    error: Expr

    @staticmethod
    def exactly(value: Expr) -> "Bounded":
        """Return a value without error."""
        zero = zero_like(value)
        return Bounded(value, call("abs", value), zero, zero)

    @property
    def total(self) -> Expr:
        """Return the bound on the whole error."""
        grown = self.rate / (1.0 - self.rate) * self.size
        rounded = select(lt(self.rate, 0.5), grown, INF)
        return self.error + select(eq(self.rate, 0.0), 0.0, rounded)

    @property
    def is_exact(self) -> Expr:
        """Return where there is no error."""
        return both(eq(self.rate, 0.0), eq(self.error, 0.0))

    @property
    def is_zero(self) -> Expr:
        """Return where it is 0 without error, however it is computed."""
        return both(eq(self.size, 0.0), self.is_exact)


def zero_like(value: Expr) -> Expr:
    """Return 0 with the lanes of a value."""
    return const(0.0, F64.with_lanes(value.dtype.lanes))


def both(*conditions: Expr) -> Expr:
    """Combine conditions, all of which are evaluated."""
    found = conditions[0]
    for each in conditions[1:]:
        found = found & each
    return found


def is_power_of_two(factor: Expr) -> bool:
    """Return True for a constant that is a power of two, or the negative of one."""
    if not isinstance(factor, Const) or not np.isfinite(factor.value):
        return False
    return abs(np.frexp(float(factor.value))[0]) == 0.5


def is_whole(value: Expr) -> Expr:
    """Return where a value is a whole number."""
    return eq(call("floor", value), value)


def bounded_by(size: Expr, error: Expr, dtype: DType) -> Expr:
    """Return the error, or an infinite one where a result may overflow or is no number."""
    return select(le(size, LARGEST[str(dtype.element)]), error, INF)
