"""Operators that gather."""

import math

import numpy as np

from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.graph import Value
from irkit.ir import I64, as_int


def gather(node: OnnxNode) -> Value:
    """Take slices along an axis by their numbers; negative ones count from the end.

    Source: Gather-1 to Gather-13.
    """
    x, indices = node.input(0), node.input(1)
    axis = node.axis(node.integer("axis", 0), node.rank(x))
    if as_int(node.type(x).shape[axis]) == 0 and math.prod(node.shape(indices)):
        raise node.fail(f"axis {axis} of {node.shape(x)} has no elements to take")
    return node.op("take", x, indices, axis=axis)


def gather_elements(node: OnnxNode) -> Value:
    """Take one element for each index along an axis.

    Source: GatherElements-11, GatherElements-13.
    """
    x, indices = node.input(0), node.input(1)
    axis = node.axis(node.integer("axis", 0), node.rank(x))
    return take_along(node, x, indices, axis)


def take_along(node: OnnxNode, x: Value, indices: Value, axis: int) -> Value:
    """Take one element for each index along an axis, whose other dimensions must not be longer
    than those of ``x``."""
    shape, wanted = node.shape(x), node.shape(indices)
    if len(shape) != len(wanted) or any(
        more > most for at, (more, most) in enumerate(zip(wanted, shape, strict=True)) if at != axis
    ):
        raise node.fail(f"indices of shape {wanted} do not fit x of shape {shape}")
    columns = [node.constant(positions(wanted, at)) for at in range(len(shape))]
    columns[axis] = node.cast(indices, I64)
    return _taken(node, x, columns)


def positions(
    shape: tuple[int, ...], axis: int
) -> "np.ndarray[tuple[int, ...], np.dtype[np.int64]]":
    """Return the index of each element along an axis, to be broadcast."""
    return np.arange(shape[axis], dtype=np.int64).reshape(-1, *(1,) * (len(shape) - axis - 1))


def _taken(node: OnnxNode, x: Value, columns: list[Value]) -> Value:
    """Take elements by one tensor of indices for each of the first axes of ``x``."""
    shape, count = node.shape(x), len(columns)
    if math.prod(shape) == 0:
        raise node.fail(f"x of shape {shape} has no elements to take")
    place = flat_places(node, shape, columns)
    node.check_size(shape)
    flat = node.op("reshape", x, shape=(math.prod(shape[:count]), *shape[count:]))
    return node.op("take", flat, place, axis=0)


def flat_places(node: OnnxNode, shape: tuple[int, ...], columns: list[Value]) -> Value:
    """Return row-major places from one tensor of indices for each of the first axes of a shape.

    Indices count from the end if they are negative; others outside are moved to the nearest.
    """
    place: Value | None = None
    for extent, column in zip(shape, columns, strict=False):
        below = node.op("less", column, 0)
        inside = node.op("where", below, node.op("add", column, extent), column)
        inside = node.op("maximum", node.op("minimum", inside, extent - 1), 0)
        if place is None:
            place = inside
        else:
            place = node.op("add", node.op("multiply", place, extent), inside)
    assert place is not None
    return place


def gather_nd(node: OnnxNode) -> Value:
    """Take slices by tuples of indices, which the last axis of the indices holds.

    Source: GatherND-11 to GatherND-13.
    """
    x, indices = node.input(0), node.cast(node.input(1), I64)
    shape, wanted = node.shape(x), node.shape(indices)
    batch = node.integer("batch_dims", 0)
    if not wanted or not 0 <= batch < min(len(shape), len(wanted)):
        raise node.fail(f"indices of shape {wanted} and batch_dims {batch} do not fit {shape}")
    count = wanted[-1]
    if not 1 <= count <= len(shape) - batch or shape[:batch] != wanted[:batch]:
        raise node.fail(f"indices of shape {wanted} do not fit x of shape {shape}")
    columns = [node.constant(positions(wanted[:-1], at)) for at in range(batch)]
    return _taken(node, x, columns + index_columns(node, indices))


def index_columns(node: OnnxNode, indices: Value) -> list[Value]:
    """Split tuples of indices, which the last axis holds, into one tensor for each place."""
    *lead, count = node.shape(indices)
    cut = [
        node.op("slice", indices, begins=(at,), ends=(at + 1,), strides=(1,), axes=(len(lead),))
        for at in range(count)
    ]
    return [node.op("reshape", each, shape=tuple(lead)) for each in cut]
