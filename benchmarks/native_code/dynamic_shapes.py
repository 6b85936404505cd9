"""A model compiled once for any size, beside the same model compiled for each of eight sizes.

``python -m benchmarks.native_code.dynamic_shapes mlp cnn block`` chooses models, on one thread.
Times are the least processor time of interleaved calls in one thread, which other programs on the
machine disturb little. Then come the sizes of packages, and first calls at a new size beside later
ones: the least of several loads of the package, each of which meets the sizes for the first time.
"""

import pickle
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import irkit
from irkit.core import IRModule
from irkit.graph import Builder, Dimension, Value, with_dimensions
from irkit.ir import Var
from irkit.runtime import Model, set_num_threads

Dims = tuple[Any, ...]
SECONDS = 1.5
LOADS = 7
BATCHES = tuple((batch,) for batch in (1, 2, 3, 7, 16, 33, 64, 128))
_rng = np.random.default_rng(0)


def _weight(b: Builder, *shape: int) -> Value:
    scaled = _rng.standard_normal(shape) / np.sqrt(np.prod(shape[1:] or shape))
    return b.constant(scaled.astype(np.float32))


def mlp(b: Builder, dims: Dims) -> Value:
    x = b.param("x", (*dims, 784))
    h = b.op("relu", b.op("add", b.op("matmul", x, _weight(b, 784, 256)), _weight(b, 256)))
    return b.op("softmax", b.op("matmul", h, _weight(b, 256, 10)), axis=1)


def cnn(b: Builder, dims: Dims) -> Value:
    """Stem, two residual blocks and classifier of a small residual network."""
    x = b.param("x", (*dims, 3, 64, 64))
    x = b.op("relu", b.op("conv", x, _weight(b, 32, 3, 7, 7), strides=(2, 2), pads=(3,) * 4))
    x = b.op("max_pool", x, kernel=(3, 3), strides=(2, 2), pads=(1,) * 4)
    for before, after, stride in ((32, 32, 1), (32, 64, 2)):
        strides = (stride, stride)
        y = b.op("conv", x, _weight(b, after, before, 3, 3), strides=strides, pads=(1,) * 4)
        y = b.op("conv", b.op("relu", y), _weight(b, after, after, 3, 3), pads=(1,) * 4)
        if stride > 1:
            x = b.op("conv", x, _weight(b, after, before, 1, 1), strides=strides)
        x = b.op("relu", b.op("add", x, y))
    return b.op("matmul", b.op("mean", x, axes=(2, 3)), _weight(b, 64, 10))


def block(b: Builder, dims: Dims, width: int = 128, heads: int = 4) -> Value:
    """A layer of a transformer, with attention over the whole sequence."""
    x = b.param("x", (*dims, width))
    constant = all(isinstance(dim, int) for dim in dims)
    lead = dims if constant else (-2, -3)
    likes = () if constant else (x,)

    def split(weight: Value, axes: tuple[int, ...]) -> Value:
        made = b.op("matmul", x, weight)
        apart = b.op("reshape", made, *likes, shape=(*lead, heads, width // heads))
        return b.op("transpose", apart, axes=axes)

    w = [_weight(b, width, width) for _ in range(4)]
    q, v = split(w[0], (0, 2, 1, 3)), split(w[2], (0, 2, 1, 3))
    scores = b.op("softmax", b.op("matmul", q, split(w[1], (0, 2, 3, 1))), axis=3)
    mixed = b.op("transpose", b.op("matmul", scores, v), axes=(0, 2, 1, 3))
    joined = b.op("reshape", mixed, *likes, shape=(*lead, width))
    x = b.op("add", x, b.op("matmul", joined, w[3]))
    inner = b.op("relu", b.op("matmul", x, _weight(b, width, 512)))
    return b.op("add", x, b.op("matmul", inner, _weight(b, 512, width)))


SEQUENCES = ((1, 8), (1, 32), (1, 128), (2, 17), (3, 50), (4, 64), (8, 33), (8, 128))
MODELS: dict[str, tuple[Callable[[Builder, Dims], Value], tuple[str, ...], Any, Any]] = {
    "mlp": (mlp, ("batch",), BATCHES, (784,)),
    "cnn": (cnn, ("batch",), tuple((n,) for n in (1, 2, 3, 4, 5, 8, 12, 16)), (3, 64, 64)),
    "block": (block, ("batch", "seq"), SEQUENCES, (128,)),
}


def compiled(make: Callable[[Builder, Dims], Value], dims: Dims) -> Model:
    b = Builder("main")
    func = b.finish(make(b, dims))
    named = {dim.name: Dimension(dim.name, 1, 4096) for dim in dims if isinstance(dim, Var)}
    return irkit.compile(IRModule({"main": with_dimensions(func, named)}), keep_trace=False)


def _timed(run: Callable[[], object], count: int) -> float:
    start = time.thread_time_ns()
    for _ in range(count):
        run()
    return (time.thread_time_ns() - start) / count * 1e-3


def compare(first: Callable[[], object], second: Callable[[], object]) -> tuple[float, float]:
    """Return the least time of each. Units: microseconds."""
    first()
    second()
    count = max(1, int(3000 / max(_timed(first, 1), 1)))
    rows: list[tuple[float, float]] = []
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end or len(rows) < 8:
        rows.append((_timed(first, count), _timed(second, count)))
    return min(row[0] for row in rows), min(row[1] for row in rows)


def first_calls(model: Model, feeds: list[dict[str, Any]]) -> list[float]:
    """Return, for each input, the time of the first call at its size over that of later ones.

    A call at another size, which loads the code and the weights into memory, goes before them all.
    """
    with tempfile.TemporaryDirectory(prefix="irkit-") as folder:
        path = Path(folder) / "model.irkit"
        model.save(path)
        rows: list[list[tuple[float, float]]] = []
        for _ in range(LOADS):
            loaded = irkit.load(path)
            loaded.run({"x": np.repeat(feeds[0]["x"], 11, axis=0)})
            rows.append([])
            for each in feeds:
                run = partial(loaded.run, each)
                first = _timed(run, 1)
                rows[-1].append((first, min(_timed(run, 1) for _ in range(5))))
    least = [[min(row[at][which] for row in rows) for which in (0, 1)] for at in range(len(feeds))]
    return [first / later for first, later in least]


def main(names: list[str] | None = None) -> None:
    set_num_threads(1)
    for name in names or list(MODELS):
        make, dims, sizes, rest = MODELS[name]
        once = compiled(make, tuple(map(Var, dims)))
        ratios: list[float] = []
        given: list[dict[str, Any]] = []
        package = len(pickle.dumps(once))
        larger: list[float] = []
        for size in sizes:
            special = compiled(make, size)
            larger.append(package / len(pickle.dumps(special)))
            feeds = {"x": _rng.standard_normal((*size, *rest)).astype(np.float32)}
            given.append(feeds)
            ours, peer = compare(partial(once.run, feeds), partial(special.run, feeds))
            ratios.append(ours / peer)
            print(f"{name} {size}: {ours:.0f} us, for this size {peer:.0f} us, {ratios[-1]:.2f}")
        mean = statistics.geometric_mean(ratios)
        print(f"{name}: geometric mean {mean:.2f}, worst {max(ratios):.2f}", flush=True)
        print(f"{name}: the package is at most {max(larger):.2f} times as large as one size's")
        firsts = first_calls(once, given)
        listed = ", ".join(f"{ratio:.2f}" for ratio in firsts)
        print(f"{name}: first call at a size, in times of later ones: {listed}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
