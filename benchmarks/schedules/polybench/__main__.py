"""``python -m benchmarks.schedules.polybench`` measures all kernels on one thread and on two;
``python -m benchmarks.schedules.polybench 1 gemm atax`` some of them on one thread.
"""

import math
import os
import statistics
import subprocess
import sys
from functools import partial
from importlib import import_module
from typing import Any

import msgspec
import numpy as np

import irkit
from benchmarks.schedules.polybench.kernel import NUMPY_TYPES, Kernel
from benchmarks.timing import Thunk, once

SEED = 29
_THREADS = ("IRKIT", "OMP", "OPENBLAS", "MKL", "NUMBA")
_ROUNDS, _ROUND = 21, 0.001
_NUMBAS = {"numba": False, "numba fastmath": True}
_TOLERANCE = {"f32": 2e-4, "f64": 1e-9}


class Measured(msgspec.Struct, frozen=True):
    """The time of a kernel, and its speed relative to each peer: medians of rounds."""

    name: str
    seconds: float
    speeds: dict[str, float]

    @property
    def of_numba(self) -> float:
        return min(self.speeds[name] for name in _NUMBAS)

    def __str__(self) -> str:
        parts = ", ".join(f"{speed:.2f} of {name}" for name, speed in self.speeds.items())
        return f"{self.name}: {parts}; {self.seconds * 1e6:.0f} us"


def main(arguments: list[str]) -> None:
    """Print the figures of all kernels, or of those named, in both types of floats."""
    if not arguments:
        for threads in "12":
            # The libraries read the number of threads when they are loaded.
            counts = {f"{name}_NUM_THREADS": threads for name in _THREADS}
            command = [sys.executable, "-m", "benchmarks.schedules.polybench", threads]
            subprocess.run(command, env=os.environ | counts | {"IRKIT_CACHE": "0"}, check=True)
        return
    threads = int(arguments[0])
    print(f"on {threads} thread{'s' * (threads > 1)}:", flush=True)
    found: list[Measured] = []
    for dtype in ("f64", "f32"):
        rng = np.random.default_rng(SEED)
        for kernel in kernels(rng):
            if kernel.name not in arguments[1:] and arguments[1:]:
                continue
            try:
                found.append(measure(kernel, dtype, threads, rng))
            except Exception as error:
                reason = " ".join(str(error).split())[:200]
                print(f"  {kernel.name} {dtype} failed: {reason}", flush=True)
    summary(found)


def kernels(rng: np.random.Generator) -> list[Kernel]:
    """Draw the sizes of all kernels."""
    from benchmarks.schedules.polybench.numerics import numerics
    from benchmarks.schedules.polybench.products import products
    from benchmarks.schedules.polybench.stencils import stencils
    from benchmarks.schedules.polybench.vectors import vectors

    return [kernel for kind in (products, vectors, stencils, numerics) for kernel in kind(rng)]


def measure(kernel: Kernel, dtype: str, threads: int, rng: np.random.Generator) -> Measured:
    """Time a kernel and its peers in turn.

    Raises: AssertionError if one of them computes something else than NumPy.
    """
    numba: Any = import_module("numba")
    func, shapes = kernel.function(dtype)
    inputs = [rng.random(shape).astype(NUMPY_TYPES[dtype]) for shape in kernel.inputs.values()]
    wanted = kernel.with_numpy(*inputs)
    runs: dict[str, Thunk] = {}
    # All write to the same arrays: speed depends on where in memory they are.
    results = [np.empty(shape, NUMPY_TYPES[dtype]) for shape in shapes]

    def add(name: str, function: Any) -> None:
        for each in results:
            each[...] = 7
        function(*inputs, *results)
        for one, other in zip(results, wanted, strict=True):
            scale = float(np.abs(other).max()) or 1.0
            limit = _TOLERANCE[dtype]
            np.testing.assert_allclose(one, other, limit, limit * scale, err_msg=name)
        runs[name] = partial(function, *inputs, *results)

    add("irkit", irkit.build(func))
    for name, fast in _NUMBAS.items():
        add(name, numba.njit(kernel.loops, fastmath=fast, parallel=threads > 1))
    runs["numpy"] = partial(kernel.with_numpy, *inputs)
    return _time(f"{kernel.name} {dtype}", runs)


def _time(name: str, runs: dict[str, Thunk]) -> Measured:
    calls = {each: _calls(run) for each, run in runs.items()}
    rounds = [
        {each: _warm(run, calls[each]) / calls[each] for each, run in runs.items()}
        for _ in range(_ROUNDS)
    ]
    peers = [each for each in runs if each != "irkit"]
    speeds = {
        peer: statistics.median(times[peer] / times["irkit"] for times in rounds) for peer in peers
    }
    measured = Measured(name, statistics.median(times["irkit"] for times in rounds), speeds)
    print(f"  {measured}", flush=True)
    return measured


def _calls(run: Thunk) -> int:
    return max(1, math.ceil(_ROUND / max(min(once(run) for _ in range(4)), 1e-7)))


def _warm(run: Thunk, calls: int) -> float:
    """Time some calls after one that does not count: whoever comes after NumPy, with its temporary
    arrays, would find the caches full of these."""
    run()
    return once(partial(_repeat, run, calls))


def _repeat(run: Thunk, calls: int) -> None:
    for _ in range(calls):
        run()


def summary(found: list[Measured]) -> None:
    """Print the geometric means, and the ten worst relative to the better numba."""
    for peer in found[0].speeds if found else ():
        mean = statistics.geometric_mean(one.speeds[peer] for one in found)
        below = sum(one.speeds[peer] < 1 for one in found)
        print(f"{len(found)} kernels: geometric mean {mean:.2f} of {peer}, {below} below 1")
    print("the ten worst:")
    for one in sorted(found, key=lambda one: one.of_numba)[:10]:
        print(f"    {one}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
