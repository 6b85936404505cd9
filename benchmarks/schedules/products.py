"""Products of 200 random shapes against MKL through torch and OpenBLAS through NumPy, f32.

``python -m benchmarks.schedules.products --threads 1`` draws shapes log-uniformly between 1 and
4096, transposes and batches, from a fixed seed, and measures each in turn with its peers. It prints
the geometric mean, the 5th percentile and the ten worst; ``--dtype float64`` is another type. torch
is measured if it is installed.
"""

import argparse
import math
import os
import sys
import time
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

import irkit
from benchmarks.timing import Thunk
from irkit import te
from irkit.ir import Buffer, Expr, PrimFunc, Var, as_int

SEED = 16
SHAPES = 200
ROUNDS = 15
_LARGEST = 4096
_MOST_WORK = 1 << 35
_MOST_MEMORY = 1 << 27
_SECONDS = 0.002
_PAUSE = 0.06
_THREADS = ("IRKIT", "OMP", "OPENBLAS", "MKL")

Case = tuple[int, int, int, int, bool, bool]
"""Batch, rows, columns, steps, and whether either operand is transposed."""


def cases(count: int = SHAPES, seed: int = SEED) -> list[Case]:
    """Draw shapes; those that take seconds or gigabytes are drawn again."""
    rng = np.random.default_rng(seed)
    found: list[Case] = []
    while len(found) < count:
        rows, columns, steps = (
            round(math.exp(rng.uniform(0, math.log(_LARGEST)))) for _ in range(3)
        )
        batch = int(rng.choice([1, 1, 1, 2, 4, 12]))
        flips = bool(rng.integers(2)), bool(rng.integers(2))
        memory = batch * (rows * steps + steps * columns + rows * columns)
        if batch * rows * columns * steps <= _MOST_WORK and memory <= _MOST_MEMORY:
            found.append((batch, rows, columns, steps, *flips))
    return found


def product(case: Case, dtype: str) -> PrimFunc:
    batch, rows, columns, steps, first, second = case
    head = (batch,) if batch > 1 else ()
    a = te.placeholder((*head, *((steps, rows) if first else (rows, steps))), dtype, "A")
    b = te.placeholder((*head, *((columns, steps) if second else (steps, columns))), dtype, "B")
    k = te.reduce_axis((0, steps), name="k")

    def cell(*at: Var) -> Expr:
        *front, i, j = at
        x = a[(*front, k, i) if first else (*front, i, k)]
        y = b[(*front, j, k) if second else (*front, k, j)]
        return te.sum(x * y, axis=k)

    return te.create_prim_func([a, b, te.compute((*head, rows, columns), cell, name="C")])


def peers_of(case: Case, a: Any, b: Any, c: Any) -> dict[str, Thunk]:
    """Return the product in NumPy and, if it is installed, torch."""
    first, second = case[4:]
    x = a.swapaxes(-1, -2) if first else a
    y = b.swapaxes(-1, -2) if second else b
    found: dict[str, Thunk] = {"numpy": lambda: np.matmul(x, y, out=c)}
    if find_spec("torch") is not None:
        torch: Any = import_module("torch")
        torch.set_num_threads(irkit.runtime.num_threads())
        tx, ty, out = torch.from_numpy(x), torch.from_numpy(y), torch.from_numpy(c)
        found["torch"] = lambda: torch.matmul(tx, ty, out=out)
    return found


def _timed(run: Thunk, repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        run()
    return (time.perf_counter() - start) / repeats


def measure(runs: list[Thunk], rounds: int = ROUNDS) -> list[float]:
    """Time some functions in turn; return the median seconds of each.

    On several threads each begins after a pause: the threads of another library go on waiting
    actively for a while, and take a processor from the next.
    """
    pause = _PAUSE if irkit.runtime.num_threads() > 1 else 0.0
    repeats: list[int] = []
    for run in runs:
        run()
        repeats.append(max(1, int(_SECONDS / max(_timed(run, 1), 1e-7))))
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(rounds if not pause else rounds // 2):
        for each, run, count in zip(times, runs, repeats, strict=True):
            if pause:
                time.sleep(pause)
                run()
            each.append(_timed(run, count))
    return [sorted(each)[len(each) // 2] for each in times]


def speed(case: Case, dtype: str) -> tuple[float, str]:
    """Return the speed relative to the best peer, and a line about it."""
    rng = np.random.default_rng(0)
    func = product(case, dtype)
    start = time.perf_counter()
    kernel = irkit.build(func, schedule="auto")
    compiled = time.perf_counter() - start
    buffers = [param for param in func.params if isinstance(param, Buffer)]
    shapes = [tuple(as_int(dim) or 0 for dim in buffer.shape) for buffer in buffers]
    arrays: list[Any] = [rng.random(shape).astype(dtype) for shape in shapes]
    a, b, c = arrays
    peers = peers_of(case, a, b, c.copy())
    kernel(a, b, c)
    want = c.copy()
    peers["numpy"]()
    x = a.swapaxes(-1, -2) if case[4] else a
    y = b.swapaxes(-1, -2) if case[5] else b
    np.testing.assert_allclose(want, np.matmul(x, y), rtol=1e-3)
    ours, *others = measure([lambda: kernel(a, b, c), *peers.values()])
    best = min(others)
    batch, rows, columns, steps, first, second = case
    work = 2 * batch * rows * columns * steps
    name = list(peers)[others.index(best)]
    text = (
        f"{batch} x {rows} x {columns} x {steps} {'NT'[first]}{'NT'[second]}: {best / ours:.2f} of "
        f"{name}, {ours * 1e6:.1f} us, {work / ours / 1e9:.1f} G/s, compiled in "
        f"{compiled * 1e3:.0f} ms"
    )
    return best / ours, text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--shapes", type=int, default=SHAPES)
    parser.add_argument("--first", type=int, default=0, help="leave out shapes before this one")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--all", action="store_true", help="print every shape as it is measured")
    flags = parser.parse_args()
    if os.environ.get("IRKIT_NUM_THREADS") != str(flags.threads):
        for name in _THREADS:
            os.environ[f"{name}_NUM_THREADS"] = str(flags.threads)
        module = "benchmarks.schedules.products"
        os.execv(sys.executable, [sys.executable, "-m", module, *sys.argv[1:]])
    found: list[tuple[float, str]] = []
    for case in cases(flags.shapes, flags.seed)[flags.first :]:
        found.append(speed(case, flags.dtype))
        if flags.all:
            print(found[-1][1], flush=True)
    found.sort()
    speeds = [each for each, _ in found]
    mean = math.exp(sum(map(math.log, speeds)) / len(speeds))
    print(
        f"{len(found)} products, {flags.dtype}, {flags.threads} threads: geometric mean "
        f"{mean:.2f}, 5th percentile {speeds[len(speeds) // 20]:.2f}; the ten worst:"
    )
    for _, text in found[:10]:
        print(f"  {text}")


if __name__ == "__main__":
    main()
