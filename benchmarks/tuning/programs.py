"""Programs to tune: products, convolutions, and what is like them."""

from irkit import te
from irkit.ir import Expr, PrimFunc, Var


def product(rows: int, columns: int, steps: int) -> PrimFunc:
    """Multiply two matrices."""
    a, b = te.placeholder((rows, steps), name="A"), te.placeholder((steps, columns), name="B")
    k = te.reduce_axis((0, steps), name="k")
    c = te.compute((rows, columns), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    return te.create_prim_func([a, b, c])


def nearest(n: int) -> PrimFunc:
    """Find the least sums, as of paths."""
    a, b = te.placeholder((n, n), name="A"), te.placeholder((n, n), name="B")
    k = te.reduce_axis((0, n), name="k")
    c = te.compute((n, n), lambda i, j: te.min(a[i, k] + b[k, j], axis=k), name="C")
    return te.create_prim_func([a, b, c])


def distances(n: int, depth: int) -> PrimFunc:
    """Compute squared distances of points."""
    a, b = te.placeholder((n, depth), name="A"), te.placeholder((depth, n), name="B")
    k = te.reduce_axis((0, depth), name="k")

    def cell(i: Var, j: Var) -> Expr:
        apart = a[i, k] - b[k, j]
        return te.sum(apart * apart, axis=k)

    return te.create_prim_func([a, b, te.compute((n, n), cell, name="D")])


def blur(n: int) -> PrimFunc:
    """Blur along rows, then along columns."""
    x = te.placeholder((n, n), name="X")
    a = te.compute((n, n - 2), lambda i, j: x[i, j] + x[i, j + 1] + x[i, j + 2], name="across")
    b = te.compute((n - 2, n - 2), lambda i, j: a[i, j] + a[i + 1, j] + a[i + 2, j], name="down")
    return te.create_prim_func([x, b])


def convolution(channels: int, size: int, filters: int) -> PrimFunc:
    """Convolve with 3 x 3 filters."""
    x = te.placeholder((channels, size + 2, size + 2), name="X")
    w = te.placeholder((filters, channels, 3, 3), name="W")
    c, r, s = (te.reduce_axis((0, n), name=m) for n, m in ((channels, "c"), (3, "r"), (3, "s")))

    def cell(f: Var, i: Var, j: Var) -> Expr:
        return te.sum(x[c, i + r, j + s] * w[f, c, r, s], axis=[c, r, s])

    return te.create_prim_func([x, w, te.compute((filters, size, size), cell, name="Y")])
