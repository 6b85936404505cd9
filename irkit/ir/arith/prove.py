"""Prove conditions."""

from collections.abc import Iterable

from irkit.ir.arith.bounds import NOTHING
from irkit.ir.arith.comparison import as_bool
from irkit.ir.arith.interval import Ranges
from irkit.ir.arith.simplify import simplify
from irkit.ir.expr import Expr


def prove(cond: Expr, ranges: Ranges = NOTHING, facts: Iterable[Expr] = ()) -> bool:
    """Return True if a condition is proved to hold wherever the ranges and the facts do.

    False means only that no proof was found.
    """
    return as_bool(simplify(cond, ranges, facts)) is True
