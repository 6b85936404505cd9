"""Operators that cut, pad and gather."""

import math
from itertools import pairwise

import numpy as np

from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.graph import Value
from irkit.ir import I64, as_int


def slice_of(node: OnnxNode) -> Value:
    """Cut along axes, with steps.

    Source: Slice-1 (bounds are attributes) to Slice-13.
    """
    x = node.input(0)
    if node.version < 10:
        starts, ends = node.integers("starts"), node.integers("ends")
        axes = node.integers("axes", ()) or None
        steps = None
    else:
        starts, ends = node.ints(1, "starts") or (), node.ints(2, "ends") or ()
        axes, steps = node.ints(3, "axes"), node.ints(4, "steps")
    along = tuple(range(len(starts))) if axes is None else axes
    return node.op(
        "slice",
        x,
        begins=starts,
        ends=ends,
        strides=(1,) * len(starts) if steps is None else steps,
        axes=tuple(node.axis(axis, node.rank(x)) for axis in along),
    )


def split(node: OnnxNode) -> list[Value]:
    """Split along an axis into parts of given sizes, or of equal ones.

    Source: Split-1 to Split-18; from version 18 on, the last part can be smaller.
    """
    x = node.input(0)
    axis = node.axis(node.integer("axis", 0), node.rank(x))
    extent, count = node.shape(x)[axis], len(node.outputs)
    sizes = node.integers("split", ()) if 1 < node.version < 13 or node.has("split") else None
    sizes = node.ints(1, "split") if node.version >= 13 or node.version == 1 else sizes
    if node.version == 1 and sizes is None and node.has("split"):
        sizes = node.integers("split")
    if not sizes:
        if node.version < 18 and extent % count:
            raise node.fail(f"an extent of {extent} has no {count} equal parts")
        part = math.ceil(extent / node.integer("num_outputs", count))
        sizes = tuple(max(min(part, extent - part * at), 0) for at in range(count))
    if sum(sizes) != extent or len(sizes) != count or any(size < 0 for size in sizes):
        raise node.fail(f"parts of {sizes} for {count} outputs do not fill an extent of {extent}")
    bounds = np.cumsum([0, *sizes]).tolist()
    return [
        node.op("slice", x, begins=(low,), ends=(high,), strides=(1,), axes=(axis,))
        for low, high in pairwise(bounds)
    ]


def pad(node: OnnxNode) -> Value:
    """Extend each axis by a value, by its edge, or by its elements again; negative widths cut.

    Source: Pad-1 and Pad-2 (widths are attributes) to Pad-25.
    """
    x, mode = node.input(0), node.text("mode", "constant")
    rank = node.rank(x)
    axes: tuple[int, ...] | None = None
    value = np.array(node.number("value", 0.0) if node.version < 11 else 0)
    if node.version < 11:
        widths = node.integers("paddings" if node.version == 1 else "pads")
    else:
        widths = node.ints(1, "pads") or ()
        given = node.array(2, "value")
        value = value if given is None or given.size == 0 else given.reshape(-1)[0]
        axes = node.ints(3, "axes")
    along = range(rank) if axes is None else [node.axis(axis, rank) for axis in axes]
    count = len(along)
    if len(widths) != 2 * count or len(set(along)) != count:
        raise node.fail(f"pads {widths} must be two numbers for each of the axes {tuple(along)}")
    full = [0] * 2 * rank
    for at, axis in enumerate(along):
        full[axis], full[rank + axis] = widths[at], widths[count + at]
    shape = node.shape(x)
    node.check_size([max(n + full[at] + full[rank + at], 0) for at, n in enumerate(shape)])
    if mode == "constant":
        return node.op("pad", x, pads=tuple(full), value=value.item())
    for axis, extent in enumerate(shape):
        low, high = full[axis], full[rank + axis]
        if low or high:
            places = _beyond(node, mode, extent, np.arange(-low, extent + high))
            x = node.op("take", x, node.constant(places), axis=axis)
    return x


def _beyond(
    node: OnnxNode,
    mode: str,
    extent: int,
    places: "np.ndarray[tuple[int, ...], np.dtype[np.int64]]",
) -> "np.ndarray[tuple[int, ...], np.dtype[np.int64]]":
    """Return which element stands at each place, some of which are outside."""
    if extent == 0 and places.size:
        raise node.fail(f"mode {mode!r} cannot extend an axis without elements")
    if mode == "edge":
        return np.clip(places, 0, extent - 1)
    if mode == "wrap":
        return places % extent
    if mode == "reflect":
        period = max(2 * extent - 2, 1)
        turned = places % period
        return np.where(turned < extent, turned, period - turned)
    raise node.fail(f"mode is {mode!r}; expected constant, reflect, edge or wrap")


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
