"""Operators that move elements: shapes, slices, joins, look-ups; and those that make tensors."""

from collections.abc import Sequence

import numpy as np

from irkit.core import equal
from irkit.frontend.sizes import add, divide, multiply, subtract
from irkit.frontend.torch.aten_node import AtenNode, Convert, apply, element
from irkit.graph import TensorExpr, constant
from irkit.ir import I64, Expr, as_int, index, numpy_dtype


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


def _cat(node: AtenNode) -> TensorExpr:
    parts = [node.cast(each, node.dtype) for each in node.tensors(0)]
    # PyTorch leaves out what has one axis and no elements.
    kept = [each for each in parts if each.rank != 1 or as_int(each.dims[0]) != 0] or parts[:1]
    axis = node.axis(1, "dim", kept[0].rank, 0)
    return apply("concat", *kept, axis=axis)


def _repeat(node: AtenNode) -> TensorExpr:
    x, times = node.tensor(0), node.extents(1)
    x = (
        apply("expand_dims", x, axes=tuple(range(len(times) - x.rank)))
        if len(times) > x.rank
        else x
    )
    for axis, count in enumerate(times):
        if count == 0:
            x = apply("take", x, np.zeros(0, np.int64), axis=axis)
        elif isinstance(count, int):
            x = apply("concat", *[x] * count, axis=axis) if count != 1 else x
        else:
            x = _repeated(node, x, count, axis)
    return x


def _repeated(node: AtenNode, x: TensorExpr, count: Expr, axis: int) -> TensorExpr:
    """Repeat along an axis as often as a dimension says."""
    dims = node.dims(x)
    wide = apply("expand_dims", x, axes=(axis,))
    codes, likes = node.coded([*dims[:axis], count, *dims[axis:]])
    wide = apply("broadcast_to", wide, *likes, shape=codes)
    total = multiply(count, dims[axis])
    codes, likes = node.coded([*dims[:axis], total, *dims[axis + 1 :]], holes=1)
    return apply("reshape", wide, *likes, shape=codes)


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
    x, index = node.tensor(0), node.tensor(2)
    return gathered(node, x, index, node.axis(1, "dim", x.rank))


def gathered(node: AtenNode, x: TensorExpr, index: TensorExpr, axis: int) -> TensorExpr:
    """Take the element at an index along an axis, for each place of the index."""
    flat = constant(0, "i64")
    for at, extent in enumerate(node.dims(x)):
        column = index.cast("i64") if at == axis else _column(node, index, at)
        flat = flat * node.number_of(extent, I64) + column
    return apply("take", x.reshape(-1), flat, axis=0)


def _column(node: AtenNode, index: TensorExpr, axis: int) -> TensorExpr:
    """Count along an axis of a tensor of indices."""
    places = node.counted(0, node.dims(index)[axis], 1, I64)
    return places.reshape(*(-1 if at == axis else 1 for at in range(index.rank)))


def _index(node: AtenNode) -> TensorExpr:
    """Index by tensors of integers along axes that follow each other."""
    x, given = node.tensor(0), node.given(1)
    axes = [at for at, each in enumerate(given) if each is not None]
    if not axes or axes != list(range(axes[0], axes[0] + len(axes))):
        raise node.fail("its indices are not along axes that follow each other")
    indices: list[TensorExpr] = [given[at] for at in axes]
    if any(each.dtype.is_bool for each in indices):
        raise node.fail("a mask decides the shape of its result")
    first, dims = axes[0], node.dims(x)
    if len(axes) == 1:
        return apply("take", x, indices[0], axis=first)
    flat = constant(0, "i64")
    for at, each in zip(axes, indices, strict=True):
        wide, extent = each.cast("i64"), node.number_of(dims[at], I64)
        front = apply("where", apply("less", wide, 0), wide + extent, wide)
        flat = flat * extent + front
    joined = node.reshaped(x, *dims[:first], -1, *dims[first + len(axes) :])
    return apply("take", joined, flat, axis=first)


def _full(node: AtenNode) -> TensorExpr:
    return _filled(node, node.extents(0), node.number(1, "fill_value"))


def _filled(
    node: AtenNode, extents: Sequence[int | Expr], value: "bool | int | float"
) -> TensorExpr:
    shape, likes = node.coded(extents)
    value = element(value, node.dtype)
    return apply("full", *likes, shape=shape, value=value, dtype=str(node.dtype))


def _fill(node: AtenNode) -> TensorExpr:
    """Return a tensor of one value, with the shape of another."""
    x = node.tensor(0)
    return node.broadcast(node.of_type(node.given(1, "value"), x.dtype), *node.dims(x))


def _full_like(node: AtenNode) -> TensorExpr:
    x = node.cast(node.tensor(0), node.dtype)
    return apply("full_like", x, value=element(node.number(1, "fill_value"), x.dtype))


def _arange(node: AtenNode) -> TensorExpr:
    if any(isinstance(node.given(at, name), Expr) for at, name in ((0, "start"), (1, "end"))):
        return _open_range(node)
    begin, end = node.number(0, "start"), node.number(1, "end")
    step = node.number(2, "step", 1)
    return constant(np.arange(begin, end, step).astype(numpy_dtype(node.dtype)))


def _open_range(node: AtenNode) -> TensorExpr:
    """Count between sizes, of which one is only known at a call."""
    begin, end, step = node.size(0, "start", 0), node.size(1, "end", 0), node.whole(2, "step", 1)
    span = subtract(end, begin) if step > 0 else subtract(begin, end)
    count = divide(add(span, abs(step) - 1), abs(step))
    return node.counted(begin, node.declared_or(count), step, node.dtype)


def _scalar_tensor(node: AtenNode) -> TensorExpr:
    return node.of_type(node.number(0), node.dtype)


def _copied(node: AtenNode) -> TensorExpr:
    """Keep the elements, in the type of the result."""
    return node.cast(node.tensor(0), node.dtype)


def _copy(node: AtenNode) -> TensorExpr:
    x, source = node.tensor(0), node.cast(node.tensor(1), node.dtype)
    codes, likes = node.coded(node.dims(x))
    return apply("broadcast_to", source, *likes, shape=codes)


SHAPES: dict[str, Convert] = {
    "view": _view,
    "reshape": _view,
    "_unsafe_view": _view,
    "expand": _expand,
    "permute": _permute,
    "transpose": _transpose,
    "squeeze": _squeeze,
    "unsqueeze": _unsqueeze,
    "cat": _cat,
    "repeat": _repeat,
    "constant_pad_nd": _pad,
    "embedding": _embedding,
    "index_select": _index_select,
    "gather": _gather,
    "index": _index,
    "full": _full,
    "zeros": lambda node: _filled(node, node.extents(0), 0),
    "ones": lambda node: _filled(node, node.extents(0), 1),
    "full_like": _full_like,
    "fill": _fill,
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
