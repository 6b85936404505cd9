"""Operators on two or three arguments that broadcast: each gradient is summed over the axes along
which its argument was broadcast."""

from collections.abc import Callable

from irkit.graph.differentiation.applied import AppliedOp, Rule, summed_to, where
from irkit.graph.tensor import TensorExpr, operator

Pair = tuple[TensorExpr, TensorExpr]


def _pair(gradients: Callable[[AppliedOp, TensorExpr, TensorExpr], Pair]) -> Rule:
    """Return the rule of an operator on two arguments, from gradients that are not yet summed."""

    def rule(op: AppliedOp) -> list[TensorExpr | None]:
        a, b = op.args
        da, db = gradients(op, a, b)
        return [summed_to(da, a), summed_to(db, b)]

    return rule


def _power(op: AppliedOp, a: TensorExpr, b: TensorExpr) -> Pair:
    """The base has no gradient where the exponent is 0, the exponent none where the base is 0."""
    da = where(operator("equal", b, 0.0), 0.0, op.dy * b * a ** (b - 1.0))
    db = where(operator("equal", a, 0.0), 0.0, op.dy * op.y * operator("log", a))
    return da, db


def _larger(compare: str) -> Callable[[AppliedOp, TensorExpr, TensorExpr], Pair]:
    """Pass the gradient on to the argument that was taken; of equal ones each gets half."""

    def gradients(op: AppliedOp, a: TensorExpr, b: TensorExpr) -> Pair:
        tie, half = operator("equal", a, b), op.dy * 0.5
        first = where(operator(compare, a, b), op.dy, 0.0)
        second = where(operator(compare, b, a), op.dy, 0.0)
        return where(tie, half, first), where(tie, half, second)

    return gradients


def _atan2(op: AppliedOp, a: TensorExpr, b: TensorExpr) -> Pair:
    scaled = op.dy / (a * a + b * b)
    return scaled * b, -(scaled * a)


def _where(op: AppliedOp) -> list[TensorExpr | None]:
    cond, a, b = op.args
    first, second = where(cond, op.dy, 0.0), where(cond, 0.0, op.dy)
    return [None, summed_to(first, a), summed_to(second, b)]


BROADCAST: dict[str, Rule] = {
    "add": _pair(lambda op, a, b: (op.dy, op.dy)),
    "subtract": _pair(lambda op, a, b: (op.dy, -op.dy)),
    "multiply": _pair(lambda op, a, b: (op.dy * b, op.dy * a)),
    "divide": _pair(lambda op, a, b: (op.dy / b, -(op.dy * op.y / b))),
    "power": _pair(_power),
    "maximum": _pair(_larger("greater")),
    "minimum": _pair(_larger("less")),
    "floor_mod": _pair(lambda op, a, b: (op.dy, -(op.dy * operator("floor", a / b)))),
    "fmod": _pair(lambda op, a, b: (op.dy, -(op.dy * operator("trunc", a / b)))),
    "atan2": _pair(_atan2),
    "where": _where,
}
