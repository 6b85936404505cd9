"""Scatter: copies of a tensor with some elements replaced or combined.

Each element of the result looks for the updates of its place, so the work is the product of both
numbers of elements.
"""

import math

import numpy as np

from irkit.frontend.onnx.convert.shapes.gather import flat_places, index_columns, positions
from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.graph import Value
from irkit.ir import I64

_COMBINED = {"add": "sum", "mul": "prod", "max": "max", "min": "min"}


def scatter_elements(node: OnnxNode) -> Value:
    """Write one update for each index along an axis.

    Source: Scatter-9, Scatter-11, ScatterElements-11 to ScatterElements-18.
    """
    x, indices, updates = node.input(0), node.cast(node.input(1), I64), node.input(2)
    shape, wanted = node.shape(x), node.shape(indices)
    axis = node.axis(node.integer("axis", 0), len(shape))
    if len(wanted) != len(shape) or node.shape(updates) != wanted:
        raise node.fail(f"indices {wanted} and updates {node.shape(updates)} do not fit {shape}")
    columns = [node.constant(positions(wanted, at)) for at in range(len(shape))]
    columns[axis] = indices
    places = node.op("reshape", flat_places(node, shape, columns), shape=(math.prod(wanted),))
    found = _scattered(
        node,
        node.op("reshape", x, shape=(math.prod(shape), 1)),
        places,
        node.op("reshape", updates, shape=(math.prod(wanted), 1)),
    )
    return node.op("reshape", found, shape=shape)


def scatter_nd(node: OnnxNode) -> Value:
    """Write slices at tuples of indices, which the last axis of the indices holds.

    Source: ScatterND-11 to ScatterND-18.
    """
    x, indices, updates = node.input(0), node.cast(node.input(1), I64), node.input(2)
    shape, wanted = node.shape(x), node.shape(indices)
    if not wanted or not 1 <= wanted[-1] <= len(shape):
        raise node.fail(f"indices of shape {wanted} do not fit x of shape {shape}")
    lead, rest = shape[: wanted[-1]], shape[wanted[-1] :]
    if node.shape(updates) != (*wanted[:-1], *rest):
        raise node.fail(f"updates of shape {node.shape(updates)} do not fit indices {wanted}")
    count, size = math.prod(wanted[:-1]), math.prod(rest)
    places = flat_places(node, shape, index_columns(node, indices))
    found = _scattered(
        node,
        node.op("reshape", x, shape=(math.prod(lead), size)),
        node.op("reshape", places, shape=(count,)),
        node.op("reshape", updates, shape=(count, size)),
    )
    return node.op("reshape", found, shape=shape)


def tensor_scatter(node: OnnxNode) -> Value:
    """Write an update into a cache from a position on, for each element of the batch.

    Source: TensorScatter-24.
    """
    past, update, start = node.input(0), node.input(1), node.optional(2)
    shape, new = node.shape(past), node.shape(update)
    axis = node.axis(node.integer("axis", -2), len(shape))
    if axis == 0 or any(
        a != b for at, (a, b) in enumerate(zip(shape, new, strict=True)) if at != axis
    ):
        raise node.fail(f"update of shape {new} does not fit a cache of shape {shape}")
    tail = (1,) * (len(shape) - axis - 1)
    step = node.constant(np.arange(shape[axis]).reshape(-1, *tail))
    first = node.constant(np.zeros(1, np.int64)) if start is None else node.cast(start, I64)
    begin = node.op("reshape", first, shape=(-1, *(1,) * (len(shape) - 1)))
    offset = node.op("subtract", step, begin)
    if node.text("mode", "linear") == "circular":
        offset = node.op("floor_mod", offset, shape[axis])
    inside = node.op(
        "logical_and",
        node.op("greater_equal", offset, 0),
        node.op("less", offset, new[axis]),
    )
    columns = [node.constant(positions(shape, at)) for at in range(len(shape))]
    columns[axis] = offset
    flat = node.op("reshape", update, shape=(math.prod(new),))
    taken = node.op("take", flat, flat_places(node, new, columns), axis=0)
    return node.op("where", inside, taken, past)


def _scattered(node: OnnxNode, x: Value, places: Value, updates: Value) -> Value:
    """Write rows of updates to the rows of ``x`` with the given numbers.

    Shapes: x [N, S], places [M], updates [M, S] -> [N, S].
    """
    how = node.text("reduction", "none")
    (rows, size), (count, _) = node.shape(x), node.shape(updates)
    if count == 0:
        return x
    node.check_size((rows, count) if how == "none" else (rows, count, size))
    here = node.op("equal", node.constant(np.arange(rows)[:, None]), places)
    if how == "none":
        last = node.op("where", here, node.constant(np.arange(count)), -1)
        chosen = node.op("max", last, axes=(1,), keepdims=False)
        taken = node.op("take", updates, node.op("maximum", chosen, 0), axis=0)
        hit = node.op("reshape", node.op("greater_equal", chosen, 0), shape=(rows, 1))
        return node.op("where", hit, taken, x)
    if how not in _COMBINED:
        raise node.fail(f"reduction is {how!r}; expected none, {', '.join(_COMBINED)}")
    mask = node.op("reshape", here, shape=(rows, count, 1))
    own = node.op("reshape", x, shape=(rows, 1, size))
    # The element itself changes neither max nor min.
    neutral = 0 if how == "add" else 1 if how == "mul" else own
    spread = node.op("reshape", updates, shape=(1, count, size))
    each = node.op("where", mask, spread, neutral)
    found = node.op(_COMBINED[how], each, axes=(1,), keepdims=False)
    last = {"add": "add", "mul": "multiply", "max": "maximum", "min": "minimum"}[how]
    return node.op(last, x, found)
