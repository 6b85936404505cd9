"""Small models for tests of the runtime and of compilation."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import irkit
from irkit.core import IRModule
from irkit.graph import Builder, GraphFunc
from irkit.ir import PrimFunc, parse
from irkit.runtime import Model


def module(main: GraphFunc, **others: PrimFunc) -> IRModule:
    return IRModule({"main": main, **others})


def kernel(text: str) -> PrimFunc:
    func = parse(text)
    assert isinstance(func, PrimFunc)
    return func


def mlp() -> IRModule:
    """Return two dense layers whose outputs are the result and the hidden layer."""
    rng = np.random.default_rng(7)
    b = Builder()
    x = b.param("x", (4, 16))
    first = b.constant(rng.standard_normal((16, 32)).astype(np.float32), name="w1")
    second = b.constant(rng.standard_normal((32, 8)).astype(np.float32), name="w2")
    hidden = b.op("relu", b.op("matmul", x, first))
    scores = b.op("matmul", hidden, second)
    return module(b.finish(b.op("softmax", scores, axis=1), hidden, outputs=("p", "hidden")))


def expected(x: NDArray[Any]) -> NDArray[Any]:
    """Compute the output ``p`` of :func:`mlp`."""
    rng = np.random.default_rng(7)
    first, second = (rng.standard_normal(s).astype(np.float32) for s in ((16, 32), (32, 8)))
    scores = np.maximum(x @ first, 0) @ second
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def some_input(seed: int = 0) -> NDArray[np.float32]:
    return np.random.default_rng(seed).standard_normal((4, 16)).astype(np.float32)


def compiled(main: GraphFunc, **others: PrimFunc) -> Model:
    return irkit.compile(module(main, **others))
