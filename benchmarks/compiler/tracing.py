"""The cost of tracing: compiling with every step kept, and with none.

A step holds the IR before and after, so it costs memory and work of the garbage collector. Writing
the trace to a file is not part of a compile and is measured separately.
"""

import os
import tempfile
import time
from pathlib import Path

import irkit
from benchmarks.native_code.networks import light_model
from benchmarks.timing import paired
from irkit import te
from irkit.phases import DEFAULT, lower, trace

MOST = 1.10
SIZE = 16


def matmul() -> irkit.PrimFunc:
    """Return a kernel so small that the cost around its passes shows."""
    a = te.placeholder((SIZE, SIZE), name="A")
    b = te.placeholder((SIZE, SIZE), name="B")
    k = te.reduce_axis((0, SIZE), name="k")
    c = te.compute((SIZE, SIZE), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    return te.create_prim_func([a, b, c])


def kernel(repeats: int = 200) -> str:
    """Time the phases alone, without code generation: the strictest measure."""
    func = matmul()
    on, off, ratio = paired(lambda: trace(func), lambda: lower(func), repeats=repeats)

    def with_rewrites() -> object:
        return list(DEFAULT.steps(func, keep_applications=True))

    _, _, more = paired(with_rewrites, lambda: lower(func), repeats=repeats)
    return (
        f"phases of a small kernel: {off * 1e3:.2f} ms, traced {on * 1e3:.2f} ms, ratio "
        f"{ratio:.3f} (at most {MOST:.2f}); with every rewrite kept {more:.3f}"
    )


def network(name: str = "squeezenet", repeats: int = 5) -> str:
    """Time a whole compile, with the weights of the model; then its trace as a file."""
    path = str(light_model(name))
    on, off, ratio = paired(
        lambda: irkit.compile(path),
        lambda: irkit.compile(path, keep_trace=False),
        repeats=repeats,
        warm=1,
    )
    model = irkit.compile(path)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{name}.trace"
        started = time.perf_counter()
        model.trace.save(file)
        seconds = time.perf_counter() - started
        size = file.stat().st_size / 1e6
    return (
        f"{name}: compiled in {off:.2f} s, traced {on:.2f} s, ratio {ratio:.3f} (at most "
        f"{MOST:.2f}); {len(model.trace)} steps written in {seconds:.2f} s, {size:.1f} MB"
    )


def main() -> None:
    """Print the figures."""
    os.environ["IRKIT_CACHE"] = "0"
    print(kernel())
    print(network())


if __name__ == "__main__":
    main()
