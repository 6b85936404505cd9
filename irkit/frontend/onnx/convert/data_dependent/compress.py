"""NonZero and Compress: the places of what is not zero."""

import math

from irkit.frontend.onnx.limits import MAX_ROOM
from irkit.frontend.onnx.onnx_node import Counted, OnnxNode
from irkit.graph import Value, tensor_type
from irkit.ir import BOOL, PrimFunc, parse


def non_zero(node: OnnxNode) -> Counted:
    """Return the indices of all elements that are not zero, one column for each.

    Source: NonZero-9, NonZero-13.
    """
    x = node.input(0)
    places, count = _places(node, x, node.shape(x) or (1,))
    return Counted((places,), (1,), count)


def compress(node: OnnxNode) -> Counted | Value:
    """Keep the slices along an axis, or the elements, for which a condition is true.

    Source: Compress-9, Compress-11.
    """
    x, condition = node.input(0), node.input(1)
    if not node.has("axis"):
        x, axis = node.op("reshape", x, shape=(math.prod(node.shape(x)),)), 0
    else:
        axis = node.axis(node.integer("axis"), node.rank(x))
    extent, (length, *more) = node.shape(x)[axis], node.shape(condition) or (0,)
    if more:
        raise node.fail(f"its condition has rank {1 + len(more)}; expected 1")
    if extent == 0:
        return x
    used = min(length, extent)
    condition = node.op("slice", condition, begins=(0,), ends=(used,), strides=(1,), axes=(0,))
    places, count = _places(node, condition, (used,))
    room = node.shape(places)[1]
    taken = node.op("take", x, node.op("reshape", places, shape=(room,)), axis=axis)
    return Counted((taken,), (axis,), count)


def _places(node: OnnxNode, x: Value, shape: tuple[int, ...]) -> tuple[Value, Value]:
    """Return the indices of what is not zero, [rank, room], and how many there are."""
    size, rank = math.prod(shape), len(shape)
    room = min(size, MAX_ROOM)
    flat = node.op("reshape", node.cast(x, BOOL), shape=(size,))
    types = (tensor_type((rank, room), "i64"), tensor_type((1,), "i64"))
    places, count = node.loops(_places_kernel(shape, room), flat, types=types)
    return places, count


def _places_kernel(shape: tuple[int, ...], room: int) -> PrimFunc:
    """Return a function that lists the row-major places of True as indices, and counts them."""
    size, rank = math.prod(shape), len(shape)
    stores = [
        f"                places[{axis}, count[0]] = "
        f"i // {max(math.prod(shape[axis + 1 :]), 1)} % {max(extent, 1)}"
        for axis, extent in enumerate(shape)
    ]
    lines = [
        f"def find_places(x: bool[{size}], places: i64[{rank}, {room}], count: i64[1]):",
        f"    for a in serial(0, {rank}):",
        f"        for b in serial(0, {room}):",
        "            places[a, b] = 0",
        "    count[0] = 0",
        f"    for i in serial(0, {size}):",
        "        if x[i]:",
        f"            if count[0] < {room}:",
        *stores,
        "            count[0] = count[0] + 1",
    ]
    return parse("\n".join(lines) + "\n")
