"""The cost of a parallel region, and the gain of two threads."""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import irkit
from benchmarks.timing import median_of, paired
from irkit.ir import PrimFunc, parse
from irkit.runtime import Kernel, num_threads, set_num_threads

REGIONS = 20_000

EMPTY = """
def empty(C: i64[64]):
    for t in serial(0, 20000):
        for i in parallel(0, 2):
            C[i * 32] = t
"""

SHORT = """
def short(C: f32[2, 65536]):
    for t in serial(0, 2000):
        for i in parallel(0, 2):
            for j in serial(0, 65536):
                C[i, j] = C[i, j] * f32(0.5) + f32(1.0)
"""

PRODUCT = """
def product(A: f32[1024, 1024], B: f32[1024, 1024], C: f32[1024, 1024]):
    for i in parallel(0, 1024):
        for j in serial(0, 1024):
            C[i, j] = f32(0.0)
        for k in serial(0, 1024):
            for j in serial(0, 1024):
                C[i, j] = C[i, j] + A[i, k] * B[k, j]
"""


def _kernels(text: str) -> tuple[Kernel, Kernel]:
    """Build a function twice: on one thread, and with parallel regions."""
    func = parse(text)
    assert isinstance(func, PrimFunc)
    alone = func.replace(attrs=(("threads", False),))
    serial, threaded = (irkit.build(f, target="llvm") for f in (alone, func))
    return serial, threaded


def region() -> str:
    """Time a region of two empty iterations, less the time of a serial loop over them."""
    serial, threaded = _kernels(EMPTY)
    c = np.zeros(64, np.int64)
    two, one, _ = paired(lambda: threaded(c), lambda: serial(c))
    with ThreadPoolExecutor(2) as pool:
        python = median_of(lambda: list(pool.map(abs, (1, 2))), repeats=3000)
    return (
        f"empty region on 2 threads: {(two - one) / REGIONS * 1e6:.2f} us (about 0.5), "
        f"ThreadPoolExecutor {python * 1e6:.0f} us"
    )


def scaling(name: str, text: str, *args: object) -> str:
    """Time the same loop on one thread and on two, in turn."""
    serial, threaded = _kernels(text)
    one, two, ratio = paired(lambda: serial(*args), lambda: threaded(*args), repeats=15)
    return f"{name}: {one * 1e3:.1f} ms on 1 thread, {two * 1e3:.1f} ms on 2, {ratio:.2f} x"


def main() -> None:
    """Print the figures."""
    os.environ["IRKIT_CACHE"] = "0"
    before = num_threads()
    set_num_threads(2)
    a, b = np.random.default_rng(0).random((2, 1024, 1024), dtype=np.float32)
    print(region())
    print(scaling("2,000 regions in a row", SHORT, np.zeros((2, 65536), np.float32)))
    print(scaling("rows of a product, 1024", PRODUCT, a, b, np.zeros_like(a)))
    set_num_threads(before)


if __name__ == "__main__":
    main()
