"""Operators that move elements: shapes, slices, joins, look-ups; and those that make tensors."""

from collections.abc import Sequence
from math import prod
from typing import cast

import numpy as np

from irkit.core import equal
from irkit.frontend.torch.aten_node import AtenNode, Convert, apply
from irkit.graph import TensorExpr, constant
from irkit.ir import Expr, as_int, index, numpy_dtype


def _view(node: AtenNode) -> TensorExpr:
    """Reshape; one extent that is not known is found from the others."""
    wanted = node.extents(1)
    shape = [each if isinstance(each, int) else -1 for each in wanted]
    if shape.count(-1) <= 1:
        return node.tensor(0).reshape(*shape)
    codes, likes = node.coded(wanted, holes=1)
    return apply("reshape", node.tensor(0), *likes, shape=codes)


def _expand(node: AtenNode) -> TensorExpr:
    x, wanted = node.tensor(0), node.extents(1)
    own = [0] * (len(wanted) - x.rank) + list(x.dims)
    grown = [n for n, dim in zip(wanted, own, strict=True) if not equal(index(n), index(dim))]
    if all(isinstance(n, int) for n in grown):  # PyTorch writes -1 for an extent that is kept.
        return apply("broadcast_to", x, shape=[n if isinstance(n, int) else -1 for n in wanted])
    codes, likes = node.coded([own[at] if n == -1 else n for at, n in enumerate(wanted)])
    return apply("broadcast_to", x, *likes, shape=codes)


def _permute(node: AtenNode) -> TensorExpr:
    axes = node.wholes(1)
    return node.tensor(0).transpose(*axes) if axes else node.tensor(0)


def _transpose(node: AtenNode) -> TensorExpr:
    x = node.tensor(0)
    axes = list(range(x.rank))
    a, b = node.axis(1, "dim0", x.rank), node.axis(2, "dim1", x.rank)
    axes[a], axes[b] = axes[b], axes[a]
    return x.transpose(*axes)


def _squeeze(node: AtenNode) -> TensorExpr:
    x = node.tensor(0)
    axes = node.wholes(1) if len(node.node.args) > 1 else range(x.rank)
    ones = [axis % x.rank for axis in axes if x.rank and as_int(x.dims[axis]) == 1]
    return apply("squeeze", x, axes=ones) if ones else x


def _unsqueeze(node: AtenNode) -> TensorExpr:
    x = node.tensor(0)
    return apply("expand_dims", x, axes=(node.axis(1, "dim", x.rank + 1),))


def _slice(node: AtenNode) -> TensorExpr:
    x = node.tensor(0)
    axis, step = node.axis(1, "dim", x.rank, 0), node.whole(4, "step", 1)
    begin, end = node.given(2, "start"), node.given(3, "end")
    begin = 0 if begin is None else begin
    is_whole = end is None or as_int(end) == 2**63 - 1 or equal(index(end), x.dims[axis])
    if begin == 0 and step == 1 and is_whole:
        return x
    last = x.extent(axis) if end is None else as_int(end)
    if not isinstance(begin, int) or last is None:
        raise node.fail("its bounds are symbolic")
    return apply("slice", x, begins=(begin,), ends=(last,), strides=(step,), axes=(axis,))


def _select(node: AtenNode) -> TensorExpr:
    x = node.tensor(0)
    return x[(*(slice(None),) * node.axis(1, "dim", x.rank), node.whole(2, "index"))]


def _split(node: AtenNode) -> tuple[TensorExpr, ...]:
    x, axis = node.tensor(0), node.axis(2, "dim", node.tensor(0).rank, 0)
    sizes = node.given(1)
    if isinstance(sizes, int):
        extent = x.extent(axis)
        sizes = [min(sizes, extent - at) for at in range(0, extent, sizes)]
    before, found = (slice(None),) * axis, list[TensorExpr]()
    begin = 0
    for size in cast("list[int]", sizes):
        found.append(x[(*before, slice(begin, begin + size))])
        begin += size
    return tuple(found)


def _cat(node: AtenNode) -> TensorExpr:
    parts = [node.cast(each, node.dtype) for each in node.tensors(0)]
    # PyTorch leaves out what has one axis and no elements.
    kept = [each for each in parts if each.rank != 1 or as_int(each.dims[0]) != 0] or parts[:1]
    axis = node.axis(1, "dim", kept[0].rank, 0)
    return apply("concat", *kept, axis=axis)


def _repeat(node: AtenNode) -> TensorExpr:
    x, times = node.tensor(0), node.wholes(1)
    x = apply("expand_dims", x, axes=range(len(times) - x.rank)) if len(times) > x.rank else x
    for axis, count in enumerate(times):
        x = apply("concat", *[x] * count, axis=axis) if count != 1 else x
    return x


def _flip(node: AtenNode) -> TensorExpr:
    x = node.tensor(0)
    axes = {axis % x.rank for axis in node.wholes(1)}
    return x[tuple(slice(None, None, -1 if at in axes else None) for at in range(x.rank))]


def _pad(node: AtenNode) -> TensorExpr:
    x, widths = node.tensor(0), node.wholes(1)
    pads = [0] * (2 * x.rank)
    for at in range(len(widths) // 2):
        axis = x.rank - 1 - at
        pads[axis], pads[x.rank + axis] = widths[2 * at], widths[2 * at + 1]
    return apply("pad", x, pads=pads, value=node.number(2, "value", 0))


def _embedding(node: AtenNode) -> TensorExpr:
    return apply("take", node.tensor(0), node.tensor(1), axis=0)


def _index_select(node: AtenNode) -> TensorExpr:
    x = node.tensor(0)
    return apply("take", x, node.tensor(2), axis=node.axis(1, "dim", x.rank))


def _gather(node: AtenNode) -> TensorExpr:
    """Take the element at an index along an axis, for each place of the index."""
    x, index = node.tensor(0), node.tensor(2)
    axis, shape = node.axis(1, "dim", x.rank), x.shape
    strides = [prod(shape[at + 1 :]) for at in range(x.rank)]
    flat = index.cast("i64") * strides[axis]
    for at in range(x.rank):
        if at != axis:
            places = np.arange(index.extent(at)) * strides[at]
            flat = flat + places.reshape([-1 if each == at else 1 for each in range(x.rank)])
    return apply("take", x.reshape(-1), flat, axis=0)


def _index(node: AtenNode) -> TensorExpr:
    """Index by tensors of integers along axes that follow each other."""
    x, given = node.tensor(0), node.given(1)
    axes = [at for at, each in enumerate(given) if each is not None]
    if not axes or axes != list(range(axes[0], axes[0] + len(axes))):
        raise node.fail("its indices are not along axes that follow each other")
    indices: list[TensorExpr] = [given[at] for at in axes]
    if any(each.dtype.is_bool for each in indices):
        raise node.fail("a mask decides the shape of its result")
    first, shape = axes[0], x.shape
    if len(axes) == 1:
        return apply("take", x, indices[0], axis=first)
    flat = constant(0, "i64")
    for at, each in zip(axes, indices, strict=True):
        wide = each.cast("i64")
        front = apply("where", apply("less", wide, 0), wide + shape[at], wide)
        flat = flat * shape[at] + front
    joined = x.reshape(*shape[:first], -1, *shape[first + len(axes) :])
    return apply("take", joined, flat, axis=first)


def _full(node: AtenNode) -> TensorExpr:
    return _filled(node, node.extents(0), node.number(1, "fill_value"))


def _filled(
    node: AtenNode, extents: Sequence[int | Expr], value: "bool | int | float"
) -> TensorExpr:
    if isinstance(value, float) and not node.dtype.is_float:
        value = int(value)
    shape, likes = node.coded(extents)
    return apply("full", *likes, shape=shape, value=value, dtype=str(node.dtype))


def _full_like(node: AtenNode) -> TensorExpr:
    x = node.cast(node.tensor(0), node.dtype)
    return apply("full_like", x, value=node.number(1, "fill_value"))


def _arange(node: AtenNode) -> TensorExpr:
    begin, end = node.number(0, "start"), node.number(1, "end")
    step = node.number(2, "step", 1)
    return constant(np.arange(begin, end, step).astype(numpy_dtype(node.dtype)))


def _scalar_tensor(node: AtenNode) -> TensorExpr:
    return node.of_type(node.number(0), node.dtype)


def _copied(node: AtenNode) -> TensorExpr:
    """Keep the elements, in the type of the result."""
    return node.cast(node.tensor(0), node.dtype)


def _copy(node: AtenNode) -> TensorExpr:
    x, source = node.tensor(0), node.cast(node.tensor(1), node.dtype)
    return apply("broadcast_to", source, shape=x.shape)


SHAPES: dict[str, Convert] = {
    "view": _view,
    "reshape": _view,
    "_unsafe_view": _view,
    "expand": _expand,
    "permute": _permute,
    "transpose": _transpose,
    "squeeze": _squeeze,
    "unsqueeze": _unsqueeze,
    "slice": _slice,
    "select": _select,
    "split_with_sizes": _split,
    "split": _split,
    "cat": _cat,
    "repeat": _repeat,
    "flip": _flip,
    "constant_pad_nd": _pad,
    "embedding": _embedding,
    "index_select": _index_select,
    "gather": _gather,
    "index": _index,
    "full": _full,
    "zeros": lambda node: _filled(node, node.wholes(0), 0),
    "ones": lambda node: _filled(node, node.wholes(0), 1),
    "full_like": _full_like,
    "zeros_like": lambda node: apply("full_like", _copied(node), value=0),
    "ones_like": lambda node: apply("full_like", _copied(node), value=1),
    "arange": _arange,
    "scalar_tensor": _scalar_tensor,
    "copy": _copy,
    **dict.fromkeys(
        ("clone", "alias", "detach", "lift_fresh_copy", "_to_copy", "view_of", "contiguous"),
        _copied,
    ),
}
