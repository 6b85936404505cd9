"""Reductions along rows and columns, softmax, layer norm, argmax and transposes, f32."""

import math
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.schedules.kernels.case import Case, floats, log_uniform
from irkit import te, topi
from irkit.ir import as_int
from irkit.te import Tensor

numba: Any = import_module("numba")
torch: Any = import_module("torch")
SHAPES = 20
_FEWEST, _MOST = 1 << 12, 1 << 22


def row_kernels(threads: int, seed: int = 1) -> Iterator[Case]:
    """Draw the shapes of each kind."""
    written = numba_kernels(threads)
    rng = np.random.default_rng(seed)
    for _ in range(SHAPES):
        yield _reduction(rng, 1, written)
        yield _reduction(rng, 0, written)
        yield _argmax(rng, written)
        yield _softmax(rng, written)
        yield _layer_norm(rng, written)
        yield _transpose(rng)


def _matrix(rng: np.random.Generator) -> Any:
    while True:
        shape = log_uniform(rng, 4, 4096), log_uniform(rng, 4, 4096)
        if _FEWEST <= math.prod(shape) <= _MOST:
            return floats(rng, *shape)


def _case(
    kind: str, make: Callable[..., Tensor], inputs: list[Any], out: Any, peers: dict[str, Any]
) -> Case:
    places = [
        te.placeholder(each.shape, name=name) for name, each in zip("xgb", inputs, strict=False)
    ]
    func = te.create_prim_func([*places, make(*places)])
    shape = " x ".join(map(str, inputs[0].shape))
    return Case(f"{kind} {shape}", func, [*inputs, out], peers)


def _reduction(rng: np.random.Generator, axis: int, written: dict[str, Any]) -> Case:
    x = _matrix(rng)
    what = str(rng.choice(["sum", "max"]))
    out = np.zeros(x.shape[1 - axis], np.float32)
    numpy_of, torch_of = getattr(np, what), torch.sum if what == "sum" else torch.amax
    peers = {
        "numpy": partial(numpy_of, x, axis=axis, out=out.copy()),
        "torch": partial(torch_of, torch.from_numpy(x), axis, out=torch.from_numpy(out.copy())),
        "numba": partial(written[f"{what}{axis}"], x, out.copy()),
    }
    make = getattr(topi, what)
    return _case(f"{what} along {axis},", partial(make, axis=axis), [x], out, peers)


def _argmax(rng: np.random.Generator, written: dict[str, Any]) -> Case:
    x = _matrix(rng)
    out = np.zeros(x.shape[0], np.int64)
    peers = {
        "numpy": partial(np.argmax, x, axis=1, out=out.copy()),
        "torch": partial(torch.argmax, torch.from_numpy(x), 1),
        "numba": partial(written["argmax"], x, out.copy()),
    }
    return _case("argmax", partial(topi.argmax, axis=1), [x], out, peers)


def _softmax(rng: np.random.Generator, written: dict[str, Any]) -> Case:
    x = _matrix(rng)
    out = np.zeros_like(x)
    peers = {
        "torch": partial(torch.softmax, torch.from_numpy(x), 1, out=torch.from_numpy(out.copy())),
        "numba": partial(written["softmax"], x, out.copy()),
    }
    return _case("softmax", topi.nn.softmax, [x], out, peers)


def _layer_norm(rng: np.random.Generator, written: dict[str, Any]) -> Case:
    x = _matrix(rng)
    g, b = floats(rng, x.shape[1]), floats(rng, x.shape[1])
    out = np.zeros_like(x)
    given = [torch.from_numpy(each) for each in (x, g, b)]

    def by_torch() -> Any:
        return torch.nn.functional.layer_norm(given[0], (x.shape[1],), given[1], given[2])

    peers = {"torch": by_torch, "numba": partial(written["layer_norm"], x, g, b, out.copy())}
    return _case("layer norm", layer_norm, [x, g, b], out, peers)


def layer_norm(x: Tensor, g: Tensor, b: Tensor) -> Tensor:
    """Normalise rows to mean 0 and variance 1, then scale and shift them."""
    count = x.shape[1]
    k, m = (te.reduce_axis((0, count), name=name) for name in "km")
    width = float(as_int(count) or 0)
    rows = (x.shape[0],)
    whole = te.compute(rows, lambda i: te.sum(x[i, k], axis=k), name="whole")
    mean = te.compute(rows, lambda i: whole[i] / width, name="mean")
    squares = te.compute(
        rows, lambda i: te.sum((x[i, m] - mean[i]) * (x[i, m] - mean[i]), axis=m), name="squares"
    )
    scale = te.compute(rows, lambda i: 1 / te.sqrt(squares[i] / width + 1e-5), name="scale")
    return te.compute(x.shape, lambda i, j: (x[i, j] - mean[i]) * scale[i] * g[j] + b[j], name="y")


def _transpose(rng: np.random.Generator) -> Case:
    rank = int(rng.integers(2, 6))
    high = round(_MOST ** (1 / rank)) * 2
    while True:
        shape = [log_uniform(rng, 2, high) for _ in range(rank)]
        axes = [int(axis) for axis in rng.permutation(rank)]
        if _FEWEST <= math.prod(shape) <= _MOST and axes != sorted(axes):
            break
    x = floats(rng, *shape)
    out = np.zeros([shape[axis] for axis in axes], np.float32)
    given, moved = torch.from_numpy(x), torch.from_numpy(out.copy())
    peers = {
        "numpy": partial(np.copyto, out.copy(), x.transpose(axes)),
        "torch": partial(moved.copy_, given.permute(axes)),
    }
    text = "".join(map(str, axes))
    return _case(f"transpose {text},", partial(topi.transpose, axes=axes), [x], out, peers)


def numba_kernels(threads: int) -> dict[str, Any]:
    """Return the reductions as one writes them for numba: loops over rows."""
    compiled: Any = numba.njit(fastmath=True, parallel=threads > 1)
    exact: Any = numba.njit(parallel=threads > 1)
    spread: Any = numba.prange
    zero, one = np.float32(0), np.float32(1)

    def sum1(x: Any, y: Any) -> Any:
        for i in spread(x.shape[0]):
            found = zero
            for j in range(x.shape[1]):
                found += x[i, j]
            y[i] = found
        return y

    def max1(x: Any, y: Any) -> Any:
        for i in spread(x.shape[0]):
            found = x[i, 0]
            for j in range(x.shape[1]):
                found = max(found, x[i, j])
            y[i] = found
        return y

    def sum0(x: Any, y: Any) -> Any:
        for j in range(x.shape[1]):
            y[j] = zero
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                y[j] += x[i, j]
        return y

    def max0(x: Any, y: Any) -> Any:
        for j in range(x.shape[1]):
            y[j] = x[0, j]
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                y[j] = max(y[j], x[i, j])
        return y

    def argmax(x: Any, y: Any) -> Any:
        for i in spread(x.shape[0]):
            at = 0
            for j in range(1, x.shape[1]):
                if x[i, j] > x[i, at]:
                    at = j
            y[i] = at
        return y

    def softmax(x: Any, y: Any) -> Any:
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
        return y

    def layer_norm(x: Any, g: Any, b: Any, y: Any) -> Any:
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
        return y

    kernels = [sum1, max1, sum0, max0, softmax, layer_norm]
    return {each.__name__: compiled(each) for each in kernels} | {"argmax": exact(argmax)}
