"""Reductions over axes; without axes, over all of them."""

from collections.abc import Callable

import numpy as np

from irkit.graph.ops.linear import widened
from irkit.graph.ops.shapes import checked_axes, dim, expect_number, with_axis
from irkit.graph.ops.spec import Array, Attribute, OpOptions, OpSpec, Tensors
from irkit.graph.types import TensorType, Type
from irkit.ir import I64, Expr


def _options(ranks: tuple[int, ...], options: OpOptions) -> OpOptions:
    axes = options.ints("axes") or tuple(range(ranks[0]))
    return options.replace(axes=tuple(sorted(checked_axes(axes, ranks[0]))))


def _reduced(shape: tuple[Expr, ...], axes: tuple[int, ...], keepdims: bool) -> tuple[Expr, ...]:
    kept = [
        dim(1) if axis in axes else extent
        for axis, extent in enumerate(shape)
        if keepdims or axis not in axes
    ]
    return tuple(kept)


def _types(tensors: Tensors, options: OpOptions) -> Type:
    (x,) = tensors
    expect_number("x", x)
    return TensorType(_reduced(x.shape, options.ints("axes"), options.flag("keepdims")), x.dtype)


def _mean(x: Array, axis: tuple[int, ...], keepdims: bool) -> Array:
    """Average; integers truncate. The sum can wrap around, the count cannot."""
    total = np.asarray(np.sum(x, axis=axis, keepdims=keepdims, dtype=x.dtype))
    count = int(np.prod([x.shape[at] for at in axis], dtype=np.int64))
    if x.dtype.kind not in "iu":
        return total / total.dtype.type(count)
    wide = np.dtype(np.uint64 if x.dtype.kind == "u" else np.int64)
    parts, number = total.astype(wide), wide.type(max(count, 1))
    down = parts // number
    return down + ((down < 0) & (down * number != parts)).astype(wide)


def _sum(x: Array, axis: tuple[int, ...], keepdims: bool) -> Array:
    return np.sum(x, axis=axis, keepdims=keepdims, dtype=x.dtype)


def _prod(x: Array, axis: tuple[int, ...], keepdims: bool) -> Array:
    return np.prod(x, axis=axis, keepdims=keepdims, dtype=x.dtype)


def _max(x: Array, axis: tuple[int, ...], keepdims: bool) -> Array:
    lowest = np.iinfo(x.dtype).min if x.dtype.kind in "iu" else -np.inf
    return np.max(x, axis=axis, keepdims=keepdims, initial=lowest)


def _min(x: Array, axis: tuple[int, ...], keepdims: bool) -> Array:
    highest = np.iinfo(x.dtype).max if x.dtype.kind in "iu" else np.inf
    return np.min(x, axis=axis, keepdims=keepdims, initial=highest)


def _reduction(name: str, run: Callable[[Array, tuple[int, ...], bool], Array]) -> OpSpec:
    def arrays(given: tuple[Array, ...], options: OpOptions) -> Array:
        found = run(widened(given[0]), options.ints("axes"), options.flag("keepdims"))
        return np.asarray(found).astype(given[0].dtype, copy=False)

    attributes = (Attribute("axes", "ints", ()), Attribute("keepdims", "bool", False))
    return OpSpec(name, "reduction", ("x",), _types, arrays, attributes, resolve=_options)


def _arg_types(tensors: Tensors, options: OpOptions) -> Type:
    axes = (options.int("axis"),)
    return TensorType(_reduced(tensors[0].shape, axes, options.flag("keepdims")), I64)


def _arg(name: str, run: Callable[..., Array]) -> OpSpec:
    """Return the operator of the first extreme along an axis, or with ``last`` the last."""

    def arrays(given: tuple[Array, ...], options: OpOptions) -> Array:
        (x,), axis, keepdims = given, options.int("axis"), options.flag("keepdims")
        if not options.flag("last"):
            return np.asarray(run(x, axis=axis, keepdims=keepdims)).astype(np.int64)
        back = np.asarray(run(np.flip(x, axis), axis=axis, keepdims=keepdims)).astype(np.int64)
        return np.asarray(x.shape[axis] - 1 - back)

    attributes = (
        Attribute("axis", "int", 0),
        Attribute("keepdims", "bool", False),
        Attribute("last", "bool", False),
    )
    return OpSpec(name, "reduction", ("x",), _arg_types, arrays, attributes, resolve=with_axis)


REDUCTION = (
    *(
        _reduction(name, run)
        for name, run in (
            ("sum", _sum),
            ("prod", _prod),
            ("max", _max),
            ("min", _min),
            ("mean", _mean),
        )
    ),
    _arg("argmax", np.argmax),
    _arg("argmin", np.argmin),
)
