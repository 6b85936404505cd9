"""Convolution and matrix multiplication."""

from math import prod

import numpy as np

from irkit.core import ShapeError
from irkit.graph.ops.shapes import (
    broadcast,
    dim,
    expect_dtype,
    expect_extent,
    expect_rank,
    same_extent,
    tensor,
    written,
)
from irkit.graph.ops.spec import Array, Attribute, OpOptions, OpSpec, Tensors
from irkit.graph.ops.windows import filled, window_extents, windows
from irkit.graph.types import TensorType, Type
from irkit.ir import as_int


def widened(array: Array) -> Array:
    """Widen half floats, because long sums in them are too inaccurate."""
    return array.astype(np.float32) if array.dtype.itemsize == 2 and _is_float(array) else array


def _is_float(array: Array) -> bool:
    return array.dtype.kind not in "iub"


def _conv_options(ranks: tuple[int, ...], options: OpOptions) -> OpOptions:
    if ranks[0] < 3:
        raise ShapeError(f"argument x must be [N, C, spatial...], found rank {ranks[0]}")
    if options.int("groups") < 1:
        raise ShapeError(f"attribute groups must be at least 1, found {options.int('groups')}")
    return filled(options, ranks[0] - 2)


def _conv_type(tensors: Tensors, options: OpOptions) -> Type:
    x, w, *bias = tensors
    expect_rank("w", w, len(x.shape), "as x: [K, C / groups, kernel...]")
    for name, other in (("w", w), *(("b", given) for given in bias)):
        expect_dtype(name, other, x.dtype)
    groups, channels = options.int("groups"), as_int(x.shape[1])
    filters, inner = as_int(w.shape[0]), as_int(w.shape[1])
    if channels is None or filters is None or inner is None:
        raise ShapeError(
            f"channels must be constant, found x {written(x.shape)}, w {written(w.shape)}"
        )
    if inner * groups != channels:
        raise ShapeError(
            f"argument w: expected {channels / groups:g} input channels (x has {channels}, groups "
            f"is {groups}), found {inner} in shape {written(w.shape)}"
        )
    if filters % groups:
        raise ShapeError(
            f"argument w: the number of filters must be a multiple of groups {groups}, found "
            f"{filters}"
        )
    if bias:
        expect_rank("b", bias[0], 1, "one number a filter")
        expect_extent("b", bias[0], 0, filters, "the number of filters")
    extents = window_extents(x.shape[2:], w.shape[2:], options)
    return tensor((x.shape[0], filters, *extents), x.dtype)


def _conv(given: tuple[Array, ...], options: OpOptions) -> Array:
    """Compute as a matrix product of filters and unfolded windows, group by group."""
    x, w, *bias = given
    dtype, groups = np.result_type(x, w), options.int("groups")
    x, w = widened(x), widened(w)
    kernel, rank = w.shape[2:], w.ndim - 2
    counts = [
        as_int(extent) or 0
        for extent in window_extents([dim(extent) for extent in x.shape[2:]], kernel, options)
    ]
    view = windows(x, kernel, options, counts, 0)
    inner, per_group = w.shape[1], w.shape[0] // groups
    parts: list[Array] = []
    for group in range(groups):
        chosen = view[:, group * inner : (group + 1) * inner]
        order = (0, *range(2, 2 + rank), 1, *range(2 + rank, 2 + 2 * rank))
        rows = chosen.transpose(order).reshape(x.shape[0], prod(counts), inner * prod(kernel))
        filters = w[group * per_group : (group + 1) * per_group].reshape(per_group, rows.shape[2])
        parts.append(filters @ rows.transpose(0, 2, 1))
    found = np.concatenate(parts, axis=1).reshape(x.shape[0], w.shape[0], *counts)
    if bias:
        found = found + widened(bias[0]).reshape(-1, *(1,) * rank)
    return found.astype(dtype, copy=False)


def _matmul_type(tensors: Tensors, options: OpOptions) -> Type:
    a, b = tensors
    expect_dtype("b", b, a.dtype)
    if not a.shape or not b.shape:
        name, other = ("a", b) if not a.shape else ("b", a)
        raise ShapeError(
            f"argument {name} must have rank 1 or more, found [] beside {written(other.shape)}"
        )
    axis = -2 if len(b.shape) > 1 else -1
    if not same_extent(a.shape[-1], b.shape[axis]):
        raise ShapeError(
            f"argument b: expected {written(a.shape[-1:])[1:-1]} along axis {axis} (the last of a "
            f"{written(a.shape)}), found shape {written(b.shape)}"
        )
    rows = a.shape[-2:-1]
    columns = b.shape[-1:] if len(b.shape) > 1 else ()
    batch = broadcast("ab", (a.shape[:-2], b.shape[:-2]))
    return TensorType((*batch, *rows, *columns), a.dtype)


def _matmul(given: tuple[Array, ...], options: OpOptions) -> Array:
    a, b = given
    dtype = np.result_type(a, b)
    return np.asarray(np.matmul(widened(a), widened(b))).astype(dtype, copy=False)


CONV = OpSpec(
    "conv",
    "complex",
    ("x", "w", "b"),
    _conv_type,
    _conv,
    (
        Attribute("strides", "ints", ()),
        Attribute("pads", "ints", ()),
        Attribute("dilations", "ints", ()),
        Attribute("groups", "int", 1),
    ),
    optional=1,
    resolve=_conv_options,
)
MATMUL = OpSpec("matmul", "complex", ("a", "b"), _matmul_type, _matmul)

LINEAR = (CONV, MATMUL)
