"""Stencils: one step on a grid, whose border stays as it is, and a convolution."""

from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.schedules.polybench.kernel import Kernel, alike, near, sizes
from irkit import te
from irkit.ir import Expr, Var
from irkit.te import Tensor

prange: Any = import_module("numba").prange


def stencils(rng: np.random.Generator) -> Iterator[Kernel]:
    n, m = near(rng, 500), near(rng, 600)
    yield Kernel("jacobi-1d", {"x": (n * m // 4,)}, jacobi_1d, jacobi_1d_numpy, jacobi_1d_loops)
    yield Kernel("jacobi-2d", {"x": (n, m)}, jacobi_2d, jacobi_2d_numpy, jacobi_2d_loops)
    cube = tuple(near(rng, 60) for _ in range(3))
    yield Kernel("heat-3d", {"x": cube}, heat_3d, heat_3d_numpy, heat_3d_loops)
    grids = alike(("ex", "ey", "hz"), (n, m))
    yield Kernel("fdtd-2d", grids, fdtd_2d, fdtd_2d_numpy, fdtd_2d_loops)
    i, j, k = near(rng, 64), near(rng, 64), near(rng, 60)
    yield Kernel("hdiff", {"x": (i + 4, j + 4, k), "c": (i, j, k)}, hdiff, hdiff_numpy, hdiff_loops)
    grids = alike(("p", "b"), (n, m))
    yield Kernel("cavity flow", grids, cavity, cavity_numpy, cavity_loops)
    size = (8, near(rng, 32), near(rng, 32), 3)
    yield Kernel("conv2d", {"x": size, "w": (5, 5, 3, 16)}, conv, conv_numpy, conv_loops)


def jacobi_1d(x: Tensor) -> tuple[Tensor, ...]:
    last: Any = x.shape[0] - 1

    def inside(i: Var) -> Expr:
        return te.all(te.gt(i, 0), te.lt(i, last))

    return (
        te.compute(
            x.shape,
            lambda i: te.if_then_else(inside(i), (x[i - 1] + x[i] + x[i + 1]) * 0.33333, x[i]),
            name="y",
        ),
    )


def jacobi_1d_numpy(x: Any) -> tuple[Any, ...]:
    y = x.copy()
    y[1:-1] = 0.33333 * (x[:-2] + x[1:-1] + x[2:])
    return (y,)


def jacobi_1d_loops(x: Any, y: Any) -> None:
    y[0], y[-1] = x[0], x[-1]
    for i in prange(1, x.shape[0] - 1):
        y[i] = 0.33333 * (x[i - 1] + x[i] + x[i + 1])


def _inside(shape: Sequence[Expr], *at: Var) -> Expr:
    return te.all(
        *(te.gt(each, 0) for each in at),
        *(te.lt(each, n - 1) for each, n in zip(at, shape, strict=True)),
    )


def jacobi_2d(x: Tensor) -> tuple[Tensor, ...]:
    def cell(i: Var, j: Var) -> Expr:
        found = x[i, j] + x[i, j - 1] + x[i, j + 1] + x[i + 1, j] + x[i - 1, j]
        return te.if_then_else(_inside(x.shape, i, j), found * 0.2, x[i, j])

    return (te.compute(x.shape, cell, name="y"),)


def jacobi_2d_numpy(x: Any) -> tuple[Any, ...]:
    y = x.copy()
    y[1:-1, 1:-1] = 0.2 * (x[1:-1, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] + x[2:, 1:-1] + x[:-2, 1:-1])
    return (y,)


def jacobi_2d_loops(x: Any, y: Any) -> None:
    n, m = x.shape
    y[0], y[n - 1] = x[0], x[n - 1]
    for i in prange(1, n - 1):
        y[i, 0], y[i, m - 1] = x[i, 0], x[i, m - 1]
        for j in range(1, m - 1):
            y[i, j] = 0.2 * (x[i, j] + x[i, j - 1] + x[i, j + 1] + x[i + 1, j] + x[i - 1, j])


def heat_3d(x: Tensor) -> tuple[Tensor, ...]:
    def cell(i: Var, j: Var, k: Var) -> Expr:
        here = x[i, j, k]
        found = (
            0.125 * (x[i + 1, j, k] - 2.0 * here + x[i - 1, j, k])
            + 0.125 * (x[i, j + 1, k] - 2.0 * here + x[i, j - 1, k])
            + 0.125 * (x[i, j, k + 1] - 2.0 * here + x[i, j, k - 1])
            + here
        )
        return te.if_then_else(_inside(x.shape, i, j, k), found, here)

    return (te.compute(x.shape, cell, name="y"),)


def heat_3d_numpy(x: Any) -> tuple[Any, ...]:
    y, here = x.copy(), x[1:-1, 1:-1, 1:-1]
    y[1:-1, 1:-1, 1:-1] = (
        0.125 * (x[2:, 1:-1, 1:-1] - 2 * here + x[:-2, 1:-1, 1:-1])
        + 0.125 * (x[1:-1, 2:, 1:-1] - 2 * here + x[1:-1, :-2, 1:-1])
        + 0.125 * (x[1:-1, 1:-1, 2:] - 2 * here + x[1:-1, 1:-1, :-2])
        + here
    )
    return (y,)


def heat_3d_loops(x: Any, y: Any) -> None:
    y[:] = x
    for i in prange(1, x.shape[0] - 1):
        for j in range(1, x.shape[1] - 1):
            for k in range(1, x.shape[2] - 1):
                y[i, j, k] = (
                    0.125 * (x[i + 1, j, k] - 2 * x[i, j, k] + x[i - 1, j, k])
                    + 0.125 * (x[i, j + 1, k] - 2 * x[i, j, k] + x[i, j - 1, k])
                    + 0.125 * (x[i, j, k + 1] - 2 * x[i, j, k] + x[i, j, k - 1])
                    + x[i, j, k]
                )


def fdtd_2d(ex: Tensor, ey: Tensor, hz: Tensor) -> tuple[Tensor, ...]:
    n, m = hz.shape
    ey1 = te.compute(
        ey.shape,
        lambda i, j: te.if_then_else(
            te.gt(i, 0), ey[i, j] - 0.5 * (hz[i, j] - hz[i - 1, j]), ey[i, j]
        ),
        name="ey1",
    )
    ex1 = te.compute(
        ex.shape,
        lambda i, j: te.if_then_else(
            te.gt(j, 0), ex[i, j] - 0.5 * (hz[i, j] - hz[i, j - 1]), ex[i, j]
        ),
        name="ex1",
    )

    def cell(i: Var, j: Var) -> Expr:
        curl = ex1[i, j + 1] - ex1[i, j] + ey1[i + 1, j] - ey1[i, j]
        inside = te.all(te.lt(i, n - 1), te.lt(j, m - 1))
        return te.if_then_else(inside, hz[i, j] - 0.7 * curl, hz[i, j])

    return ex1, ey1, te.compute(hz.shape, cell, name="hz1")


def fdtd_2d_numpy(ex: Any, ey: Any, hz: Any) -> tuple[Any, ...]:
    ex1, ey1, hz1 = ex.copy(), ey.copy(), hz.copy()
    ey1[1:] -= 0.5 * (hz[1:] - hz[:-1])
    ex1[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
    hz1[:-1, :-1] -= 0.7 * (ex1[:-1, 1:] - ex1[:-1, :-1] + ey1[1:, :-1] - ey1[:-1, :-1])
    return ex1, ey1, hz1


def fdtd_2d_loops(ex: Any, ey: Any, hz: Any, ex1: Any, ey1: Any, hz1: Any) -> None:
    n, m = hz.shape
    ey1[0] = ey[0]
    for i in prange(1, n):
        for j in range(m):
            ey1[i, j] = ey[i, j] - 0.5 * (hz[i, j] - hz[i - 1, j])
    for i in prange(n):
        ex1[i, 0] = ex[i, 0]
        for j in range(1, m):
            ex1[i, j] = ex[i, j] - 0.5 * (hz[i, j] - hz[i, j - 1])
    hz1[n - 1] = hz[n - 1]
    for i in prange(n - 1):
        hz1[i, m - 1] = hz[i, m - 1]
        for j in range(m - 1):
            curl = ex1[i, j + 1] - ex1[i, j] + ey1[i + 1, j] - ey1[i, j]
            hz1[i, j] = hz[i, j] - 0.7 * curl


def hdiff(x: Tensor, c: Tensor) -> tuple[Tensor, ...]:
    ni, nj, nk = c.shape
    lap = te.compute(
        (ni + 2, nj + 2, nk),
        lambda i, j, k: (
            4.0 * x[i + 1, j + 1, k]
            - (x[i + 2, j + 1, k] + x[i, j + 1, k] + x[i + 1, j + 2, k] + x[i + 1, j, k])
        ),
        name="lap",
    )

    def along_i(i: Var, j: Var, k: Var) -> Expr:
        step = lap[i + 1, j + 1, k] - lap[i, j + 1, k]
        return te.select(te.gt(step * (x[i + 2, j + 2, k] - x[i + 1, j + 2, k]), 0.0), 0.0, step)

    def along_j(i: Var, j: Var, k: Var) -> Expr:
        step = lap[i + 1, j + 1, k] - lap[i + 1, j, k]
        return te.select(te.gt(step * (x[i + 2, j + 2, k] - x[i + 2, j + 1, k]), 0.0), 0.0, step)

    fx = te.compute((ni + 1, nj, nk), along_i, name="fx")
    fy = te.compute((ni, nj + 1, nk), along_j, name="fy")
    return (
        te.compute(
            c.shape,
            lambda i, j, k: (
                x[i + 2, j + 2, k]
                - c[i, j, k] * (fx[i + 1, j, k] - fx[i, j, k] + fy[i, j + 1, k] - fy[i, j, k])
            ),
            name="y",
        ),
    )


def hdiff_numpy(x: Any, c: Any) -> tuple[Any, ...]:
    lap = 4 * x[1:-1, 1:-1] - (x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2])
    step = lap[1:, 1:-1] - lap[:-1, 1:-1]
    fx = np.where(step * (x[2:-1, 2:-2] - x[1:-2, 2:-2]) > 0, 0, step)
    step = lap[1:-1, 1:] - lap[1:-1, :-1]
    fy = np.where(step * (x[2:-2, 2:-1] - x[2:-2, 1:-2]) > 0, 0, step)
    return (x[2:-2, 2:-2] - c * (fx[1:] - fx[:-1] + fy[:, 1:] - fy[:, :-1]),)


def hdiff_loops(x: Any, c: Any, y: Any) -> None:
    ni, nj, nk = c.shape
    lap = np.empty((ni + 2, nj + 2, nk), x.dtype)
    fx = np.empty((ni + 1, nj, nk), x.dtype)
    fy = np.empty((ni, nj + 1, nk), x.dtype)
    for i in prange(ni + 2):
        for j in range(nj + 2):
            for k in range(nk):
                lap[i, j, k] = 4 * x[i + 1, j + 1, k] - (
                    x[i + 2, j + 1, k] + x[i, j + 1, k] + x[i + 1, j + 2, k] + x[i + 1, j, k]
                )
    for i in prange(ni + 1):
        for j in range(nj):
            for k in range(nk):
                step = lap[i + 1, j + 1, k] - lap[i, j + 1, k]
                flows = step * (x[i + 2, j + 2, k] - x[i + 1, j + 2, k]) > 0
                fx[i, j, k] = 0 if flows else step
    for i in prange(ni):
        for j in range(nj + 1):
            for k in range(nk):
                step = lap[i + 1, j + 1, k] - lap[i + 1, j, k]
                flows = step * (x[i + 2, j + 2, k] - x[i + 2, j + 1, k]) > 0
                fy[i, j, k] = 0 if flows else step
    for i in prange(ni):
        for j in range(nj):
            for k in range(nk):
                y[i, j, k] = x[i + 2, j + 2, k] - c[i, j, k] * (
                    fx[i + 1, j, k] - fx[i, j, k] + fy[i, j + 1, k] - fy[i, j, k]
                )


def cavity(p: Tensor, b: Tensor) -> tuple[Tensor, ...]:
    def cell(i: Var, j: Var) -> Expr:
        found = (p[i, j + 1] + p[i, j - 1]) * 0.3 + (p[i + 1, j] + p[i - 1, j]) * 0.2
        return te.if_then_else(_inside(p.shape, i, j), found - 0.05 * b[i, j], p[i, j])

    return (te.compute(p.shape, cell, name="y"),)


def cavity_numpy(p: Any, b: Any) -> tuple[Any, ...]:
    y = p.copy()
    y[1:-1, 1:-1] = (
        (p[1:-1, 2:] + p[1:-1, :-2]) * 0.3
        + (p[2:, 1:-1] + p[:-2, 1:-1]) * 0.2
        - 0.05 * b[1:-1, 1:-1]
    )
    return (y,)


def cavity_loops(p: Any, b: Any, y: Any) -> None:
    n, m = p.shape
    y[0], y[n - 1] = p[0], p[n - 1]
    for i in prange(1, n - 1):
        y[i, 0], y[i, m - 1] = p[i, 0], p[i, m - 1]
        for j in range(1, m - 1):
            found = (p[i, j + 1] + p[i, j - 1]) * 0.3 + (p[i + 1, j] + p[i - 1, j]) * 0.2
            y[i, j] = found - 0.05 * b[i, j]


def conv(x: Tensor, w: Tensor) -> tuple[Tensor, ...]:
    n, h, v, into = sizes(x)
    r, s, _, out = sizes(w)
    dr, ds, c = (
        te.reduce_axis((0, size), name=f"r{size}_{at}") for at, size in enumerate((r, s, into))
    )
    return (
        te.compute(
            (n, h - r + 1, v - s + 1, out),
            lambda b, i, j, o: te.sum(x[b, i + dr, j + ds, c] * w[dr, ds, c, o], axis=[dr, ds, c]),
            name="y",
        ),
    )


def conv_numpy(x: Any, w: Any) -> tuple[Any, ...]:
    r, s = w.shape[:2]
    seen = np.lib.stride_tricks.sliding_window_view(x, (r, s), axis=(1, 2))
    return (np.tensordot(seen, w, axes=((3, 4, 5), (2, 0, 1))),)


def conv_loops(x: Any, w: Any, y: Any) -> None:
    for b in prange(y.shape[0]):
        for i in range(y.shape[1]):
            for j in range(y.shape[2]):
                for o in range(y.shape[3]):
                    y[b, i, j, o] = 0
                for dr in range(w.shape[0]):
                    for ds in range(w.shape[1]):
                        for c in range(w.shape[2]):
                            for o in range(y.shape[3]):
                                y[b, i, j, o] += x[b, i + dr, j + ds, c] * w[dr, ds, c, o]
