"""Elementwise operations in one pass over memory, by schedule primitives only.

Run it: ``python examples/schedules/elementwise.py 4194304``.
"""

import sys
import time

import numpy as np

import irkit
from irkit import te
from irkit.ir import PrimFunc, maximum


def add(n: int) -> PrimFunc:
    """Add two arrays. Shapes: ``A``, ``B`` and ``C`` [n], f32."""
    a, b = te.placeholder((n,), name="A"), te.placeholder((n,), name="B")
    return te.create_prim_func([a, b, te.compute((n,), lambda i: a[i] + b[i], name="C")])


def mul_add_relu(n: int) -> PrimFunc:
    """Compute ``max(A * B + D, 0)``. Shapes: ``A``, ``B``, ``D`` and ``C`` [n], f32."""
    a, b, d = (te.placeholder((n,), name=name) for name in "ABD")
    product = te.compute((n,), lambda i: a[i] * b[i], name="product")
    total = te.compute((n,), lambda i: product[i] + d[i], name="total")
    c = te.compute((n,), lambda i: maximum(total[i], 0.0), name="C")
    return te.create_prim_func([a, b, d, c])


def schedule(func: PrimFunc, *, lanes: int = 8, parts: int = 2) -> irkit.Schedule:
    """Compute all stages in one loop over vectors, in one part for each thread, so each processor
    gets the part that is in its caches from the last call."""
    sch = irkit.Schedule(func)
    last = sch.get_block("C")
    while inner := sch.get_producers(last):
        sch.compute_inline(inner[0])
    (i,) = sch.get_loops(last)
    outer, _, lane = sch.split(i, [parts, None, lanes])
    sch.parallel(outer)
    sch.vectorize(lane)
    return sch


def main(n: int) -> None:
    """Print the schedule of ``max(A * B + D, 0)``, check it against NumPy, and time it."""
    sch = schedule(mul_add_relu(n))
    print(sch.trace)
    kernel = irkit.build(sch.func)
    a, b, d = np.random.default_rng(0).standard_normal((3, n), dtype=np.float32)
    c = np.zeros(n, np.float32)
    times: list[float] = []
    for _ in range(10):
        start = time.perf_counter()
        kernel(a, b, d, c)
        times.append(time.perf_counter() - start)
    np.testing.assert_allclose(c, np.maximum(a * b + d, 0), rtol=1e-5, atol=1e-5)
    print(f"{n}: as NumPy has it; {4 * a.nbytes / min(times) / 1e9:.0f} GB/s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1 << 22)
