"""Products of matrices: chains of them, triangles, symmetric operands, statistics."""

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.schedules.polybench.kernel import Kernel, dot, near, sizes
from irkit import te
from irkit.te import Tensor

prange: Any = import_module("numba").prange
where: Any = np.where


def products(rng: np.random.Generator) -> Iterator[Kernel]:
    m, n, k, p = (near(rng, size) for size in (200, 220, 240, 210))
    yield Kernel("gemm", {"a": (m, k), "b": (k, n), "c": (m, n)}, gemm, gemm_numpy, gemm_loops)
    yield Kernel(
        "2mm", {"a": (m, k), "b": (k, n), "c": (n, p), "d": (m, p)}, two, two_numpy, two_loops
    )
    yield Kernel(
        "3mm", {"a": (m, k), "b": (k, n), "c": (n, p), "d": (p, m)}, three, three_numpy, three_loops
    )
    yield Kernel("syrk", {"a": (n, k), "c": (n, n)}, syrk, syrk_numpy, syrk_loops)
    yield Kernel("syr2k", {"a": (n, k), "b": (n, k), "c": (n, n)}, syr2k, syr2k_numpy, syr2k_loops)
    yield Kernel("symm", {"a": (m, m), "b": (m, n), "c": (m, n)}, symm, symm_numpy, symm_loops)
    yield Kernel("trmm", {"a": (m, m), "b": (m, n)}, trmm, trmm_numpy, trmm_loops)
    q, r, s = (near(rng, size) for size in (40, 50, 60))
    yield Kernel("doitgen", {"a": (r, q, s), "c": (s, s)}, doitgen, doitgen_numpy, doitgen_loops)
    yield Kernel("covariance", {"x": (k, n)}, covariance, covariance_numpy, covariance_loops)
    yield Kernel("correlation", {"x": (k, n)}, correlation, correlation_numpy, correlation_loops)


def _product(a: Tensor, b: Tensor, name: str) -> Tensor:
    shape: Any = (a.shape[0], b.shape[1])
    extent: Any = a.shape[1]
    return dot(shape, extent, lambda i, j, k: a[i, k] * b[k, j], name)


def gemm(a: Tensor, b: Tensor, c: Tensor) -> tuple[Tensor, ...]:
    ab = _product(a, b, "ab")
    return (te.compute(c.shape, lambda i, j: 1.5 * ab[i, j] + 1.2 * c[i, j], name="y"),)


def gemm_numpy(a: Any, b: Any, c: Any) -> tuple[Any, ...]:
    return (1.5 * a @ b + 1.2 * c,)


def gemm_loops(a: Any, b: Any, c: Any, y: Any) -> None:
    for i in prange(c.shape[0]):
        for j in range(c.shape[1]):
            y[i, j] = 1.2 * c[i, j]
        for k in range(a.shape[1]):
            for j in range(c.shape[1]):
                y[i, j] += 1.5 * a[i, k] * b[k, j]


def two(a: Tensor, b: Tensor, c: Tensor, d: Tensor) -> tuple[Tensor, ...]:
    abc = _product(_product(a, b, "ab"), c, "abc")
    return (te.compute(d.shape, lambda i, j: 1.5 * abc[i, j] + 1.2 * d[i, j], name="y"),)


def two_numpy(a: Any, b: Any, c: Any, d: Any) -> tuple[Any, ...]:
    return (1.5 * a @ b @ c + 1.2 * d,)


def two_loops(a: Any, b: Any, c: Any, d: Any, y: Any) -> None:
    ab = np.zeros((a.shape[0], b.shape[1]), a.dtype)
    for i in prange(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                ab[i, j] += 1.5 * a[i, k] * b[k, j]
        for j in range(d.shape[1]):
            y[i, j] = 1.2 * d[i, j]
        for k in range(c.shape[0]):
            for j in range(d.shape[1]):
                y[i, j] += ab[i, k] * c[k, j]


def three(a: Tensor, b: Tensor, c: Tensor, d: Tensor) -> tuple[Tensor, ...]:
    return (_product(_product(a, b, "ab"), _product(c, d, "cd"), "y"),)


def three_numpy(a: Any, b: Any, c: Any, d: Any) -> tuple[Any, ...]:
    return (a @ b @ (c @ d),)


def three_loops(a: Any, b: Any, c: Any, d: Any, y: Any) -> None:
    ab = np.zeros((a.shape[0], b.shape[1]), a.dtype)
    cd = np.zeros((c.shape[0], d.shape[1]), a.dtype)
    for i in prange(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                ab[i, j] += a[i, k] * b[k, j]
    for i in prange(c.shape[0]):
        for k in range(c.shape[1]):
            for j in range(d.shape[1]):
                cd[i, j] += c[i, k] * d[k, j]
    for i in prange(y.shape[0]):
        for j in range(y.shape[1]):
            y[i, j] = 0
        for k in range(ab.shape[1]):
            for j in range(y.shape[1]):
                y[i, j] += ab[i, k] * cd[k, j]


def syrk(a: Tensor, c: Tensor) -> tuple[Tensor, ...]:
    extent: Any = a.shape[1]
    shape: Any = c.shape
    aa = dot(shape, extent, lambda i, j, k: a[i, k] * a[j, k], "aa")
    return (
        te.compute(
            c.shape,
            lambda i, j: te.if_then_else(te.le(j, i), 1.5 * aa[i, j] + 1.2 * c[i, j], c[i, j]),
            name="y",
        ),
    )


def syrk_numpy(a: Any, c: Any) -> tuple[Any, ...]:
    return (where(np.tri(len(c), dtype=bool), 1.5 * a @ a.T + 1.2 * c, c),)


def syrk_loops(a: Any, c: Any, y: Any) -> None:
    for i in prange(c.shape[0]):
        for j in range(c.shape[1]):
            y[i, j] = 1.2 * c[i, j] if j <= i else c[i, j]
        for j in range(i + 1):
            for k in range(a.shape[1]):
                y[i, j] += 1.5 * a[i, k] * a[j, k]


def syr2k(a: Tensor, b: Tensor, c: Tensor) -> tuple[Tensor, ...]:
    extent: Any = a.shape[1]
    shape: Any = c.shape
    both = dot(shape, extent, lambda i, j, k: a[j, k] * b[i, k] + b[j, k] * a[i, k], "both")
    return (
        te.compute(
            c.shape,
            lambda i, j: te.if_then_else(te.le(j, i), 1.5 * both[i, j] + 1.2 * c[i, j], c[i, j]),
            name="y",
        ),
    )


def syr2k_numpy(a: Any, b: Any, c: Any) -> tuple[Any, ...]:
    whole = a @ b.T
    return (where(np.tri(len(c), dtype=bool), 1.5 * (whole + whole.T) + 1.2 * c, c),)


def syr2k_loops(a: Any, b: Any, c: Any, y: Any) -> None:
    for i in prange(c.shape[0]):
        for j in range(c.shape[1]):
            y[i, j] = 1.2 * c[i, j] if j <= i else c[i, j]
        for j in range(i + 1):
            for k in range(a.shape[1]):
                y[i, j] += 1.5 * (a[j, k] * b[i, k] + b[j, k] * a[i, k])


def symm(a: Tensor, b: Tensor, c: Tensor) -> tuple[Tensor, ...]:
    extent: Any = a.shape[0]
    shape: Any = c.shape
    whole = te.compute(
        a.shape, lambda i, k: te.if_then_else(te.le(k, i), a[i, k], a[k, i]), name="s"
    )
    ab = dot(shape, extent, lambda i, j, k: whole[i, k] * b[k, j], "ab")
    return (te.compute(c.shape, lambda i, j: 1.5 * ab[i, j] + 1.2 * c[i, j], name="y"),)


def symm_numpy(a: Any, b: Any, c: Any) -> tuple[Any, ...]:
    low = np.tril(a)
    return (1.5 * (low + np.tril(a, -1).T) @ b + 1.2 * c,)


def symm_loops(a: Any, b: Any, c: Any, y: Any) -> None:
    for i in prange(c.shape[0]):
        for j in range(c.shape[1]):
            y[i, j] = 1.2 * c[i, j]
        for k in range(i + 1):
            for j in range(c.shape[1]):
                y[i, j] += 1.5 * a[i, k] * b[k, j]
        for k in range(i + 1, a.shape[0]):
            for j in range(c.shape[1]):
                y[i, j] += 1.5 * a[k, i] * b[k, j]


def trmm(a: Tensor, b: Tensor) -> tuple[Tensor, ...]:
    extent: Any = a.shape[0]
    shape: Any = b.shape
    ab = dot(
        shape, extent, lambda i, j, k: te.if_then_else(te.gt(k, i), a[k, i] * b[k, j], 0.0), "ab"
    )
    return (te.compute(b.shape, lambda i, j: 1.5 * (b[i, j] + ab[i, j]), name="y"),)


def trmm_numpy(a: Any, b: Any) -> tuple[Any, ...]:
    return (1.5 * (b + np.tril(a, -1).T @ b),)


def trmm_loops(a: Any, b: Any, y: Any) -> None:
    for i in prange(b.shape[0]):
        for j in range(b.shape[1]):
            y[i, j] = b[i, j]
        for k in range(i + 1, a.shape[0]):
            for j in range(b.shape[1]):
                y[i, j] += a[k, i] * b[k, j]
        for j in range(b.shape[1]):
            y[i, j] *= 1.5


def doitgen(a: Tensor, c: Tensor) -> tuple[Tensor, ...]:
    shape: Any = a.shape
    return (dot(shape, shape[2], lambda r, q, p, s: a[r, q, s] * c[s, p], "y"),)


def doitgen_numpy(a: Any, c: Any) -> tuple[Any, ...]:
    return (a @ c,)


def doitgen_loops(a: Any, c: Any, y: Any) -> None:
    for r in prange(a.shape[0]):
        for q in range(a.shape[1]):
            for p in range(c.shape[1]):
                y[r, q, p] = 0
            for s in range(c.shape[0]):
                for p in range(c.shape[1]):
                    y[r, q, p] += a[r, q, s] * c[s, p]


def _mean(x: Tensor) -> Tensor:
    count, width = sizes(x)
    whole = dot((width,), count, lambda j, k: x[k, j], "whole")
    return te.compute((width,), lambda j: whole[j] / float(count), name="mean")


def covariance(x: Tensor) -> tuple[Tensor, ...]:
    count, width = sizes(x)
    mean = _mean(x)
    z = te.compute(x.shape, lambda i, j: x[i, j] - mean[j], name="z")
    zz = dot((width, width), count, lambda i, j, k: z[k, i] * z[k, j], "zz")
    return (te.compute((width, width), lambda i, j: zz[i, j] / (count - 1.0), name="y"),)


def covariance_numpy(x: Any) -> tuple[Any, ...]:
    z = x - x.mean(axis=0)
    return (z.T @ z / (len(x) - 1.0),)


def covariance_loops(x: Any, y: Any) -> None:
    count, width = x.shape
    mean = np.zeros(width, x.dtype)
    for k in range(count):
        for j in range(width):
            mean[j] += x[k, j]
    z = np.empty_like(x)
    for k in prange(count):
        for j in range(width):
            z[k, j] = x[k, j] - mean[j] / count
    for i in prange(width):
        for j in range(i, width):
            y[i, j] = 0
        for k in range(count):
            for j in range(i, width):
                y[i, j] += z[k, i] * z[k, j]
        for j in range(i, width):
            y[i, j] /= count - 1.0
            y[j, i] = y[i, j]


def correlation(x: Tensor) -> tuple[Tensor, ...]:
    count, width = sizes(x)
    mean = _mean(x)
    shape: Any = (width,)
    squares = dot(shape, count, lambda j, k: (x[k, j] - mean[j]) * (x[k, j] - mean[j]), "squares")
    scale = te.compute(
        shape,
        lambda j: te.select(te.gt(squares[j], 0.1), 1.0 / te.sqrt(squares[j]), 1.0),
        name="scale",
    )
    z = te.compute(x.shape, lambda i, j: (x[i, j] - mean[j]) * scale[j], name="z")
    zz = dot((width, width), count, lambda i, j, k: z[k, i] * z[k, j], "zz")
    return (
        te.compute(
            (width, width), lambda i, j: te.if_then_else(te.eq(i, j), 1.0, zz[i, j]), name="y"
        ),
    )


def correlation_numpy(x: Any) -> tuple[Any, ...]:
    z = x - x.mean(axis=0)
    squares = (z * z).sum(axis=0)
    z = z * np.where(squares > 0.1, 1 / np.sqrt(squares), 1).astype(x.dtype)
    y = z.T @ z
    np.fill_diagonal(y, 1)
    return (y,)


def correlation_loops(x: Any, y: Any) -> None:
    count, width = x.shape
    mean = np.zeros(width, x.dtype)
    squares = np.zeros(width, x.dtype)
    for k in range(count):
        for j in range(width):
            mean[j] += x[k, j]
    for j in range(width):
        mean[j] /= count
    for k in range(count):
        for j in range(width):
            squares[j] += (x[k, j] - mean[j]) ** 2
    for j in range(width):
        squares[j] = 1 / np.sqrt(squares[j]) if squares[j] > 0.1 else 1
    z = np.empty_like(x)
    for k in prange(count):
        for j in range(width):
            z[k, j] = (x[k, j] - mean[j]) * squares[j]
    for i in prange(width):
        for j in range(i + 1, width):
            y[i, j] = 0
        for k in range(count):
            for j in range(i + 1, width):
                y[i, j] += z[k, i] * z[k, j]
        y[i, i] = 1
        for j in range(i + 1, width):
            y[j, i] = y[i, j]
