"""Products of a matrix and a vector, and of its transpose, several at a time."""

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.schedules.polybench.kernel import Kernel, alike, dot, near
from irkit import te
from irkit.te import Tensor

prange: Any = import_module("numba").prange


def vectors(rng: np.random.Generator) -> Iterator[Kernel]:
    m, n = near(rng, 500), near(rng, 600)
    yield Kernel("atax", {"a": (m, n), "x": (n,)}, atax, atax_numpy, atax_loops)
    yield Kernel("bicg", {"a": (m, n), "p": (n,), "r": (m,)}, bicg, bicg_numpy, bicg_loops)
    ones = alike(("x", "z", "p", "q"), (n,))
    yield Kernel("mvt", {"a": (n, n), **ones}, mvt, mvt_numpy, mvt_loops)
    yield Kernel(
        "gesummv", {"a": (n, n), "b": (n, n), "x": (n,)}, gesummv, gesummv_numpy, gesummv_loops
    )
    ones = alike(("u", "v", "p", "q", "z", "x"), (n,))
    yield Kernel("gemver", {"a": (n, n), **ones}, gemver, gemver_numpy, gemver_loops)


def _times(a: Tensor, x: Tensor, name: str) -> Tensor:
    shape: Any = a.shape
    return dot(shape[:1], shape[1], lambda i, k: a[i, k] * x[k], name)


def _times_transposed(a: Tensor, x: Tensor, name: str) -> Tensor:
    shape: Any = a.shape
    return dot(shape[1:], shape[0], lambda j, k: a[k, j] * x[k], name)


def atax(a: Tensor, x: Tensor) -> tuple[Tensor, ...]:
    return (_times_transposed(a, _times(a, x, "ax"), "y"),)


def atax_numpy(a: Any, x: Any) -> tuple[Any, ...]:
    return ((a @ x) @ a,)


def atax_loops(a: Any, x: Any, y: Any) -> None:
    for j in range(a.shape[1]):
        y[j] = 0
    for i in range(a.shape[0]):
        found = a[i, 0] * x[0]
        for j in range(1, a.shape[1]):
            found += a[i, j] * x[j]
        for j in range(a.shape[1]):
            y[j] += a[i, j] * found


def bicg(a: Tensor, p: Tensor, r: Tensor) -> tuple[Tensor, ...]:
    return _times_transposed(a, r, "s"), _times(a, p, "q")


def bicg_numpy(a: Any, p: Any, r: Any) -> tuple[Any, ...]:
    return r @ a, a @ p


def bicg_loops(a: Any, p: Any, r: Any, s: Any, q: Any) -> None:
    for j in range(a.shape[1]):
        s[j] = 0
    for i in range(a.shape[0]):
        found = a[i, 0] * p[0]
        s[0] += r[i] * a[i, 0]
        for j in range(1, a.shape[1]):
            s[j] += r[i] * a[i, j]
            found += a[i, j] * p[j]
        q[i] = found


def mvt(a: Tensor, x: Tensor, z: Tensor, p: Tensor, q: Tensor) -> tuple[Tensor, ...]:
    ap, aq = _times(a, p, "ap"), _times_transposed(a, q, "aq")
    return (
        te.compute(x.shape, lambda i: x[i] + ap[i], name="y1"),
        te.compute(x.shape, lambda i: z[i] + aq[i], name="y2"),
    )


def mvt_numpy(a: Any, x: Any, z: Any, p: Any, q: Any) -> tuple[Any, ...]:
    return x + a @ p, z + q @ a


def mvt_loops(a: Any, x: Any, z: Any, p: Any, q: Any, y1: Any, y2: Any) -> None:
    for i in prange(a.shape[0]):
        found = x[i]
        for j in range(a.shape[1]):
            found += a[i, j] * p[j]
        y1[i] = found
    for j in range(a.shape[1]):
        y2[j] = z[j]
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            y2[j] += a[i, j] * q[i]


def gesummv(a: Tensor, b: Tensor, x: Tensor) -> tuple[Tensor, ...]:
    ax, bx = _times(a, x, "ax"), _times(b, x, "bx")
    return (te.compute(ax.shape, lambda i: 1.5 * ax[i] + 1.2 * bx[i], name="y"),)


def gesummv_numpy(a: Any, b: Any, x: Any) -> tuple[Any, ...]:
    return (1.5 * (a @ x) + 1.2 * (b @ x),)


def gesummv_loops(a: Any, b: Any, x: Any, y: Any) -> None:
    for i in prange(a.shape[0]):
        one = a[i, 0] * x[0]
        other = b[i, 0] * x[0]
        for j in range(1, a.shape[1]):
            one += a[i, j] * x[j]
            other += b[i, j] * x[j]
        y[i] = 1.5 * one + 1.2 * other


def gemver(
    a: Tensor, u: Tensor, v: Tensor, p: Tensor, q: Tensor, z: Tensor, x: Tensor
) -> tuple[Tensor, ...]:
    b = te.compute(a.shape, lambda i, j: a[i, j] + u[i] * v[j] + p[i] * q[j], name="b")
    bz = _times_transposed(b, z, "bz")
    y = te.compute(x.shape, lambda i: x[i] + 1.2 * bz[i], name="y")
    by = _times(b, y, "by")
    return b, y, te.compute(x.shape, lambda i: 1.5 * by[i], name="w")


def gemver_numpy(a: Any, u: Any, v: Any, p: Any, q: Any, z: Any, x: Any) -> tuple[Any, ...]:
    b = a + np.outer(u, v) + np.outer(p, q)
    y = x + 1.2 * (z @ b)
    return b, y, 1.5 * (b @ y)


def gemver_loops(
    a: Any, u: Any, v: Any, p: Any, q: Any, z: Any, x: Any, b: Any, y: Any, w: Any
) -> None:
    for i in prange(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = a[i, j] + u[i] * v[j] + p[i] * q[j]
    for j in range(a.shape[1]):
        y[j] = x[j]
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            y[j] += 1.2 * b[i, j] * z[i]
    for i in prange(a.shape[0]):
        found = b[i, 0] * y[0]
        for j in range(1, a.shape[1]):
            found += b[i, j] * y[j]
        w[i] = 1.5 * found
