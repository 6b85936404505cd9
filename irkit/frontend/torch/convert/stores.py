"""Operators that replace a part of a tensor: what PyTorch makes of assignments to slices."""

from math import prod

import numpy as np

from irkit.frontend.torch.aten_node import AtenNode, Convert, apply
from irkit.graph import TensorExpr, constant, same_shape
from irkit.ir import as_int


def _slice_scatter(node: AtenNode) -> TensorExpr:
    """Put a tensor in place of a slice."""
    x, part = node.tensor(0), node.tensor(1)
    axis, step = node.axis(2, "dim", x.rank, 0), node.whole(5, "step", 1)
    extent, end = as_int(x.dims[axis]), node.given(4, "end")
    if same_shape(x.dims, part.dims) and step == 1 and not node.given(3, "start"):
        return part
    if extent is None:
        raise node.fail(f"axis {axis} is symbolic")
    begin, end, step = slice(node.given(3, "start"), end, step).indices(extent)
    return _stored(x, np.arange(begin, max(begin, end), step), part, axis)


def _select_scatter(node: AtenNode) -> TensorExpr:
    x, part = node.tensor(0), node.tensor(1)
    axis = node.axis(2, "dim", x.rank)
    wide = apply("expand_dims", part, axes=(axis,))
    return _stored(x, np.array([node.whole(3, "index")]), wide, axis)


def _stored(
    x: TensorExpr, places: "np.ndarray[tuple[int], np.dtype[np.int64]]", rows: TensorExpr, axis: int
) -> TensorExpr:
    """Store rows at places along an axis that are known."""
    if not len(places):
        return x
    return apply("scatter", x, constant(places.astype(np.int64)[:, None]), rows, axis=axis)


def _index_copy(node: AtenNode) -> TensorExpr:
    x, index = node.tensor(0), node.tensor(2)
    axis = node.axis(1, "dim", x.rank)
    return apply("scatter", x, index.reshape(-1, 1), node.tensor(3), axis=axis)


def _index_put(node: AtenNode) -> TensorExpr:
    """Store at tensors of indices along axes that follow each other."""
    x, given, rows = node.tensor(0), node.given(1), node.tensor(2)
    axes = [at for at, each in enumerate(given) if each is not None]
    if not axes or axes != list(range(axes[0], axes[0] + len(axes))):
        raise node.fail("its indices are not along axes that follow each other")
    if node.given(3, "accumulate", False):
        raise node.fail("accumulate=True is not supported")
    indices: list[TensorExpr] = [given[at] for at in axes]
    if any(each.dtype.is_bool for each in indices):
        raise node.fail("a mask decides how many elements it stores")
    first, last = axes[0], axes[-1] + 1
    shape = np.broadcast_shapes(*(each.shape for each in indices))
    columns = [apply("broadcast_to", each.cast("i64"), shape=shape) for each in indices]
    flat = [each.reshape(-1, 1) for each in columns]
    places = flat[0] if len(flat) == 1 else apply("concat", *flat, axis=1)
    # An extent of -1 is that of the argument, which must then have it.
    wide = apply("broadcast_to", rows, shape=(*x.shape[:first], *shape, *x.shape[last:]))
    wide = wide.reshape(*x.shape[:first], prod(shape), *x.shape[last:])
    return apply("scatter", x, places, wide, axis=first)


STORES: dict[str, Convert] = {
    "slice_scatter": _slice_scatter,
    "select_scatter": _select_scatter,
    "index_copy": _index_copy,
    **dict.fromkeys(("index_put", "_unsafe_index_put"), _index_put),
}
