"""Pooling: the largest element of a window gets the whole gradient, or all elements a part."""

from collections.abc import Sequence
from itertools import product
from math import inf, prod
from typing import Any

import numpy as np

from irkit.graph.differentiation.applied import AppliedOp, Rule, where
from irkit.graph.differentiation.rules.windows import (
    element_of_windows,
    placed,
    spread_windows,
)
from irkit.graph.ops import Array
from irkit.graph.tensor import TensorExpr, constant, operator, operator_results
from irkit.ir import numpy_dtype

MAX_PLACES = 49
"""Windows with more places are not taken apart place by place: each is a few operators."""


def _max_pool(op: AppliedOp) -> list[TensorExpr | None]:
    """Pass the gradient of a window on to its largest element, the first of equal ones."""
    (x,), kernel = op.args, op.options.ints("kernel")
    extents = [x.extent(axis) for axis in range(2, x.rank)]
    counts = [op.y.extent(axis) for axis in range(2, x.rank)]
    if prod(kernel) > MAX_PLACES:
        return [_by_indices(op, x, extents, counts)]
    free, total = operator("equal", op.y, op.y), None
    for place in product(*map(range, kernel)):
        element = element_of_windows(x, place, counts, op.options, -inf)
        hit = operator("logical_and", operator("equal", element, op.y), free)
        free = operator("logical_and", free, operator("logical_not", hit))
        part = placed(where(hit, op.dy, 0.0), extents, place, op.options)
        total = part if total is None else total + part
    return [total]


def _by_indices(
    op: AppliedOp, x: TensorExpr, extents: Sequence[int], counts: Sequence[int]
) -> TensorExpr:
    """Compare the index of the largest element of each window with each place of the image."""
    known: dict[str, Any] = {
        name: op.options[name] for name in op.options if name != "storage_order"
    }
    _, indices = operator_results("max_pool_with_indices", x, **known)
    size, number, channels = prod(extents), prod(counts), x.extent(1)
    own = operator("floor_mod", indices, size).reshape(-1, channels, 1, number)
    places = np.arange(size, dtype=np.int64).reshape(size, 1)
    parts = where(operator("equal", own, places), op.dy.reshape(-1, channels, 1, number), 0.0)
    return parts.sum(3).reshape(-1, channels, *extents)


def _avg_pool(op: AppliedOp) -> list[TensorExpr | None]:
    """Return the part of the gradient that each element of a window has."""
    (x,), kernel = op.args, op.options.ints("kernel")
    extents = [x.extent(axis) for axis in range(2, x.rank)]
    counts = [op.y.extent(axis) for axis in range(2, x.rank)]
    size: Array = np.ones(())
    for at, (extent, count) in enumerate(zip(extents, counts, strict=True)):
        size = np.multiply.outer(size, _covered(op, at, extent, count))
    shares = op.dy / np.maximum(size, 1).astype(numpy_dtype(x.dtype))
    images = shares.reshape(-1, 1, *counts)
    ones = np.ones((1, 1, *kernel), numpy_dtype(x.dtype))
    found = spread_windows(images, constant(ones), extents, op.options)
    return [found.reshape(-1, x.extent(1), *extents)]


def _covered(op: AppliedOp, axis: int, extent: int, count: int) -> Array:
    """Count the places along an axis that each window averages over."""
    names = ("kernel", "strides", "dilations", "pads")
    size, stride, by, before = (op.options.ints(name)[axis] for name in names)
    after = op.options.ints("pads")[axis + len(op.options.ints("kernel"))]
    low, high = (-before, extent + after) if op.options.flag("count_include_pad") else (0, extent)
    places = np.arange(count)[:, None] * stride + np.arange(size) * by - before
    return ((places >= low) & (places < high)).sum(axis=1)


POOLING: dict[str, Rule] = {
    "max_pool": _max_pool,
    "max_pool_with_indices": _max_pool,
    "avg_pool": _avg_pool,
}
