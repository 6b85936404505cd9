"""Reductions over an array and over its rows, which stay in the first-level cache, by schedule
primitives only.

Run it: ``python examples/schedules/reductions.py 4096 1024``.
"""

import sys
import time

import numpy as np

import irkit
from irkit import te
from irkit.ir import PrimFunc
from irkit.schedule import BlockRef

VECTORS, LANES = 4, 8
PARTS = 2
"""One for each thread, so a processor has the same part in each call."""


def total(n: int) -> PrimFunc:
    """Add up an array. Shapes: ``A`` [n], ``S`` [1], f32."""
    a = te.placeholder((n,), name="A")
    k = te.reduce_axis((0, n), name="k")
    return te.create_prim_func([a, te.compute((1,), lambda _: te.sum(a[k], axis=k), name="S")])


def softmax(rows: int, columns: int) -> PrimFunc:
    """Compute exponentials, and divide each row by its sum. Shapes: ``X``, ``Y`` [rows, columns],
    f32."""
    x = te.placeholder((rows, columns), name="X")
    k, m = (te.reduce_axis((0, columns), name=name) for name in "km")
    most = te.compute((rows,), lambda i: te.max(x[i, k], axis=k), name="most")
    power = te.compute((rows, columns), lambda i, j: te.exp(x[i, j] - most[i]), name="power")
    whole = te.compute((rows,), lambda i: te.sum(power[i, m], axis=m), name="whole")
    part = te.compute((rows,), lambda i: 1 / whole[i], name="part")
    y = te.compute((rows, columns), lambda i, j: power[i, j] * part[i], name="Y")
    return te.create_prim_func([x, y])


def layernorm(rows: int, columns: int, epsilon: float = 1e-5) -> PrimFunc:
    """Normalise each row to mean 0 and variance 1, then scale and shift it.

    Shapes: ``X`` and ``Y`` [rows, columns], scale ``G`` and shift ``B`` [columns], f32.
    """
    x = te.placeholder((rows, columns), name="X")
    g, b = te.placeholder((columns,), name="G"), te.placeholder((columns,), name="B")
    k, m = (te.reduce_axis((0, columns), name=name) for name in "km")
    whole = te.compute((rows,), lambda i: te.sum(x[i, k], axis=k), name="whole")
    mean = te.compute((rows,), lambda i: whole[i] / columns, name="mean")

    def square(i: te.IterVar) -> irkit.ir.Expr:
        return te.sum((x[i, m] - mean[i]) * (x[i, m] - mean[i]), axis=m)

    squares = te.compute((rows,), square, name="squares")
    scale = te.compute((rows,), lambda i: 1 / te.sqrt(squares[i] / columns + epsilon), name="scale")
    y = te.compute(
        (rows, columns), lambda i, j: (x[i, j] - mean[i]) * scale[i] * g[j] + b[j], name="Y"
    )
    return te.create_prim_func([x, g, b, y])


def schedule_total(
    func: PrimFunc, *, vectors: int = 8, lanes: int = LANES, parts: int = PARTS
) -> irkit.Schedule:
    """Add up parts of the array, then their sums."""
    sch = irkit.Schedule(func)
    block = sch.get_block("S")
    whole, _ = sch.split(sch.get_loops(block)[-1], [parts, None])
    part = sch.rfactor(whole)
    in_vectors(sch, part, vectors, lanes)
    sch.parallel(sch.get_loops(part)[-2])
    return sch


def schedule_rows(
    func: PrimFunc, *, vectors: int = VECTORS, lanes: int = LANES, parts: int = PARTS
) -> irkit.Schedule:
    """Compute everything for one row before the next."""
    sch = irkit.Schedule(func)
    last = sch.get_block("Y")
    part, row = sch.split(sch.get_loops(last)[0], [parts, None])
    while inner := _waiting(sch, sch.get_child_blocks(row)):
        sch.compute_at(inner, row)
    for block in sch.get_child_blocks(row):
        if sch.get(block).init is not None:
            in_vectors(sch, block, vectors, lanes)
        elif len(sch.get(block).axes) > 1:
            _, vector, lane = sch.split(sch.get_loops(block)[-1], [None, vectors, lanes])
            sch.unroll(vector)
            sch.vectorize(lane)
    sch.parallel(part)
    return sch


def _waiting(sch: irkit.Schedule, blocks: list[BlockRef]) -> BlockRef | None:
    """Return a block that only some of these read, and that is not one of them."""
    found = (each for block in blocks for each in sch.get_producers(block))
    names = {block.name for block in blocks}
    return next(
        (
            each
            for each in found
            if each.name not in names
            and {reader.name for reader in sch.get_consumers(each)} <= names
        ),
        None,
    )


def in_vectors(sch: irkit.Schedule, block: BlockRef, vectors: int, lanes: int) -> None:
    """Reduce into ``vectors`` registers of ``lanes``, those into one, and that one at the end."""
    _, _, lane = sch.split(sch.get_loops(block)[-1], [None, vectors, lanes])
    one = sch.rfactor(lane)
    sch.compute_at(one, sch.get_loops(block)[-2])
    many = sch.rfactor(sch.get_loops(one)[-1])
    *_, lane, steps, vector = sch.get_loops(many)
    sch.reorder(steps, vector, lane)
    *_, lane, vector = sch.get_loops(one)
    sch.reorder(vector, lane)
    starts = [sch.decompose_reduction(many, steps), sch.decompose_reduction(one, vector)]
    for each in (starts[0], many, one):
        sch.unroll(sch.get_loops(each)[-2])
    for each in (*starts, many, one):
        sch.vectorize(sch.get_loops(each)[-1])
    sch.unroll(sch.get_loops(block)[-1])
    for each in (many, one):
        sch.set_scope(each, "local")


def main(rows: int, columns: int) -> None:
    """Print the schedule of a softmax, check it against NumPy, and time it."""
    sch = schedule_rows(softmax(rows, columns))
    print(sch.trace)
    kernel = irkit.build(sch.func)
    x = np.random.default_rng(0).standard_normal((rows, columns), dtype=np.float32)
    y = np.zeros_like(x)
    times: list[float] = []
    for _ in range(10):
        start = time.perf_counter()
        kernel(x, y)
        times.append(time.perf_counter() - start)
    power = np.exp(x - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(y, power / power.sum(axis=1, keepdims=True), rtol=1e-5)
    print(f"{rows} x {columns}: as NumPy has it; {2 * x.nbytes / min(times) / 1e9:.0f} GB/s")


if __name__ == "__main__":
    main(*(int(each) for each in sys.argv[1:3]) if len(sys.argv) > 2 else (4096, 1024))
