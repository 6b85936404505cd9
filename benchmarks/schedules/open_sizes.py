"""Products of any number of rows against the same ones of a constant number, f32.

``python -m benchmarks.schedules.open_sizes`` draws numbers of columns and steps, and numbers of
rows from 1 to 512, from a fixed seed. Each product is compiled once for any number of rows and once
for each number, and both run in turn. It prints the geometric mean of the speed relative to the
constant version, the median of paired ratios, and the ten worst.
"""

import argparse
import math
import os
import sys
import time
from functools import partial

import numpy as np
from numpy.typing import NDArray

import irkit
from benchmarks.timing import Thunk, once, paired
from irkit import te
from irkit.ir import Expr, PrimFunc, Var
from irkit.runtime import Kernel

SEED = 16
SHAPES = 4
COUNTS = 5
_THREADS = ("IRKIT", "OMP", "OPENBLAS", "MKL")

_SECONDS = 0.003

Shape = tuple[int, int, bool]
"""Columns, steps, and whether the second operand is transposed."""


def shapes(count: int, seed: int = SEED) -> list[tuple[Shape, list[int]]]:
    """Draw products, and numbers of rows for each."""
    rng = np.random.default_rng(seed)

    def drawn(low: int, high: int) -> int:
        return round(math.exp(rng.uniform(math.log(low), math.log(high))))

    return [
        (
            (drawn(32, 1024), drawn(32, 1024), bool(rng.integers(2))),
            [drawn(1, 512) for _ in range(COUNTS)],
        )
        for _ in range(count)
    ]


def product(rows: int | Var, shape: Shape) -> PrimFunc:
    columns, steps, flipped = shape
    a = te.placeholder((rows, steps), name="A")
    b = te.placeholder((columns, steps) if flipped else (steps, columns), name="B")
    k = te.reduce_axis((0, steps), name="k")

    def cell(i: Var, j: Var) -> Expr:
        return te.sum(a[i, k] * (b[j, k] if flipped else b[k, j]), axis=k)

    return te.create_prim_func([a, b, te.compute((rows, columns), cell, name="C")])


def _repeated(kernel: Kernel, calls: int, *arrays: NDArray[np.float32]) -> Thunk:
    def run() -> None:
        for _ in range(calls):
            kernel(*arrays)

    return run


def speeds(shape: Shape, counts: list[int]) -> list[tuple[float, str]]:
    """Return the speed for each number of rows relative to the constant version, with a line."""
    columns, steps, flipped = shape
    start = time.perf_counter()
    any_rows = irkit.build(product(te.var("m"), shape))
    took = time.perf_counter() - start
    rng = np.random.default_rng(0)
    b = rng.random((columns, steps) if flipped else (steps, columns), dtype=np.float32)
    found: list[tuple[float, str]] = []
    for rows in counts:
        kernel = irkit.build(product(rows, shape))
        a = rng.random((rows, steps), dtype=np.float32)
        c = np.zeros((rows, columns), np.float32)  # One for both: alignment counts.
        kernel(a, b, c)
        wanted = c.copy()
        any_rows(a, b, c)
        np.testing.assert_allclose(c, wanted, rtol=1e-4)
        calls = max(1, int(_SECONDS / max(once(partial(kernel, a, b, c)), 1e-6)))
        took_any, _, ratio = paired(
            _repeated(any_rows, calls, a, b, c), _repeated(kernel, calls, a, b, c), repeats=41
        )
        text = (
            f"{rows} x {columns} x {steps} N{'NT'[flipped]}: {1 / ratio:.2f}, "
            f"{took_any / calls * 1e6:.1f} us, compiled in {took * 1e3:.0f} ms"
        )
        found.append((1 / ratio, text))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--shapes", type=int, default=SHAPES)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--all", action="store_true", help="print every product as it is measured")
    flags = parser.parse_args()
    if os.environ.get("IRKIT_NUM_THREADS") != str(flags.threads):
        for name in _THREADS:
            os.environ[f"{name}_NUM_THREADS"] = str(flags.threads)
        module = "benchmarks.schedules.open_sizes"
        os.execv(sys.executable, [sys.executable, "-m", module, *sys.argv[1:]])
    found: list[tuple[float, str]] = []
    for shape, counts in shapes(flags.shapes, flags.seed):
        made = speeds(shape, counts)
        found += made
        if flags.all:
            print("\n".join(text for _, text in made), flush=True)
    found.sort()
    mean = math.exp(sum(math.log(speed) for speed, _ in found) / len(found))
    print(
        f"{len(found)} products, {flags.threads} threads: geometric mean {mean:.2f}; the ten worst:"
    )
    for _, text in found[:10]:
        print(f"  {text}")


if __name__ == "__main__":
    main()
