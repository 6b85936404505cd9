"""Small random graph functions, and functions shared by tests."""

from typing import Any

import numpy as np

from irkit.graph import Builder, GraphFunc, Value

SHAPE = (1, 2, 4, 4)
UNARY = ("relu", "tanh", "abs", "negative", "sigmoid", "identity", "floor")
BINARY = ("add", "subtract", "multiply", "maximum", "minimum")


def random_graph(seed: int, steps: int = 12) -> GraphFunc:
    """Return a function over f32 images; every operand is some earlier value, so uses fan out."""
    rng = np.random.default_rng(seed)
    b = Builder("main")
    values = [b.param("x", SHAPE), b.param("y", SHAPE)]
    for _ in range(steps):
        values.append(_step(b, rng, values))
    count = int(rng.integers(1, 4))
    results = [values[int(rng.integers(len(values)))] for _ in range(count - 1)]
    return b.finish(*results, values[-1])


def _floats(rng: np.random.Generator, *shape: int) -> Any:
    return rng.standard_normal(shape).astype(np.float32)


def _step(b: Builder, rng: np.random.Generator, values: list[Value]) -> Value:
    def pick() -> Value:
        return values[int(rng.integers(len(values)))]

    match int(rng.integers(11)):
        case 0 | 1 | 2:
            return b.op(UNARY[int(rng.integers(len(UNARY)))], pick())
        case 3 | 4:
            return b.op(BINARY[int(rng.integers(len(BINARY)))], pick(), pick())
        case 5:
            w = b.constant(_floats(rng, 2, 2, 3, 3), name="w")
            more = [b.constant(_floats(rng, 2), name="bias")] if rng.integers(2) else []
            return b.op("conv", pick(), w, *more, pads=(1, 1, 1, 1))
        case 6:
            stats = [b.constant(np.abs(_floats(rng, 2)) + 0.5) for _ in range(4)]
            return b.op("batch_norm", pick(), *stats)
        case 7:
            whole = b.op("mean", pick(), axes=(2, 3), keepdims=True)
            return b.op("broadcast_to", whole, shape=SHAPE)
        case 8:
            scale = b.constant(_floats(rng, 1), name="scale")
            return b.op("multiply", pick(), b.op("exp2", scale))
        case 9:
            flat = b.op("reshape", pick(), shape=(2, 16))
            return b.op("reshape", b.op("transpose", flat, axes=(0, 1)), shape=SHAPE)
        case _:
            both = b.op("concat", pick(), pick(), axis=1)
            return b.op("slice", both, begins=(1,), ends=(3,), axes=(1,))


def inputs_of(seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {name: _floats(rng, *SHAPE) for name in "xy"}
