"""Operators that replace a part of a tensor: what PyTorch makes of assignments to slices."""

from functools import reduce

import numpy as np

from irkit.frontend.sizes import sliced
from irkit.frontend.torch.aten_node import AtenNode, Convert, apply
from irkit.graph import TensorExpr, constant, same_shape
from irkit.ir import I64


def _slice_scatter(node: AtenNode) -> TensorExpr:
    """Put a tensor in place of a slice."""
    x, part = node.tensor(0), node.tensor(1)
    axis, step = node.axis(2, "dim", x.rank, 0), node.whole(5, "step", 1)
    if same_shape(x.dims, part.dims) and step == 1 and not node.given(3, "start"):
        return part
    begin, end = node.size(3, "start", 0), node.size(4, "end", (1 << 63) - 1)
    window = sliced(begin, end, step, node.dims(x)[axis], node.source.ranges(0))
    if not isinstance(window.begin, int) or not isinstance(window.count, int):
        # As many as the rows that are stored, which is what PyTorch says of the slice.
        places = node.counted(window.begin, node.dims(part)[axis], step, I64)
        return apply("scatter", x, places.reshape(-1, 1), part, axis=axis)
    return _stored(x, window.begin + np.arange(window.count) * step, part, axis)


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
    rows = node.tensor(3)
    rows = rows if rows.rank else rows.reshape(*(1,) * x.rank)
    return apply("scatter", x, index.reshape(-1, 1), rows, axis=axis)


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
    joined = reduce(lambda a, b: apply("add", a, b), [each.cast("i64") for each in indices])
    shape, dims = node.dims(joined), node.dims(x)
    columns = [node.broadcast(each.cast("i64"), *shape) for each in indices]
    flat = [each.reshape(-1, 1) for each in columns]
    places = flat[0] if len(flat) == 1 else apply("concat", *flat, axis=1)
    wide = node.broadcast(rows, *dims[:first], *shape, *dims[last:])
    wide = node.reshaped(wide, *dims[:first], -1, *dims[last:])
    return apply("scatter", x, places, wide, axis=first)


STORES: dict[str, Convert] = {
    "slice_scatter": _slice_scatter,
    "select_scatter": _select_scatter,
    "index_copy": _index_copy,
    **dict.fromkeys(("index_put", "_unsafe_index_put"), _index_put),
}
