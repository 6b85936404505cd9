"""Conditions over indices, written with Python's operators, such as ``(i < 4) & (j != 0)``.

IR variables cannot be compared like this, because ``==`` on them is identity.
"""

import operator
from collections.abc import Callable, Sequence
from typing import Any, cast

from irkit.core import DTypeError, ScheduleError, rewrite
from irkit.ir import (
    And,
    BitAnd,
    BitOr,
    Expr,
    ExprLike,
    Or,
    as_expr,
    eq,
    floordiv,
    ge,
    gt,
    le,
    logical_and,
    logical_not,
    logical_or,
    lt,
    ne,
)

Condition = Callable[..., Any]


class Term:
    """An index expression or a condition over index expressions, with Python's operators."""

    __hash__ = None  # pyright: ignore[reportAssignmentType] -- `==` builds a condition

    def __init__(self, expr: Expr) -> None:
        self.expr = expr

    def __bool__(self) -> bool:
        raise ScheduleError(
            "a condition is evaluated when the program runs, so it has no truth value now",
            hint="Join conditions with & and |, and negate with ~; mind the parentheses.",
        )

    def __add__(self, other: object) -> "Term":
        return self._made(operator.add, other)

    def __radd__(self, other: object) -> "Term":
        return _term(other) + self

    def __sub__(self, other: object) -> "Term":
        return self._made(operator.sub, other)

    def __rsub__(self, other: object) -> "Term":
        return _term(other) - self

    def __mul__(self, other: object) -> "Term":
        return self._made(operator.mul, other)

    def __rmul__(self, other: object) -> "Term":
        return _term(other) * self

    def __floordiv__(self, other: object) -> "Term":
        return self._made(floordiv, other)

    def __mod__(self, other: object) -> "Term":
        return self._made(operator.mod, other)

    def __neg__(self) -> "Term":
        return Term(-self.expr)

    def __lt__(self, other: object) -> "Term":
        return self._made(lt, other)

    def __le__(self, other: object) -> "Term":
        return self._made(le, other)

    def __gt__(self, other: object) -> "Term":
        return self._made(gt, other)

    def __ge__(self, other: object) -> "Term":
        return self._made(ge, other)

    def __eq__(self, other: object) -> "Term":  # pyright: ignore[reportIncompatibleMethodOverride] -- builds a condition
        return self._made(eq, other)

    def __ne__(self, other: object) -> "Term":  # pyright: ignore[reportIncompatibleMethodOverride] -- builds a condition
        return self._made(ne, other)

    def __and__(self, other: object) -> "Term":
        return self._made(logical_and, other)

    def __or__(self, other: object) -> "Term":
        return self._made(logical_or, other)

    def __invert__(self) -> "Term":
        return Term(logical_not(self.expr))

    def _made(self, make: Callable[[Any, Any], Expr], other: object) -> "Term":
        return Term(make(self.expr, _term(other).expr))


def _term(value: object) -> Term:
    return value if isinstance(value, Term) else Term(as_expr(cast(ExprLike, value)))


def condition_expr(condition: Condition, indices: Sequence[Expr]) -> Expr:
    """Return the expression of a condition over indices.

    Raises: ScheduleError if the condition does not return one bool expression.
    """
    given = condition(*(Term(index) for index in indices))
    parts = cast("Sequence[object]", given if isinstance(given, (tuple, list)) else (given,))
    if len(parts) == 1 and isinstance(parts[0], (Term, bool)):
        try:
            found = _term(parts[0]).expr
        except (DTypeError, TypeError) as error:
            raise ScheduleError(f"cannot evaluate the condition: {error}") from None
        if found.dtype.is_bool:
            return found
    raise ScheduleError(
        f"a condition must return one bool expression, found {given!r}",
        hint="Write it with Python's operators, as in lambda i, j: (i < 4) & (j != 0).",
    )


def with_bit_operators(expr: Expr) -> Expr:
    """Replace And and Or by ``&`` and ``|``, which a printed condition must use."""

    def joined(node: And | Or) -> Expr:
        cls = BitAnd if isinstance(node, And) else BitOr
        return cls(node.a, node.b, node.dtype)

    return rewrite(expr, joined, on=(And, Or))
