"""Numerics: elementwise chains, pairs of particles, integrals, layers of networks."""

import math
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.schedules.polybench.kernel import Kernel, alike, dot, near, sizes
from irkit import te, topi
from irkit.ir import Expr, Var
from irkit.te import Tensor

prange: Any = import_module("numba").prange
where: Any = np.where


def numerics(rng: np.random.Generator) -> Iterator[Kernel]:
    n, m = near(rng, 400), near(rng, 500)
    yield Kernel("softmax", {"x": (n, m)}, softmax, softmax_numpy, softmax_loops)
    yield Kernel("go fast", {"a": (n, n)}, go_fast, go_fast_numpy, go_fast_loops)
    grids = alike("abc", (n, m))
    yield Kernel("compute", grids, clip, clip_numpy, clip_loops)
    lines = alike(("p", "q", "r", "s"), (n * m // 4,))
    yield Kernel("arc distance", lines, arc, arc_numpy, arc_loops)
    count = near(rng, 300)
    bodies = alike("xyzw", (count,))
    yield Kernel("nbody", bodies, nbody, nbody_numpy, nbody_loops)
    grids = alike(("zr", "zi", "cr", "ci"), (n, m))
    yield Kernel("mandelbrot", grids, mandelbrot, mandelbrot_numpy, mandelbrot_loops)
    b, i, h, o = near(rng, 64), near(rng, 120), near(rng, 200), 10
    layers = {"x": (b, i), "v": (i, h), "c": (h,), "w": (h, o), "d": (o,)}
    yield Kernel("mlp", layers, mlp, mlp_numpy, mlp_loops)


def softmax(x: Tensor) -> tuple[Tensor, ...]:
    return (topi.nn.softmax(x),)


def softmax_numpy(x: Any) -> tuple[Any, ...]:
    power = np.exp(x - x.max(axis=1, keepdims=True))
    return (power / power.sum(axis=1, keepdims=True),)


def softmax_loops(x: Any, y: Any) -> None:
    for i in prange(x.shape[0]):
        most = x[i, 0]
        for j in range(x.shape[1]):
            most = max(most, x[i, j])
        whole = y[i, 0] * 0
        for j in range(x.shape[1]):
            y[i, j] = math.exp(x[i, j] - most)
            whole += y[i, j]
        for j in range(x.shape[1]):
            y[i, j] /= whole


def go_fast(a: Tensor) -> tuple[Tensor, ...]:
    shape: Any = a.shape
    trace = dot((1,), shape[0], lambda _, k: te.tanh(a[k, k]), "trace")
    return (te.compute(a.shape, lambda i, j: a[i, j] + trace[0], name="y"),)


def go_fast_numpy(a: Any) -> tuple[Any, ...]:
    return (a + np.tanh(np.diagonal(a)).sum(),)


def go_fast_loops(a: Any, y: Any) -> None:
    trace = a[0, 0] * 0
    for i in range(a.shape[0]):
        trace += np.tanh(a[i, i])
    for i in prange(a.shape[0]):
        for j in range(a.shape[1]):
            y[i, j] = a[i, j] + trace


def clip(a: Tensor, b: Tensor, c: Tensor) -> tuple[Tensor, ...]:
    return (
        te.compute(
            a.shape,
            lambda i, j: te.minimum(te.maximum(a[i, j], 0.2), 0.8) * 4.0 + b[i, j] * 3.0 + c[i, j],
            name="y",
        ),
    )


def clip_numpy(a: Any, b: Any, c: Any) -> tuple[Any, ...]:
    return (np.clip(a, 0.2, 0.8) * 4 + b * 3 + c,)


def clip_loops(a: Any, b: Any, c: Any, y: Any) -> None:
    for i in prange(a.shape[0]):
        for j in range(a.shape[1]):
            y[i, j] = min(max(a[i, j], 0.2), 0.8) * 4 + b[i, j] * 3 + c[i, j]


def arc(p: Tensor, q: Tensor, r: Tensor, s: Tensor) -> tuple[Tensor, ...]:
    def distance(i: Var) -> Expr:
        up, along = te.sin((r[i] - p[i]) * 0.5), te.sin((s[i] - q[i]) * 0.5)
        part = up * up + te.cos(p[i]) * te.cos(r[i]) * along * along
        return 2.0 * te.atan2(te.sqrt(part), te.sqrt(1.0 - part))

    return (te.compute(p.shape, distance, name="y"),)


def arc_numpy(p: Any, q: Any, r: Any, s: Any) -> tuple[Any, ...]:
    part = np.sin((r - p) / 2) ** 2 + np.cos(p) * np.cos(r) * np.sin((s - q) / 2) ** 2
    return (2 * np.arctan2(np.sqrt(part), np.sqrt(1 - part)),)


def arc_loops(p: Any, q: Any, r: Any, s: Any, y: Any) -> None:
    for i in prange(p.shape[0]):
        up, along = math.sin((r[i] - p[i]) / 2), math.sin((s[i] - q[i]) / 2)
        part = up * up + math.cos(p[i]) * math.cos(r[i]) * along * along
        y[i] = 2 * math.atan2(math.sqrt(part), math.sqrt(1 - part))


def nbody(x: Tensor, y: Tensor, z: Tensor, w: Tensor) -> tuple[Tensor, ...]:
    count: Any = x.shape[0]

    def pull(of: Tensor, name: str) -> Tensor:
        def term(i: Var, j: Var) -> Expr:
            dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
            square = dx * dx + dy * dy + dz * dz + 0.01
            return (of[j] - of[i]) * w[j] / (square * te.sqrt(square))

        return dot((count,), count, term, name)

    return pull(x, "fx"), pull(y, "fy"), pull(z, "fz")


def nbody_numpy(x: Any, y: Any, z: Any, w: Any) -> tuple[Any, ...]:
    dx, dy, dz = (each - each[:, None] for each in (x, y, z))
    square = dx * dx + dy * dy + dz * dz + 0.01
    scale = w / (square * np.sqrt(square))
    return (dx * scale).sum(1), (dy * scale).sum(1), (dz * scale).sum(1)


def nbody_loops(x: Any, y: Any, z: Any, w: Any, fx: Any, fy: Any, fz: Any) -> None:
    for i in prange(x.shape[0]):
        sx = sy = sz = x[i] * 0
        for j in range(x.shape[0]):
            dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
            square = dx * dx + dy * dy + dz * dz + 0.01
            scale = w[j] / (square * math.sqrt(square))
            sx += dx * scale
            sy += dy * scale
            sz += dz * scale
        fx[i], fy[i], fz[i] = sx, sy, sz


def mandelbrot(zr: Tensor, zi: Tensor, cr: Tensor, ci: Tensor) -> tuple[Tensor, ...]:
    def moves(i: Var, j: Var) -> Expr:
        return te.lt(zr[i, j] * zr[i, j] + zi[i, j] * zi[i, j], 4.0)

    def real(i: Var, j: Var) -> Expr:
        found = zr[i, j] * zr[i, j] - zi[i, j] * zi[i, j] + cr[i, j]
        return te.select(moves(i, j), found, zr[i, j])

    def imaginary(i: Var, j: Var) -> Expr:
        return te.select(moves(i, j), 2.0 * zr[i, j] * zi[i, j] + ci[i, j], zi[i, j])

    shape = zr.shape
    return te.compute(shape, real, name="yr"), te.compute(shape, imaginary, name="yi")


def mandelbrot_numpy(zr: Any, zi: Any, cr: Any, ci: Any) -> tuple[Any, ...]:
    moves = zr * zr + zi * zi < 4
    return where(moves, zr * zr - zi * zi + cr, zr), where(moves, 2 * zr * zi + ci, zi)


def mandelbrot_loops(zr: Any, zi: Any, cr: Any, ci: Any, yr: Any, yi: Any) -> None:
    for i in prange(zr.shape[0]):
        for j in range(zr.shape[1]):
            a, b = zr[i, j], zi[i, j]
            if a * a + b * b < 4:
                yr[i, j], yi[i, j] = a * a - b * b + cr[i, j], 2 * a * b + ci[i, j]
            else:
                yr[i, j], yi[i, j] = a, b


def mlp(x: Tensor, v: Tensor, c: Tensor, w: Tensor, d: Tensor) -> tuple[Tensor, ...]:
    (b, into), (h,), (o,) = sizes(x), sizes(c), sizes(d)
    xv = dot((b, h), into, lambda i, j, k: x[i, k] * v[k, j], "xv")
    hidden = te.compute((b, h), lambda i, j: te.maximum(xv[i, j] + c[j], 0.0), name="hidden")
    hw = dot((b, o), h, lambda i, j, k: hidden[i, k] * w[k, j], "hw")
    return (topi.nn.softmax(te.compute((b, o), lambda i, j: hw[i, j] + d[j], name="last")),)


def mlp_numpy(x: Any, v: Any, c: Any, w: Any, d: Any) -> tuple[Any, ...]:
    return softmax_numpy(np.maximum(x @ v + c, 0) @ w + d)


def mlp_loops(x: Any, v: Any, c: Any, w: Any, d: Any, y: Any) -> None:
    for i in prange(x.shape[0]):
        hidden = c.copy()
        for k in range(x.shape[1]):
            for j in range(c.shape[0]):
                hidden[j] += x[i, k] * v[k, j]
        for j in range(d.shape[0]):
            y[i, j] = d[j]
        for k in range(c.shape[0]):
            here = max(hidden[k], 0)
            for j in range(d.shape[0]):
                y[i, j] += here * w[k, j]
        most = y[i, 0]
        for j in range(d.shape[0]):
            most = max(most, y[i, j])
        whole = y[i, 0] * 0
        for j in range(d.shape[0]):
            y[i, j] = math.exp(y[i, j] - most)
            whole += y[i, j]
        for j in range(d.shape[0]):
            y[i, j] /= whole
