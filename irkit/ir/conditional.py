"""Choices by a condition: one evaluates both sides, the other only what it takes."""

from irkit.ir.dtype import DType
from irkit.ir.expr import Expr


class Select(Expr, frozen=True, gc=False):
    """Choice by a bool, lane by lane; both sides are evaluated."""

    cond: Expr
    then: Expr
    otherwise: Expr
    dtype: DType


class Conditional(Expr, frozen=True, gc=False):
    """Choice by a bool; only the chosen side is evaluated, so it may guard a load. Prints as
    Python's conditional."""

    cond: Expr
    then: Expr
    otherwise: Expr
    dtype: DType
