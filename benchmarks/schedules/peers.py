"""The peers of the schedules: the same operations in numba, torch, NumPy and ONNX Runtime."""

import math
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

Kernels = dict[str, Callable[..., object]]


def numba_kernels(threads: int) -> Kernels:
    """Return each operation as one writes it for numba: loops, in one pass or a row at a time.

    All take their operands and then the result. Empty if numba is not installed.
    """
    if find_spec("numba") is None:
        return {}
    numba: Any = import_module("numba")
    compiled: Any = numba.njit(fastmath=True, parallel=threads > 1)
    spread: Any = numba.prange
    zero, one = np.float32(0), np.float32(1)

    def add(a: Any, b: Any, c: Any) -> None:
        for i in spread(a.size):
            c[i] = a[i] + b[i]

    def mul_add_relu(a: Any, b: Any, d: Any, c: Any) -> None:
        for i in spread(a.size):
            c[i] = max(a[i] * b[i] + d[i], zero)

    def total(a: Any, s: Any) -> None:
        found = zero
        for i in spread(a.size):
            found += a[i]
        s[0] = found

    def softmax(x: Any, y: Any) -> None:
        for i in spread(x.shape[0]):
            most = x[i, 0]
            for j in range(x.shape[1]):
                most = max(most, x[i, j])
            whole = zero
            for j in range(x.shape[1]):
                y[i, j] = math.exp(x[i, j] - most)
                whole += y[i, j]
            part = one / whole
            for j in range(x.shape[1]):
                y[i, j] *= part

    def layernorm(x: Any, g: Any, b: Any, y: Any) -> None:
        n = x.shape[1]
        for i in spread(x.shape[0]):
            whole = zero
            for j in range(n):
                whole += x[i, j]
            mean, squares = whole / np.float32(n), zero
            for j in range(n):
                squares += (x[i, j] - mean) * (x[i, j] - mean)
            scale = one / np.sqrt(squares / np.float32(n) + np.float32(1e-5))
            for j in range(n):
                y[i, j] = (x[i, j] - mean) * scale * g[j] + b[j]

    written = _by_name(add, mul_add_relu, total, softmax, layernorm)
    return {name: compiled(kernel) for name, kernel in written.items()}


def torch_kernels(threads: int) -> Kernels:
    """Return torch's own operations; those without an ``out`` allocate their result. Empty if torch
    is not installed."""
    if find_spec("torch") is None:
        return {}
    torch: Any = import_module("torch")
    torch.set_num_threads(threads)
    of: Any = torch.from_numpy

    def mul_add_relu(a: Any, b: Any, d: Any, c: Any) -> object:
        return torch.relu_(torch.addcmul(of(d), of(a), of(b), out=of(c)))

    def layernorm(x: Any, g: Any, b: Any, y: Any) -> object:
        return torch.nn.functional.layer_norm(of(x), (x.shape[1],), of(g), of(b))

    def matmul(a: Any, b: Any, c: Any) -> object:
        return torch.mm(of(a), of(b), out=of(c))

    def add(a: Any, b: Any, c: Any) -> object:
        return torch.add(of(a), of(b), out=of(c))

    def total(a: Any, s: Any) -> object:
        return torch.sum(of(a))

    def softmax(x: Any, y: Any) -> object:
        return torch.softmax(of(x), 1, out=of(y))

    return _by_name(matmul, add, mul_add_relu, total, softmax, layernorm)


def numpy_kernels() -> Kernels:
    """Return the operations in NumPy, in place where that is possible."""

    def mul_add_relu(a: Any, b: Any, d: Any, c: Any) -> None:
        np.multiply(a, b, out=c)
        np.add(c, d, out=c)
        np.maximum(c, 0, out=c)

    def softmax(x: Any, y: Any) -> None:
        np.subtract(x, x.max(axis=1, keepdims=True), out=y)
        np.exp(y, out=y)
        np.divide(y, y.sum(axis=1, keepdims=True), out=y)

    def layernorm(x: Any, g: Any, b: Any, y: Any) -> None:
        np.subtract(x, x.mean(axis=1, keepdims=True), out=y)
        scale = 1 / np.sqrt(np.square(y).mean(axis=1, keepdims=True) + np.float32(1e-5))
        np.multiply(y, scale, out=y)
        np.multiply(y, g, out=y)
        np.add(y, b, out=y)

    def matmul(a: Any, b: Any, c: Any) -> object:
        return np.dot(a, b, out=c)

    def add(a: Any, b: Any, c: Any) -> object:
        return np.add(a, b, out=c)

    def total(a: Any, s: Any) -> object:
        return a.sum()

    return _by_name(matmul, add, mul_add_relu, total, softmax, layernorm)


def _by_name(*kernels: Callable[..., object]) -> Kernels:
    return {each.__name__: each for each in kernels}


def chain_of_convolutions(weights: list[Any], size: int, threads: int) -> Callable[[Any], Any]:
    """Return a chain of 3x3 convolutions in ONNX Runtime. Shapes: [C, size, size]."""
    channels, last = len(weights[0]), len(weights)
    shape = [1, channels, size, size]
    nodes = [
        helper.make_node("Conv", [f"t{i}", f"w{i}"], [f"t{i + 1}"], pads=[1] * 4)
        for i in range(last)
    ]
    graph = helper.make_graph(
        nodes,
        "chain",
        [helper.make_tensor_value_info("t0", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(f"t{last}", TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(w, f"w{i}") for i, w in enumerate(weights)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    peer: Any = import_module("onnxruntime")
    options = peer.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    session = peer.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )

    def run(x: Any) -> Any:
        return session.run(None, {"t0": x[None]})[0][0]

    return run
