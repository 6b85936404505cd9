"""Steps of optimisers: Momentum, Adagrad and Adam."""

from collections.abc import Callable

from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.graph import Value

_Update = Callable[[Value, Value, "tuple[Value, ...]"], "tuple[Value, ...]"]


def _each(node: OnnxNode, states: int, update: _Update) -> list[Value]:
    """Update each tensor by its gradient and states, all of which are inputs after R and T."""
    rest = [node.input(at) for at in range(2, len(node.inputs))]
    count, odd = divmod(len(rest), 2 + states)
    if odd:
        raise node.fail(f"it has {len(node.inputs)} inputs; expected 2 and {2 + states} a tensor")
    columns = [rest[at * count : (at + 1) * count] for at in range(2 + states)]
    found = [update(x, g, tuple(state)) for x, g, *state in zip(*columns, strict=True)]
    return [value for column in zip(*found, strict=True) for value in column]


def _decayed(node: OnnxNode, x: Value, gradient: Value) -> Value:
    """Add the gradient of the norm."""
    return node.op("add", gradient, node.op("multiply", x, node.number("norm_coefficient", 0.0)))


def momentum(node: OnnxNode) -> list[Value]:
    """Move by the gradient and a part of the last step.

    Source: ai.onnx.preview.training Momentum-1.
    """
    rate, step = node.input(0), node.input(1)
    alpha, mode = node.number("alpha"), node.text("mode")
    if mode not in ("standard", "nesterov"):
        raise node.fail(f"mode is {mode!r}; expected standard or nesterov")

    def update(x: Value, gradient: Value, states: tuple[Value, ...]) -> tuple[Value, ...]:
        (old,) = states
        g = _decayed(node, x, gradient)
        later = node.op("greater", step, 0)
        beta = node.op("where", node.op("reshape", later, shape=()), _like(node, x, "beta"), 1)
        new = node.op("add", node.op("multiply", old, alpha), node.op("multiply", g, beta))
        move = new
        if mode == "nesterov":
            move = node.op("add", g, node.op("multiply", new, alpha))
        return node.op("subtract", x, node.op("multiply", move, rate)), new

    return _each(node, 1, update)


def _like(node: OnnxNode, x: Value, name: str) -> Value:
    return node.scalar(node.number(name), x)


def adagrad(node: OnnxNode) -> list[Value]:
    """Move by the gradient over the root of its squares so far.

    Source: ai.onnx.preview.training Adagrad-1.
    """
    rate, step = node.input(0), node.input(1)

    def update(x: Value, gradient: Value, states: tuple[Value, ...]) -> tuple[Value, ...]:
        (old,) = states
        count = node.cast(step, node.dtype(x))
        slow = node.op("add", node.op("multiply", count, node.number("decay_factor", 0.0)), 1)
        g = _decayed(node, x, gradient)
        new = node.op("add", old, node.op("multiply", g, g))
        root = node.op("add", node.op("sqrt", new), node.number("epsilon", 1e-6))
        move = node.op("multiply", node.op("divide", rate, slow), node.op("divide", g, root))
        return node.op("subtract", x, move), new

    return _each(node, 1, update)


def adam(node: OnnxNode) -> list[Value]:
    """Move by the mean of gradients over the root of that of their squares.

    Source: ai.onnx.preview.training Adam-1.
    """
    rate, step = node.input(0), node.input(1)
    alpha, beta = node.number("alpha", 0.9), node.number("beta", 0.999)

    def mean(old: Value, new: Value, factor: float) -> Value:
        kept = node.op("multiply", old, factor)
        return node.op("add", kept, node.op("multiply", new, 1 - factor))

    def update(x: Value, gradient: Value, states: tuple[Value, ...]) -> tuple[Value, ...]:
        first, second = states
        g = _decayed(node, x, gradient)
        v, h = mean(first, g, alpha), mean(second, node.op("multiply", g, g), beta)
        count = node.cast(step, node.dtype(x))
        power = node.op("power", node.scalar(beta, x), count)
        missing = node.op("sqrt", node.op("subtract", 1, power))
        grown = node.op("subtract", 1, node.op("power", node.scalar(alpha, x), count))
        speed = node.op("divide", node.op("multiply", rate, missing), grown)
        speed = node.op("where", node.op("greater", step, 0), speed, rate)
        root = node.op("add", node.op("sqrt", h), node.number("epsilon", 1e-6))
        moved = node.op("subtract", x, node.op("multiply", speed, node.op("divide", v, root)))
        factor = 1 - node.number("norm_coefficient_post", 0.0)
        return node.op("multiply", moved, factor), v, h

    return _each(node, 2, update)
