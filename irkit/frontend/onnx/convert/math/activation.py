"""Activations that are made of several elementwise operators."""

import math

from irkit.frontend.onnx.convert.math.arithmetic import wide_float
from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.graph import Value


def _below_zero(node: OnnxNode, x: Value) -> Value:
    return node.op("less", x, 0)


def hard_sigmoid(node: OnnxNode) -> Value:
    """Return max(0, min(1, alpha * x + beta)).

    Source: HardSigmoid-1 to HardSigmoid-22.
    """
    return _ramp(node, node.input(0), node.number("alpha", 0.2), node.number("beta", 0.5))


def hard_swish(node: OnnxNode) -> Value:
    """Return x * max(0, min(1, x / 6 + 1 / 2)).

    Source: HardSwish-14, HardSwish-22.
    """
    x = node.input(0)
    return node.op("multiply", x, _ramp(node, x, 1 / 6, 0.5))


def _ramp(node: OnnxNode, x: Value, slope: float, start: float) -> Value:
    line = node.op("add", node.op("multiply", x, slope), start)
    return node.op("maximum", node.op("minimum", line, 1), 0)


def elu(node: OnnxNode) -> Value:
    """Return alpha * (exp(x) - 1) below zero, and x above.

    Source: Elu-1 to Elu-22.
    """
    x = node.input(0)
    curve = node.op("multiply", node.op("expm1", x), node.number("alpha", 1.0))
    return node.op("where", _below_zero(node, x), curve, x)


def selu(node: OnnxNode) -> Value:
    """Return gamma * (alpha * exp(x) - alpha) up to zero, and gamma * x above.

    Source: Selu-1 to Selu-22; the defaults have more digits from version 6 on.
    """
    x = node.input(0)
    alpha, gamma = node.number("alpha"), node.number("gamma")
    curve = node.op("multiply", node.op("expm1", x), alpha)
    return node.op("multiply", node.op("where", _below_zero(node, x), curve, x), gamma)


def celu(node: OnnxNode) -> Value:
    """Return alpha * (exp(x / alpha) - 1) below zero, and x above.

    Source: Celu-12 to Celu-28.
    """
    x, alpha = node.input(0), node.number("alpha", 1.0)
    curve = node.op("multiply", node.op("expm1", node.op("divide", x, alpha)), alpha)
    return node.op("where", _below_zero(node, x), curve, x)


def leaky_relu(node: OnnxNode) -> Value:
    """Multiply elements below zero by ``alpha``.

    Source: LeakyRelu-1 to LeakyRelu-16.
    """
    x = node.input(0)
    scaled = node.op("multiply", x, node.number("alpha", 0.01))
    return node.op("where", _below_zero(node, x), scaled, x)


def prelu(node: OnnxNode) -> Value:
    """Multiply elements below zero by a slope.

    Source: PRelu-1 to PRelu-16; before version 7 the slope is one number, or one a channel.
    """
    x, slope = node.input(0), node.input(1)
    if node.version < 7 and math.prod(node.shape(slope)) > 1:
        slope = node.op("reshape", slope, shape=(-1, *(1,) * (node.rank(x) - 2)))
    return node.op("where", _below_zero(node, x), node.op("multiply", x, slope), x)


def thresholded_relu(node: OnnxNode) -> Value:
    """Keep elements above ``alpha``; others become 0.

    Source: ThresholdedRelu-10, ThresholdedRelu-22.
    """
    x = node.input(0)
    return node.op("where", node.op("greater", x, node.number("alpha", 1.0)), x, 0)


def softplus(node: OnnxNode) -> Value:
    """Return log(1 + exp(x)), without overflow.

    Source: Softplus-1, Softplus-22.
    """
    return _softplus(node, node.input(0))


def _softplus(node: OnnxNode, x: Value) -> Value:
    small = node.op("exp", node.op("negative", node.op("abs", x)))
    return node.op("add", node.op("relu", x), node.op("log1p", small))


def softsign(node: OnnxNode) -> Value:
    """Return x / (1 + abs(x)).

    Source: Softsign-1, Softsign-22.
    """
    x = node.input(0)
    return node.op("divide", x, node.op("add", node.op("abs", x), 1))


def mish(node: OnnxNode) -> Value:
    """Return x * tanh(log(1 + exp(x))).

    Source: Mish-18, Mish-22.
    """
    x = node.input(0)
    return node.op("multiply", x, node.op("tanh", _softplus(node, x)))


def gelu(node: OnnxNode) -> Value:
    """Return x times the normal distribution function of x, exactly or by the formula with tanh.

    Source: Gelu-20.
    """
    x, approximate = node.input(0), node.text("approximate", "none")
    if approximate == "none":
        inner = node.op("erf", node.op("multiply", x, math.sqrt(0.5)))
    elif approximate == "tanh":
        cube = node.op("multiply", node.op("multiply", x, x), x)
        line = node.op("add", x, node.op("multiply", cube, 0.044715))
        inner = node.op("tanh", node.op("multiply", line, math.sqrt(2 / math.pi)))
    else:
        raise node.fail(f"approximate is {approximate!r}; expected none or tanh")
    return node.op("multiply", node.op("multiply", x, 0.5), node.op("add", inner, 1))


def swish(node: OnnxNode) -> Value:
    """Return x * sigmoid(alpha * x).

    Source: Swish-24.
    """
    x, alpha = node.input(0), node.number("alpha", 1.0)
    scaled = x if alpha == 1.0 else node.op("multiply", x, alpha)
    return node.op("multiply", x, node.op("sigmoid", scaled))


def shrink(node: OnnxNode) -> Value:
    """Move elements beyond ``lambd`` towards zero by ``bias``; those between become 0.

    Where ``lambd`` is negative, an element can be beyond both ends: the lower one decides.
    Source: Shrink-9.
    """
    given = node.input(0)
    kind = node.dtype(given)
    x = given if kind.is_float else wide_float(node, given)
    bound, bias = node.number("lambd", 0.5), node.number("bias", 0.0)
    above = node.op("where", node.op("greater", x, bound), node.op("subtract", x, bias), 0)
    below = node.op("less", x, -bound)
    return node.cast(node.op("where", below, node.op("add", x, bias), above), kind)
