"""Products of bytes and of 16-bit floats, as the automatic schedule computes them, against torch.

``/path/with/torch/python -m benchmarks.schedules.narrow_products`` measures random shapes on one
thread and on two: the geometric mean of the speed relative to torch, and the ten slowest. torch
multiplies signed bytes only (``_int_mm``), so u8 x i8 is compared with i8 x i8.
"""

import os
import random
import subprocess
import sys
from importlib import import_module
from math import exp, log
from typing import Any

import numpy as np

import irkit
from benchmarks.timing import paired
from irkit import te, topi
from irkit.autoschedule import Machine, auto_schedule
from irkit.codegen import host_target
from irkit.ir import PrimFunc, as_dtype, numpy_dtype
from irkit.runtime import num_threads

torch: Any = import_module("torch")
SEED, SHAPES, LEAST, MOST = 16, 20, 24, 1024
KINDS = (("i8", "i8"), ("u8", "i8"), ("bf16", "bf16"), ("f16", "f16"))
WORST = 10


def shapes() -> list[tuple[int, int, int]]:
    """Draw sizes that are even in the logarithm; torch wants more than 16 rows of bytes."""
    drawn = random.Random(SEED)

    def size() -> int:
        return round(exp(drawn.uniform(log(LEAST), log(MOST))))

    # torch multiplies bytes only if k and n are multiples of 8.
    return [(size(), -(-size() // 8) * 8, -(-size() // 8) * 8) for _ in range(SHAPES)]


def product(m: int, k: int, n: int, a: str, b: str) -> PrimFunc:
    """Return a product as torch has it: bytes give i32, floats their own type."""
    left, right = te.placeholder((m, k), a, name="A"), te.placeholder((k, n), b, name="B")
    out = "i32" if a != b or a == "i8" else None
    return te.create_prim_func([left, right, topi.matmul(left, right, out_dtype=out)])


def machine() -> Machine:
    """Return this machine as the automatic schedule sees it."""
    signs = host_target().features
    return Machine(features=tuple(each[1:] for each in signs if each.startswith("+")))


def speed(m: int, k: int, n: int, a: str, b: str) -> tuple[float, float]:
    """Return how many times as fast as torch a product is, and its own 10**9 operations a
    second; compares the results first."""
    drawn = np.random.default_rng(SEED)
    x, y = (drawn.integers(0 if t == "u8" else -8, 9, s) for t, s in ((a, (m, k)), (b, (k, n))))
    kinds: dict[str, Any] = {
        "i8": torch.int8, "u8": torch.int8, "bf16": torch.bfloat16, "f16": torch.float16
    }  # fmt: skip
    left, right = (torch.from_numpy(v).to(kinds[t]) for v, t in ((x, a), (y, b)))
    bytes_ = a in ("i8", "u8")
    multiply = torch._int_mm if bytes_ else torch.mm
    kernel = irkit.build(auto_schedule(product(m, k, n, a, b), machine()))
    given = [v.astype(numpy_dtype(as_dtype(t))) for v, t in ((x, a), (y, b))]
    result = np.zeros((m, n), numpy_dtype(as_dtype("i32" if bytes_ else a)))
    kernel(*given, result)
    theirs = multiply(left, right).to(torch.float64).numpy()
    assert np.allclose(result.astype(np.float64), theirs, rtol=2.0**-7, atol=1e-3)
    repeats = max(3, min(40, int(2e8 / (m * n * k))))
    mine, _, ratio = paired(
        lambda: kernel(*given, result), lambda: multiply(left, right), repeats=repeats
    )
    return 1 / ratio, 2 * m * n * k / mine / 1e9


def measure() -> None:
    """Print the mean and the worst of each kind."""
    torch.set_num_threads(num_threads())
    for a, b in KINDS:
        found = sorted((*speed(*shape, a, b), shape) for shape in shapes())
        mean = exp(sum(log(each[0]) for each in found) / len(found))
        print(f"{a} x {b}, {num_threads()} threads: geometric mean {mean:.2f} of torch", flush=True)
        for ratio, rate, (m, k, n) in found[:WORST]:
            print(f"  {m} x {k} x {n}: {ratio:.2f} ({rate:.0f} G/s)", flush=True)


def main() -> None:
    if "IRKIT_NUM_THREADS" in os.environ:
        measure()
        return
    for count in ("1", "2"):
        names = ("IRKIT_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
        threads = dict.fromkeys(names, count)
        command = [sys.executable, "-m", "benchmarks.schedules.narrow_products"]
        subprocess.run(command, env=os.environ | threads, check=True)


if __name__ == "__main__":
    main()
