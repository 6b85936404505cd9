"""A matrix product as fast as a vendor's, by schedule primitives only.

Run it: ``python examples/schedules/matmul.py 1024``.
"""

import sys
import time
from typing import Any

import numpy as np

import irkit
from irkit import te
from irkit.ir import Buffer, Expr, PrimFunc

ROWS, VECTORS, LANES = 8, 3, 16
"""A tile of sums for 32 registers of 16 lanes; 6, 2, 8 fits into 16 registers of 8."""
Matrix = np.ndarray[Any, np.dtype[np.float32]]


def matmul(n: int) -> PrimFunc:
    """Multiply two matrices. Shapes: ``A`` [n, n], ``B`` [n, n], ``C`` [n, n], f32."""
    a, b = te.placeholder((n, n), name="A"), te.placeholder((n, n), name="B")
    k = te.reduce_axis((0, n), name="k")
    c = te.compute((n, n), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    return te.create_prim_func([a, b, c])


def matmul_prepacked(n: int, *, vectors: int = VECTORS, lanes: int = LANES) -> PrimFunc:
    """Multiply by a matrix in panels of columns, as :func:`panels` lays it out.

    Shapes: ``A`` [n, n], ``B`` [n / columns, n, columns], ``C`` [n, n], f32, with ``vectors *
    lanes`` columns in a panel.
    """
    columns = vectors * lanes
    a = te.placeholder((n, n), name="A")
    b = te.placeholder((-(-n // columns), n, columns), name="B")
    k = te.reduce_axis((0, n), name="k")
    c = te.compute(
        (n, n), lambda i, j: te.sum(a[i, k] * b[j // columns, k, j % columns], axis=k), name="C"
    )
    return te.create_prim_func([a, b, c])


def panels(b: Matrix, *, vectors: int = VECTORS, lanes: int = LANES) -> Matrix:
    """Return a matrix in panels of columns, the last one padded with zeros."""
    n, columns = len(b), vectors * lanes
    whole = np.pad(b, ((0, 0), (0, -n % columns)))
    return np.ascontiguousarray(whole.reshape(n, -1, columns).transpose(1, 0, 2))


def schedule(
    func: PrimFunc,
    *,
    rows: int = ROWS,
    vectors: int = VECTORS,
    lanes: int = LANES,
    pack_a: bool = False,
) -> irkit.Schedule:
    """Keep a tile of sums in registers, and read ``B`` from panels in the order in which the tile
    needs them; with ``pack_a`` also ``A``."""
    sch = irkit.Schedule(func)
    packed = func.params[1]
    assert isinstance(packed, Buffer)
    block = sch.get_block("C")
    i, j, k = sch.get_loops(block)
    store = sch.cache_write(block, "local")
    if len(packed.shape) == 2:
        pack_columns(sch, columns=vectors * lanes, lanes=lanes)
    if pack_a:
        pack_rows(sch, rows)
    io, ii = sch.split(i, [None, rows])
    jo, jm, ji = sch.split(j, [None, vectors, lanes])
    sch.reorder(jo, io, k, ii, jm, ji)
    sch.reverse_compute_at(store, io)
    sch.overcompute(block)
    init = sch.decompose_reduction(block, k)
    for name in (block, init, store):
        *_, row, vector, lane = sch.get_loops(name)
        sch.unroll(row)
        sch.unroll(vector)
        sch.vectorize(lane)

    def tiled(m: Expr, n: Expr) -> list[Expr]:
        columns = vectors * lanes
        return [m // rows, n // columns, m % rows, n // lanes % vectors, n % lanes]

    sch.transform_layout(block, tiled)
    sch.parallel(jo)
    return sch


def pack_columns(sch: irkit.Schedule, *, columns: int, lanes: int) -> None:
    """Copy ``B`` into panels of columns, vector by vector."""
    packed = sch.cache_read(sch.get_block("C"), "B")

    def in_panels(k: Expr, n: Expr) -> list[Expr]:
        return [n // columns, k, n % columns]

    sch.transform_layout(packed, in_panels)
    row, column = sch.get_loops(packed)
    _, lane = sch.split(column, [None, lanes])
    sch.vectorize(lane)
    sch.parallel(row)


def pack_rows(sch: irkit.Schedule, rows: int) -> None:
    """Copy ``A`` into panels of rows, a column of a panel at a time."""
    packed = sch.cache_read(sch.get_block("C"), "A")

    def in_panels(m: Expr, k: Expr) -> list[Expr]:
        return [m // rows, k, m % rows]

    sch.transform_layout(packed, in_panels)
    row, k = sch.get_loops(packed)
    panel, row = sch.split(row, [None, rows])
    sch.reorder(panel, k, row)
    sch.vectorize(row)
    sch.parallel(panel)


def main(n: int) -> None:
    """Print the schedule of an n x n product, check it against NumPy, and time it."""
    sch = schedule(matmul(n))
    print(sch.trace)
    kernel = irkit.build(sch.func)
    a, b = np.random.default_rng(0).random((2, n, n), dtype=np.float32)
    c = np.zeros((n, n), np.float32)
    times: list[float] = []
    for _ in range(10):
        start = time.perf_counter()
        kernel(a, b, c)
        times.append(time.perf_counter() - start)
    np.testing.assert_allclose(c, a @ b, rtol=1e-4)
    print(f"{n}: as NumPy has it; {2 * n**3 / min(times) / 1e9:.0f} GFLOP/s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1024)
