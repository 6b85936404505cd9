"""Small tasks for tests of tuning."""

from benchmarks.tuning.programs import (
    blur as blur,
    convolution as convolution,
    product as product,
)
from irkit import te
from irkit.ir import Expr, PrimFunc, Var


def nearest(rows: int, columns: int, steps: int) -> PrimFunc:
    """Find the least sums: a reduction that no rule was written for."""
    a = te.placeholder((rows, steps), name="A")
    b = te.placeholder((steps, columns), name="B")
    k = te.reduce_axis((0, steps), name="k")

    def cell(i: Var, j: Var) -> Expr:
        return te.min(a[i, k] + b[k, j], axis=k)

    return te.create_prim_func([a, b, te.compute((rows, columns), cell, name="C")])


def nearest_filters(channels: int, size: int, filters: int) -> PrimFunc:
    """Compare points of an image with filters: its rows and columns always move together."""
    x = te.placeholder((channels, size, size), name="X")
    w = te.placeholder((filters, channels), name="W")
    c = te.reduce_axis((0, channels), name="c")

    def cell(f: Var, i: Var, j: Var) -> Expr:
        return te.min(x[c, i, j] + w[f, c], axis=c)

    return te.create_prim_func([x, w, te.compute((filters, size, size), cell, name="Y")])


def chain(rows: int, steps: int) -> PrimFunc:
    """Multiply three matrices."""
    a = te.placeholder((rows, steps), name="A")
    b = te.placeholder((steps, rows), name="B")
    c = te.placeholder((rows, steps), name="D")
    k, m = te.reduce_axis((0, steps), name="k"), te.reduce_axis((0, rows), name="m")
    t = te.compute((rows, rows), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="T")
    y = te.compute((rows, steps), lambda i, j: te.sum(t[i, m] * c[m, j], axis=m), name="Y")
    return te.create_prim_func([a, b, c, y])


def exponential(n: int) -> PrimFunc:
    """Apply what is exact for no input."""
    x = te.placeholder((n, n), name="X")
    return te.create_prim_func([x, te.compute((n, n), lambda i, j: te.exp(x[i, j]), name="E")])


def sums(rows: int, length: int) -> PrimFunc:
    """Add up rows, which lie along memory."""
    x = te.placeholder((rows, length), name="X")
    k = te.reduce_axis((0, length), name="k")
    return te.create_prim_func(
        [x, te.compute((rows,), lambda i: te.sum(x[i, k], axis=k), name="S")]
    )


def activated(channels: int, size: int, filters: int) -> PrimFunc:
    """Convolve a padded image, add a bias, and cut what is below zero."""
    x = te.placeholder((channels, size, size), name="X")
    w = te.placeholder((filters, channels, 3, 3), name="W")
    bias = te.placeholder((filters,), name="bias")
    wide = te.compute(
        (channels, size + 2, size + 2),
        lambda c, i, j: te.if_then_else(
            te.all(te.ge(i, 1), te.le(i, size), te.ge(j, 1), te.le(j, size)),
            x[c, i - 1, j - 1],
            0.0,
        ),
        name="pad",
    )
    c, r, s = (te.reduce_axis((0, n), name=m) for n, m in ((channels, "c"), (3, "r"), (3, "s")))
    shape = (filters, size, size)
    made = te.compute(
        shape,
        lambda f, i, j: te.sum(wide[c, i + r, j + s] * w[f, c, r, s], axis=[c, r, s]),
        name="Y",
    )
    moved = te.compute(shape, lambda f, i, j: made[f, i, j] + bias[f], name="add")
    cut = te.compute(shape, lambda f, i, j: te.maximum(moved[f, i, j], 0.0), name="relu")
    return te.create_prim_func([x, w, bias, cut])
