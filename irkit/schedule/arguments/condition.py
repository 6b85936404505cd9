"""Conditions over indices, written with Python's operators, such as ``(i < 4) & (j != 0)``."""

from collections.abc import Callable, Sequence
from typing import Any, cast

from irkit.core import DTypeError, ScheduleError, rewrite
from irkit.ir import And, BitAnd, BitOr, Expr, ExprLike, Or, plain, run_traced

Condition = Callable[..., Any]


def condition_expr(condition: Condition, indices: Sequence[Expr]) -> Expr:
    """Return the expression of a condition over indices; ``&`` and ``|`` make And and Or.

    Raises: ScheduleError if the condition does not return one bool expression.
    """
    try:
        given = run_traced(condition, *indices)
        parts = cast("Sequence[object]", given if isinstance(given, (tuple, list)) else (given,))
        found = [plain(cast(ExprLike, part)) for part in parts]
    except (DTypeError, TypeError) as error:
        raise ScheduleError(
            f"cannot evaluate the condition: {error}",
            hint="Join conditions with & and |, and negate with ~; mind the parentheses.",
        ) from None
    if len(found) == 1 and found[0].dtype.is_bool:
        return rewrite(found[0], _decided, on=(BitAnd, BitOr))
    raise ScheduleError(
        f"a condition must return one bool expression, found {given!r}",
        hint="Write it with Python's operators, as in lambda i, j: (i < 4) & (j != 0).",
    )


def _decided(node: BitAnd | BitOr) -> Expr | None:
    cls = And if isinstance(node, BitAnd) else Or
    return cls(node.a, node.b, node.dtype) if node.dtype.is_bool else None


def with_bit_operators(expr: Expr) -> Expr:
    """Replace And and Or by ``&`` and ``|``, which a printed condition must use."""

    def joined(node: And | Or) -> Expr:
        cls = BitAnd if isinstance(node, And) else BitOr
        return cls(node.a, node.b, node.dtype)

    return rewrite(expr, joined, on=(And, Or))
