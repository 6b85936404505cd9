"""Twenty kernels that no rule was written for: stencils, chains of products, odd reductions."""

from collections.abc import Callable

from irkit import te
from irkit.ir import Expr, PrimFunc, Var
from irkit.te import Tensor

Cell = Callable[[Var], Expr] | Callable[[Var, Var], Expr] | Callable[[Var, Var, Var], Expr]


def _func(inputs: list[Tensor], shape: tuple[int, ...], cell: Cell) -> PrimFunc:
    return te.create_prim_func([*inputs, te.compute(shape, cell, name="Y")])


def _axis(size: int, name: str = "k") -> te.IterVar:
    return te.reduce_axis((0, size), name=name)


def _given(*shape: int, name: str = "A") -> Tensor:
    return te.placeholder(shape, name=name)


def five_points(n: int) -> PrimFunc:
    """Average five neighbours in a plane."""
    a = _given(n, n)

    def cell(i: Var, j: Var) -> Expr:
        near = a[i, j + 1] + a[i + 1, j] + a[i + 1, j + 1] + a[i + 1, j + 2] + a[i + 2, j + 1]
        return near * 0.2

    return _func([a], (n - 2, n - 2), cell)


def seven_points(n: int) -> PrimFunc:
    """Average seven neighbours in space."""
    a = _given(n, n, n)

    def cell(i: Var, j: Var, k: Var) -> Expr:
        near = a[i, j + 1, k + 1] + a[i + 2, j + 1, k + 1] + a[i + 1, j, k + 1]
        return near + a[i + 1, j + 2, k + 1] + a[i + 1, j + 1, k] + a[i + 1, j + 1, k + 2]

    return _func([a], (n - 2, n - 2, n - 2), cell)


def two_stages(n: int) -> PrimFunc:
    """Smooth twice along rows, then take the difference along columns."""
    a = _given(n, n)
    b = te.compute((n, n - 2), lambda i, j: a[i, j] + a[i, j + 1] + a[i, j + 2], name="B")
    c = te.compute((n, n - 4), lambda i, j: b[i, j] * b[i, j + 2] + b[i, j + 1], name="C")
    return _func([a], (n - 1, n - 4), lambda i, j: c[i + 1, j] - c[i, j])


def unsharp(n: int) -> PrimFunc:
    """Sharpen an image by its blur."""
    a = _given(n, n)
    x = te.compute((n, n - 2), lambda i, j: (a[i, j] + a[i, j + 1] + a[i, j + 2]) * 0.33, name="X")
    b = te.compute(
        (n - 2, n - 2), lambda i, j: (x[i, j] + x[i + 1, j] + x[i + 2, j]) * 0.33, name="B"
    )
    return _func([a], (n - 2, n - 2), lambda i, j: a[i + 1, j + 1] * 2.0 - b[i, j])


def window(n: int, size: int, what: str) -> PrimFunc:
    """Reduce each window of an image."""
    a, r, s = _given(n, n), _axis(size, "r"), _axis(size, "s")
    reduced = {"max": te.max, "sum": te.sum, "min": te.min}[what]
    shape = (n - size + 1, n - size + 1)
    return _func([a], shape, lambda i, j: reduced(a[i + r, j + s], axis=[r, s]))


def correlation(n: int, size: int) -> PrimFunc:
    """Correlate an image with a filter."""
    a, w = _given(n, n), _given(size, size, name="W")
    r, s = _axis(size, "r"), _axis(size, "s")
    shape = (n - size + 1, n - size + 1)
    return _func([a, w], shape, lambda i, j: te.sum(a[i + r, j + s] * w[r, s], axis=[r, s]))


def chain(n: int, middle: int) -> PrimFunc:
    """Multiply three matrices."""
    a, b, c = _given(n, middle), _given(middle, n, name="B"), _given(n, middle, name="C")
    k, m = _axis(middle), _axis(n, "m")
    first = te.compute((n, n), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="T")
    return _func([a, b, c], (n, middle), lambda i, j: te.sum(first[i, m] * c[m, j], axis=m))


def pairs(n: int, depth: int, what: str) -> PrimFunc:
    """Compare all rows of two tables."""
    a, b, k = _given(n, depth), _given(depth, n, name="B"), _axis(depth)

    def cell(i: Var, j: Var) -> Expr:
        one, other = a[i, k], b[k, j]
        if what == "manhattan":
            return te.sum(te.abs(one - other), axis=k)
        if what == "chebyshev":
            return te.max(te.abs(one - other), axis=k)
        if what == "shortest":
            return te.min(one + other, axis=k)
        if what == "overlap":
            return te.sum(te.minimum(one, other), axis=k)
        return te.max(te.minimum(one, other), axis=k)

    return _func([a, b], (n, n), cell)


def three_factors(n: int, depth: int) -> PrimFunc:
    """Sum products of three factors."""
    a, b, w, k = _given(n, depth), _given(depth, n, name="B"), _given(depth, name="W"), _axis(depth)
    return _func([a, b, w], (n, n), lambda i, j: te.sum(a[i, k] * b[k, j] * w[k], axis=k))


def contraction(n: int, depth: int) -> PrimFunc:
    """Contract a cube with a matrix in its middle."""
    a, b, k = _given(n, depth, n), _given(depth, n, name="B"), _axis(depth)
    return _func([a, b], (n, n, n), lambda i, j, m: te.sum(a[i, k, m] * b[k, j], axis=k))


def autocorrelation(n: int, lags: int) -> PrimFunc:
    """Correlate rows with themselves, moved."""
    a, k = _given(n, 512 + lags), _axis(512)
    return _func([a], (n, lags), lambda i, j: te.sum(a[i, k] * a[i, k + j], axis=k))


def squares(n: int) -> PrimFunc:
    """Sum squares of differences of neighbours in each row."""
    a, k = _given(n, n), _axis(n - 1)

    def cell(i: Var) -> Expr:
        apart = a[i, k + 1] - a[i, k]
        return te.sum(apart * apart, axis=k)

    return _func([a], (n,), cell)


KERNELS: dict[str, Callable[[], PrimFunc]] = {
    "five points 1000": lambda: five_points(1000),
    "seven points 100": lambda: seven_points(100),
    "two stages 1000": lambda: two_stages(1000),
    "unsharp 1000": lambda: unsharp(1000),
    "largest in 5 x 5": lambda: window(300, 5, "max"),
    "least in 3 x 3": lambda: window(500, 3, "min"),
    "sums of 7 x 7": lambda: window(300, 7, "sum"),
    "correlation 5 x 5": lambda: correlation(300, 5),
    "correlation 11 x 11": lambda: correlation(200, 11),
    "chain 192 x 64": lambda: chain(192, 64),
    "chain 97 x 331": lambda: chain(97, 331),
    "manhattan": lambda: pairs(256, 64, "manhattan"),
    "chebyshev": lambda: pairs(256, 64, "chebyshev"),
    "shortest": lambda: pairs(199, 199, "shortest"),
    "overlap": lambda: pairs(300, 31, "overlap"),
    "widest": lambda: pairs(200, 128, "widest"),
    "three factors": lambda: three_factors(256, 128),
    "contraction": lambda: contraction(48, 48),
    "autocorrelation": lambda: autocorrelation(64, 48),
    "squares": lambda: squares(1200),
}
