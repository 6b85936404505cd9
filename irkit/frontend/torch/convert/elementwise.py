"""Operators on elements: functions, arithmetic, comparisons, choices."""

import math

from irkit.frontend.torch.aten_node import AtenNode, Convert, apply
from irkit.graph import TensorExpr

_UNARY = {
    "abs": "abs", "acos": "acos", "acosh": "acosh", "asin": "asin", "asinh": "asinh",
    "atan": "atan", "atanh": "atanh", "ceil": "ceil", "cos": "cos", "cosh": "cosh", "erf": "erf",
    "exp": "exp", "expm1": "expm1", "floor": "floor", "log": "log", "log10": "log10",
    "log1p": "log1p", "log2": "log2", "neg": "negative", "reciprocal": "reciprocal",
    "relu": "relu", "round": "round", "rsqrt": "rsqrt", "sigmoid": "sigmoid", "sign": "sign",
    "sin": "sin", "sinh": "sinh", "sqrt": "sqrt", "tan": "tan", "tanh": "tanh", "trunc": "trunc",
}  # fmt: skip
_EXACT = ("abs", "neg", "relu", "sign")
_ROUNDED = ("ceil", "floor", "round", "trunc")
_COMPARE = {
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater",
    "ge": "greater_equal",
}  # fmt: skip
_BITS = {
    "bitwise_and": "bitwise_and", "bitwise_or": "bitwise_or", "bitwise_xor": "bitwise_xor",
    "maximum": "maximum", "minimum": "minimum", "mul": "multiply", "atan2": "atan2",
    "fmod": "fmod", "remainder": "floor_mod",
}  # fmt: skip


def _unary(name: str) -> Convert:
    def convert(node: AtenNode) -> TensorExpr:
        x = node.tensor(0)
        if name in _ROUNDED and x.dtype.is_integer:
            return x
        if name == "sign" and x.dtype.is_bool:
            return x
        wanted = x.dtype if name in _EXACT else node.dtype
        return apply(_UNARY[name], node.cast(x, wanted))

    return convert


def _binary(name: str) -> Convert:
    def convert(node: AtenNode) -> TensorExpr:
        if name == "mul" and node.dtype.is_bool:
            return apply("logical_and", node.tensor(0), node.tensor(1))
        a, b = (node.of_type(node.given(at), node.dtype) for at in (0, 1))
        if name == "fmod" and not node.dtype.is_float:
            return a - apply("divide", a, b) * b
        return apply(_BITS[name], a, b)

    return convert


def _compare(name: str) -> Convert:
    return lambda node: apply(_COMPARE[name], *node.common(node.given(0), node.given(1)))


def _sum(name: str) -> Convert:
    """Convert a + alpha * b, or a - alpha * b."""

    def convert(node: AtenNode) -> TensorExpr:
        a, b = (node.of_type(node.given(at), node.dtype) for at in (0, 1))
        alpha = node.number(2, "alpha", 1)
        if node.dtype.is_bool:
            return apply("logical_or", a, b)
        b = b if alpha == 1 else b * alpha
        return apply(name, a, b)

    return convert


def _rsub(node: AtenNode) -> TensorExpr:
    a, b = (node.of_type(node.given(at), node.dtype) for at in (0, 1))
    alpha = node.number(2, "alpha", 1)
    return b - (a if alpha == 1 else a * alpha)


def _div(node: AtenNode) -> TensorExpr:
    a, b = (node.of_type(node.given(at), node.dtype) for at in (0, 1))
    mode = node.given(2, "rounding_mode")
    if mode is None or (mode == "trunc" and node.dtype.is_integer):
        return apply("divide", a, b)
    if node.dtype.is_integer:
        return apply("divide", a - apply("floor_mod", a, b), b)
    return apply("floor" if mode == "floor" else "trunc", a / b)


def _pow(node: AtenNode) -> TensorExpr:
    exponent = node.given(1)
    if exponent == 2 and not isinstance(exponent, TensorExpr):
        x = node.of_type(node.given(0), node.dtype)
        return x * x
    if not node.dtype.is_float:
        raise node.fail("powers of integers are not supported, except squares")
    a, b = (node.of_type(node.given(at), node.dtype) for at in (0, 1))
    return apply("power", a, b)


def _clamp(node: AtenNode) -> TensorExpr:
    x = node.of_type(node.given(0), node.dtype)
    for at, name, limit in ((1, "min", "maximum"), (2, "max", "minimum")):
        if node.given(at, name) is not None:
            x = apply(limit, x, node.of_type(node.given(at, name), node.dtype))
    return x


def _hardtanh(node: AtenNode) -> TensorExpr:
    x = node.tensor(0)
    least = apply("maximum", x, node.of_type(node.number(1, "min_val", -1.0), x.dtype))
    return apply("minimum", least, node.of_type(node.number(2, "max_val", 1.0), x.dtype))


def _leaky_relu(node: AtenNode) -> TensorExpr:
    x, slope = node.tensor(0), float(node.number(1, "negative_slope", 0.01))
    return apply("where", apply("greater", x, 0.0), x, x * slope)


def _elu(node: AtenNode) -> TensorExpr:
    x = node.tensor(0)
    alpha, scale, inner = (float(node.number(at, name, 1.0)) for at, name in
                           ((1, "alpha"), (2, "scale"), (3, "input_scale")))  # fmt: skip
    below = apply("expm1", x * inner) * (alpha * scale)
    return apply("where", apply("greater", x, 0.0), x * scale, below)


def _gelu(node: AtenNode) -> TensorExpr:
    x = node.tensor(0)
    if node.given(1, "approximate", "none") == "tanh":
        inner = (x + x * x * x * 0.044715) * math.sqrt(2 / math.pi)
        return x * 0.5 * (apply("tanh", inner) + 1.0)
    return x * 0.5 * (apply("erf", x * math.sqrt(0.5)) + 1.0)


def _where(node: AtenNode) -> TensorExpr:
    a, b = (node.of_type(node.given(at), node.dtype) for at in (1, 2))
    return apply("where", truth(node, node.tensor(0)), a, b)


def _special(name: str) -> Convert:
    """Convert a question that integers answer with no."""

    def convert(node: AtenNode) -> TensorExpr:
        x = node.tensor(0)
        # Every integer is equal to itself, so none is special.
        return apply(name, x) if x.dtype.is_float else apply("not_equal", x, x)

    return convert


def _logical(name: str) -> Convert:
    def convert(node: AtenNode) -> TensorExpr:
        tensors = [truth(node, node.tensor(at)) for at in range(len(node.node.args))]
        return apply(name, *tensors)

    return convert


def truth(node: AtenNode, x: TensorExpr) -> TensorExpr:
    """Return True where an element is not 0."""
    return x if x.dtype.is_bool else apply("not_equal", x, node.of_type(0, x.dtype))


def _bitwise_not(node: AtenNode) -> TensorExpr:
    return apply("logical_not", node.tensor(0))


ELEMENTWISE: dict[str, Convert] = {
    **{name: _unary(name) for name in _UNARY},
    **{name: _binary(name) for name in _BITS},
    **{name: _compare(name) for name in _COMPARE},
    **{
        name: _logical(name) for name in ("logical_and", "logical_or", "logical_xor", "logical_not")
    },
    "add": _sum("add"),
    "sub": _sum("subtract"),
    "rsub": _rsub,
    "div": _div,
    "pow": _pow,
    "clamp": _clamp,
    "hardtanh": _hardtanh,
    "leaky_relu": _leaky_relu,
    "elu": _elu,
    "gelu": _gelu,
    "where": _where,
    "bitwise_not": _bitwise_not,
    "isnan": _special("isnan"),
    "isinf": _special("isinf"),
}
