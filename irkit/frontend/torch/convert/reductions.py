"""Reductions along axes."""

import math
from functools import reduce

from irkit.frontend.sizes import Dim, multiply
from irkit.frontend.torch.aten_node import AtenNode, Convert, apply
from irkit.frontend.torch.convert.elementwise import truth
from irkit.graph import TensorExpr, constant
from irkit.ir import as_dtype, as_int


def _axes(node: AtenNode, x: TensorExpr, at: int = 1) -> tuple[int, ...]:
    """Return the axes; none at all means each of them."""
    given = node.given(at, "dim")
    axes = () if given is None else node.wholes(at, "dim")
    return tuple(axis % x.rank for axis in axes) if x.rank else ()


def _number(x: TensorExpr) -> TensorExpr:
    """Return a tensor of bool as numbers, and others as they are."""
    return x.cast("u8") if x.dtype.is_bool else x


def _reduced(name: str) -> Convert:
    """Convert a reduction whose arguments are the axes and whether they stay."""

    def convert(node: AtenNode) -> TensorExpr:
        x = node.cast(node.tensor(0), node.dtype)
        if not x.rank:
            return x
        keepdims = bool(node.given(2, "keepdim", False))
        found = apply(name, _number(x), axes=_axes(node, x), keepdims=keepdims)
        return node.cast(found, node.dtype)

    return convert


def _extreme(name: str) -> Convert:
    """Convert the largest or smallest element: of all, or along an axis with its place."""

    def convert(node: AtenNode) -> "TensorExpr | tuple[TensorExpr, ...]":
        given = node.tensor(0)
        x = _number(given)
        if len(node.node.args) == 1:
            return node.cast(apply(name, x, axes=(), keepdims=False), given.dtype)
        axis, keepdims = node.axis(1, "dim", x.rank), bool(node.given(2, "keepdim", False))
        if not x.rank:
            return given, apply("full_like", x.cast("i64"), value=0)
        place = apply(f"arg{name}", x, axis=axis, keepdims=keepdims)
        found = apply(name, x, axes=(axis,), keepdims=keepdims)
        return node.cast(found, given.dtype), place

    return convert


def _place(name: str) -> Convert:
    def convert(node: AtenNode) -> TensorExpr:
        x, keepdims = _number(node.tensor(0)), bool(node.given(2, "keepdim", False))
        if node.given(1, "dim") is None or not x.rank:
            found = apply(name, x.reshape(-1), axis=0)
            return found.reshape(*(1,) * x.rank) if keepdims else found
        return apply(name, x, axis=node.axis(1, "dim", x.rank), keepdims=keepdims)

    return convert


def _truth(name: str) -> Convert:
    """Convert any and all, as the largest and smallest of 0 and 1, where 0 is also the largest of
    nothing."""

    def convert(node: AtenNode) -> TensorExpr:
        x = truth(node, node.tensor(0)).cast("u8")
        keepdims = bool(node.given(2, "keepdim", False))
        found = apply(name, x, axes=_axes(node, x), keepdims=keepdims) if x.rank else x
        return node.cast(found.cast("bool"), node.dtype)

    return convert


def _var(node: AtenNode) -> TensorExpr:
    return _variance(node)[0]


def _var_mean(node: AtenNode) -> tuple[TensorExpr, ...]:
    return _variance(node)


def _variance(node: AtenNode) -> tuple[TensorExpr, TensorExpr]:
    x = node.tensor(0)
    overload = node.node.target.rpartition(".")[2]
    given = () if overload == "default" else _axes(node, x)
    axes = given or tuple(range(x.rank))
    if overload == "correction":
        keepdims = bool(node.given(3, "keepdim", False))
        correction = 1 if node.given(2, "correction") is None else node.number(2, "correction")
    else:  # The older spelling: whether the variance of a sample is estimated.
        unbiased = node.given(1 if overload == "default" else 2, "unbiased", True)
        keepdims, correction = bool(node.given(3, "keepdim", False)), int(bool(unbiased))
    mean = x.mean(*axes, keepdims=True)
    away = x - mean
    one: Dim = 1
    count = reduce(multiply, [node.dims(x)[axis] for axis in axes], one)
    total = (away * away).sum(*axes, keepdims=keepdims)
    if isinstance(count, int):
        # The variance of nothing is no number, whatever the correction is.
        correction = correction if count else 0
        rest = constant(float(max(count - correction, 0)), x.dtype)
    else:
        rest = apply("maximum", node.number_of(count, x.dtype) - float(correction), 0.0)
    return total / rest, mean if keepdims else x.mean(*axes)


def _cumsum(node: AtenNode) -> TensorExpr:
    """Sum what is before each place: a product with a triangle of ones."""
    x = node.cast(node.tensor(0), node.dtype)
    if not x.rank:
        return x
    axis = node.axis(1, "dim", x.rank)
    place = node.counted(0, node.dims(x)[axis], 1, as_dtype("i64"))
    triangle = apply("less_equal", place.reshape(-1, 1), place).cast(x.dtype)
    order = [at for at in range(x.rank) if at != axis] + [axis]
    found = apply("matmul", x.transpose(*order), triangle)
    return found.transpose(*(order.index(at) for at in range(x.rank)))


def _vector_norm(node: AtenNode) -> TensorExpr:
    x, order = node.cast(node.tensor(0), node.dtype), float(node.number(1, "ord", 2))
    given = node.given(2, "dim")
    axes = tuple(range(x.rank)) if given is None else _axes(node, x, 2)
    keepdims = bool(node.given(3, "keepdim", False))
    size = apply("abs", x)
    if abs(order) == math.inf:
        return apply("max" if order > 0 else "min", size, axes=axes, keepdims=keepdims)
    if order in (1, 2):
        power = size if order == 1 else x * x
        total = power.sum(*axes, keepdims=keepdims)
        return total if order == 1 else apply("sqrt", total)
    if order <= 0:
        raise node.fail(f"the norm of order {order:g} is not supported")
    return (size**order).sum(*axes, keepdims=keepdims) ** (1 / order)


def _softmax(name: str) -> Convert:
    def convert(node: AtenNode) -> TensorExpr:
        x = node.cast(node.tensor(0), node.dtype)
        if not x.rank or as_int(x.dims[-1]) == 0:
            raise node.fail("it has no axis to normalise over")
        return apply(name, x, axis=node.axis(1, "dim", x.rank))

    return convert


REDUCTIONS: dict[str, Convert] = {
    "sum": _reduced("sum"),
    "mean": _reduced("mean"),
    "prod": _reduced("prod"),
    "amax": _reduced("max"),
    "amin": _reduced("min"),
    "max": _extreme("max"),
    "min": _extreme("min"),
    "argmax": _place("argmax"),
    "argmin": _place("argmin"),
    "any": _truth("max"),
    "all": _truth("min"),
    "var": _var,
    "var_mean": _var_mean,
    "cumsum": _cumsum,
    "linalg_vector_norm": _vector_norm,
    "_softmax": _softmax("softmax"),
    "_log_softmax": _softmax("log_softmax"),
}  # fmt: skip
