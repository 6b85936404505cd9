"""Operators on each element of one argument: the gradient times the derivative."""

import math
from collections.abc import Callable

from irkit.graph.differentiation.applied import AppliedOp, Rule, where
from irkit.graph.tensor import TensorExpr, operator

Derivative = Callable[[TensorExpr, TensorExpr], TensorExpr | float]


def _times(derivative: Derivative) -> Rule:
    """Return the rule of a function by its derivative, from argument and result."""

    def rule(op: AppliedOp) -> list[TensorExpr | None]:
        return [op.dy * derivative(op.args[0], op.y)]

    return rule


def _f(name: str, x: TensorExpr) -> TensorExpr:
    return operator(name, x)


def _zero(op: AppliedOp) -> list[TensorExpr | None]:
    """Return no gradient: the function is constant between its steps."""
    return [None]


def _relu(op: AppliedOp) -> list[TensorExpr | None]:
    """Pass the gradient on where x is positive; at 0 it is 0."""
    return [where(operator("greater", op.args[0], 0.0), op.dy, 0.0)]


def _cast(op: AppliedOp) -> list[TensorExpr | None]:
    (x,) = op.args
    return [op.dy.cast(x.dtype)] if x.dtype.is_float and op.y.dtype.is_float else [None]


ELEMENTWISE: dict[str, Rule] = {
    "exp": _times(lambda x, y: y),
    "exp2": _times(lambda x, y: y * math.log(2)),
    "expm1": _times(lambda x, y: y + 1.0),
    "log": _times(lambda x, y: 1.0 / x),
    "log2": _times(lambda x, y: 1.0 / (x * math.log(2))),
    "log10": _times(lambda x, y: 1.0 / (x * math.log(10))),
    "log1p": _times(lambda x, y: 1.0 / (x + 1.0)),
    "sqrt": _times(lambda x, y: 0.5 / y),
    "rsqrt": _times(lambda x, y: y * y * y * -0.5),
    "sigmoid": _times(lambda x, y: y * (1.0 - y)),
    "tanh": _times(lambda x, y: 1.0 - y * y),
    "erf": _times(lambda x, y: _f("exp", -(x * x)) * (2 / math.sqrt(math.pi))),
    "sin": _times(lambda x, y: _f("cos", x)),
    "cos": _times(lambda x, y: -_f("sin", x)),
    "tan": _times(lambda x, y: y * y + 1.0),
    "asin": _times(lambda x, y: _f("rsqrt", 1.0 - x * x)),
    "acos": _times(lambda x, y: -_f("rsqrt", 1.0 - x * x)),
    "atan": _times(lambda x, y: 1.0 / (x * x + 1.0)),
    "sinh": _times(lambda x, y: _f("cosh", x)),
    "cosh": _times(lambda x, y: _f("sinh", x)),
    "asinh": _times(lambda x, y: _f("rsqrt", x * x + 1.0)),
    "acosh": _times(lambda x, y: _f("rsqrt", x * x - 1.0)),
    "atanh": _times(lambda x, y: 1.0 / (1.0 - x * x)),
    "abs": _times(lambda x, y: _f("sign", x)),
    "reciprocal": _times(lambda x, y: -(y * y)),
    "negative": _times(lambda x, y: -1.0),
    "identity": lambda op: [op.dy],
    "relu": _relu,
    "cast": _cast,
    **dict.fromkeys(("floor", "ceil", "trunc", "round", "sign"), _zero),
}
