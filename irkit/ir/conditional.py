"""Choices by a condition: Select evaluates both sides, Conditional only the chosen one."""

from irkit.ir.dtype import DType
from irkit.ir.expr import Expr


class Select(Expr, frozen=True):
    """Choice by a bool, lane by lane; both sides are evaluated."""

    cond: Expr
    then: Expr
    otherwise: Expr
    dtype: DType


class Conditional(Expr, frozen=True):
    """Choice by a bool that evaluates only the chosen side, so it can guard a load.

    It prints as Python's conditional expression.
    """

    cond: Expr
    then: Expr
    otherwise: Expr
    dtype: DType
