"""Scatter: copies of a tensor with some elements replaced or combined."""

import math

import numpy as np

from irkit.frontend.onnx.convert.shapes.gather import flat_places, index_columns, positions
from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.graph import Value, same_shape, written
from irkit.ir import I64, as_int

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
    count = math.prod(wanted)
    if _how(node) == "none":
        flat = node.op("reshape", updates, shape=(count,))
        return node.op("scatter", x, _rows(node, columns, wanted), flat)
    places = node.op("reshape", flat_places(node, shape, columns), shape=(count,))
    found = _combined(
        node,
        node.op("reshape", x, shape=(math.prod(shape), 1)),
        places,
        node.op("reshape", updates, shape=(count, 1)),
    )
    return node.op("reshape", found, shape=shape)


def scatter_nd(node: OnnxNode) -> Value:
    """Write slices at tuples of indices, which the last axis of the indices holds.

    Source: ScatterND-11 to ScatterND-18.
    """
    x, indices, updates = node.input(0), node.cast(node.input(1), I64), node.input(2)
    rank, wanted = node.rank(x), node.type(indices).shape
    number = as_int(wanted[-1]) if wanted else None
    if number is None or not 1 <= number <= rank:
        raise node.fail(f"indices of shape {written(wanted)} do not fit x of rank {rank}")
    rest, kind = node.type(x).shape[number:], node.type(updates)
    if not same_shape(kind.shape, (*wanted[:-1], *rest)):
        raise node.fail(
            f"updates of shape {written(kind.shape)} do not fit indices {written(wanted)}"
        )
    if _how(node) == "none" and len(wanted) == 2:
        return node.op("scatter", x, indices, updates)
    count, size = (
        math.prod(node.shape(indices)[:-1]),
        math.prod(node.shape(updates)[len(wanted) - 1 :]),
    )
    if _how(node) == "none":
        rows = node.op("reshape", indices, shape=(count, number))
        flat = node.op("reshape", updates, shape=(count, *node.shape(updates)[len(wanted) - 1 :]))
        return node.op("scatter", x, rows, flat)
    shape = node.shape(x)
    places = flat_places(node, shape, index_columns(node, indices))
    found = _combined(
        node,
        node.op("reshape", x, shape=(math.prod(shape[:number]), size)),
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
    lead = new[: axis + 1]
    columns = [node.constant(positions(lead, at)) for at in range(axis + 1)]
    first = node.constant(np.zeros(1, np.int64)) if start is None else node.cast(start, I64)
    begin = node.op("reshape", first, shape=(-1, *(1,) * axis))
    place = node.op("add", columns[axis], begin)
    if node.text("mode", "linear") == "circular":
        place = node.op("floor_mod", place, shape[axis])
    columns[axis] = place
    flat = node.op("reshape", update, shape=(math.prod(lead), *shape[axis + 1 :]))
    return node.op("scatter", past, _rows(node, columns, lead), flat)


def _how(node: OnnxNode) -> str:
    return node.text("reduction", "none")


def _rows(node: OnnxNode, columns: list[Value], shape: tuple[int, ...]) -> Value:
    """Return tuples of indices, one in each row, from a tensor for each index of a tuple."""
    count = math.prod(shape)
    wide = [node.op("broadcast_to", column, shape=shape) for column in columns]
    flat = [node.op("reshape", column, shape=(count, 1)) for column in wide]
    return flat[0] if len(flat) == 1 else node.op("concat", *flat, axis=1)


def _combined(node: OnnxNode, x: Value, places: Value, updates: Value) -> Value:
    """Combine rows of updates with the rows of ``x`` of the given numbers. Each row of the result
    looks for its updates, so the work is the product of both numbers.

    Shapes: x [N, S], places [M], updates [M, S] -> [N, S].
    """
    how = _how(node)
    if how not in _COMBINED:
        raise node.fail(f"reduction is {how!r}; expected none, {', '.join(_COMBINED)}")
    (rows, size), (count, _) = node.shape(x), node.shape(updates)
    if count == 0:
        return x
    node.check_size((rows, count, size))
    here = node.op("equal", node.constant(np.arange(rows)[:, None]), places)
    mask = node.op("reshape", here, shape=(rows, count, 1))
    own = node.op("reshape", x, shape=(rows, 1, size))
    # The element itself changes neither max nor min.
    neutral = 0 if how == "add" else 1 if how == "mul" else own
    spread = node.op("reshape", updates, shape=(1, count, size))
    each = node.op("where", mask, spread, neutral)
    found = node.op(_COMBINED[how], each, axes=(1,), keepdims=False)
    last = {"add": "add", "mul": "multiply", "max": "maximum", "min": "minimum"}[how]
    return node.op(last, x, found)
