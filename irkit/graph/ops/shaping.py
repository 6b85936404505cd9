"""Operators that change only the shape: the elements keep their order."""

from collections.abc import Sequence

import numpy as np

from irkit.core import ShapeError
from irkit.graph.ops.shapes import (
    Dim,
    broadcast,
    checked_axes,
    decoded,
    dim,
    quotient,
    same_shape,
    same_size,
    tensor,
    types_of,
    written,
)
from irkit.graph.ops.spec import Array, Attribute, OpOptions, OpSpec, Tensors
from irkit.graph.types import TensorType, Type
from irkit.ir import Expr, as_int


def _reshape_options(ranks: tuple[int, ...], options: OpOptions) -> OpOptions:
    shape = options.ints("shape")
    if shape.count(-1) > 1 or (len(ranks) == 1 and any(extent < -1 for extent in shape)):
        raise ShapeError(
            f"attribute shape must be extents, at most one of which is -1, found {shape}"
        )
    return options


def _reshape_type(tensors: Tensors, options: OpOptions) -> Type:
    x, *likes = tensors
    shape = decoded(options.ints("shape"), likes)
    if -1 in options.ints("shape"):
        hole = options.ints("shape").index(-1)
        rest = quotient(x.shape, [*shape[:hole], *shape[hole + 1 :]])
        if rest is None:
            raise _size_error(x, shape)
        shape[hole] = rest
    if not same_size(x.shape, shape):
        raise _size_error(x, shape)
    return tensor(shape, x.dtype)


def _size_error(x: TensorType, shape: list[Dim]) -> ShapeError:
    return ShapeError(
        f"argument x of shape {written(x.shape)} does not have as many elements as {written(shape)}"
    )


def _reshape(given: tuple[Array, ...], options: OpOptions) -> Array:
    shape = decoded(options.ints("shape"), types_of(given[1:]))
    return given[0].reshape([-1 if as_int(dim) is None else int(as_int(dim) or 0) for dim in shape])


def _transpose_options(ranks: tuple[int, ...], options: OpOptions) -> OpOptions:
    axes = options.ints("axes") or tuple(reversed(range(ranks[0])))
    found = checked_axes(axes, ranks[0])
    if len(found) != ranks[0]:
        raise ShapeError(f"attribute axes must name all {ranks[0]} axes, found {axes}")
    return options.replace(axes=found)


def _transpose_type(tensors: Tensors, options: OpOptions) -> Type:
    (x,) = tensors
    return TensorType(tuple(x.shape[axis] for axis in options.ints("axes")), x.dtype)


def _transpose(given: tuple[Array, ...], options: OpOptions) -> Array:
    return given[0].transpose(options.ints("axes"))


def _expand_options(ranks: tuple[int, ...], options: OpOptions) -> OpOptions:
    axes = options.ints("axes")
    return options.replace(axes=tuple(sorted(checked_axes(axes, ranks[0] + len(axes)))))


def _expand_type(tensors: Tensors, options: OpOptions) -> Type:
    (x,) = tensors
    shape = list(x.shape)
    for axis in options.ints("axes"):
        shape.insert(axis, dim(1))
    return TensorType(tuple(shape), x.dtype)


def _expand(given: tuple[Array, ...], options: OpOptions) -> Array:
    return np.expand_dims(given[0], options.ints("axes"))


def _squeeze_options(ranks: tuple[int, ...], options: OpOptions) -> OpOptions:
    return options.replace(axes=tuple(sorted(checked_axes(options.ints("axes"), ranks[0]))))


def _squeeze_type(tensors: Tensors, options: OpOptions) -> Type:
    (x,) = tensors
    axes = options.ints("axes")
    for axis in axes:
        if as_int(x.shape[axis]) != 1:
            raise ShapeError(f"argument x must be 1 along axis {axis}, found {written(x.shape)}")
    return TensorType(tuple(n for at, n in enumerate(x.shape) if at not in axes), x.dtype)


def _squeeze(given: tuple[Array, ...], options: OpOptions) -> Array:
    return np.squeeze(given[0], options.ints("axes"))


def _broadcast_target(
    shape: tuple[Expr, ...], likes: Sequence[TensorType], options: OpOptions
) -> tuple[Expr, ...]:
    """Return the target shape; -1 keeps an extent of the argument."""
    wanted, codes = decoded(options.ints("shape"), likes), options.ints("shape")
    if len(wanted) < len(shape):
        raise ShapeError(
            f"argument x of shape {written(shape)} has more axes than the target {codes}"
        )
    full = (*[dim(1)] * (len(wanted) - len(shape)), *shape)
    return tuple(
        have if code == -1 else dim(extent)
        for have, extent, code in zip(full, wanted, codes, strict=True)
    )


def _broadcast_type(tensors: Tensors, options: OpOptions) -> Type:
    x, *likes = tensors
    target = _broadcast_target(x.shape, likes, options)
    if not same_shape(broadcast(("x", "shape"), (x.shape, target)), target):
        raise ShapeError(
            f"argument x of shape {written(x.shape)} does not broadcast to {written(target)}"
        )
    return TensorType(target, x.dtype)


def _broadcast(given: tuple[Array, ...], options: OpOptions) -> Array:
    x, *likes = given
    own = tuple(dim(extent) for extent in x.shape)
    target = _broadcast_target(own, types_of(likes), options)
    return np.broadcast_to(x, [as_int(extent) or 0 for extent in target])


_AXES = (Attribute("axes", "ints"),)
_SHAPE = (Attribute("shape", "ints"),)

SHAPING = (
    OpSpec(
        "reshape",
        "injective",
        ("x", "like"),
        _reshape_type,
        _reshape,
        _SHAPE,
        optional=1,
        variadic=True,
        resolve=_reshape_options,
    ),
    OpSpec(
        "transpose",
        "injective",
        ("x",),
        _transpose_type,
        _transpose,
        (Attribute("axes", "ints", ()),),
        resolve=_transpose_options,
    ),
    OpSpec(
        "expand_dims", "injective", ("x",), _expand_type, _expand, _AXES, resolve=_expand_options
    ),
    OpSpec(
        "squeeze", "injective", ("x",), _squeeze_type, _squeeze, _AXES, resolve=_squeeze_options
    ),
    OpSpec(
        "broadcast_to",
        "broadcast",
        ("x", "like"),
        _broadcast_type,
        _broadcast,
        _SHAPE,
        optional=1,
        variadic=True,
    ),
)
