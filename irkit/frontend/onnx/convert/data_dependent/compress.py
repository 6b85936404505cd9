"""NonZero and Compress: the places of what is not zero."""

from collections.abc import Sequence
from functools import reduce

from irkit.core import equal
from irkit.frontend.onnx.convert.shapes.size_kernels import window
from irkit.frontend.onnx.limits import MAX_ROOM
from irkit.frontend.onnx.onnx_node import Counted, OnnxNode
from irkit.frontend.sizes import AxisWindow, Dim, KernelDims, clamped, multiply
from irkit.graph import Value, tensor_type
from irkit.ir import BOOL, PrimFunc, index, parse


def non_zero(node: OnnxNode) -> Counted:
    """Return the indices of all elements that are not zero, one column for each.

    Source: NonZero-9, NonZero-13.
    """
    x = node.input(0)
    if not node.rank(x):
        x = node.op("reshape", x, shape=(1,))
    places, count = _places(node, x)
    return Counted((node.op("transpose", places, axes=(1, 0)),), (1,), count)


def compress(node: OnnxNode) -> Counted | Value:
    """Keep the slices along an axis, or the elements, for which a condition is true.

    Source: Compress-9, Compress-11.
    """
    x, condition = node.input(0), node.input(1)
    if not node.has("axis"):
        x, axis = node.op("reshape", x, shape=(-1,)), 0
    else:
        axis = node.axis(node.integer("axis"), node.rank(x))
    if node.rank(condition) != 1:
        raise node.fail(f"its condition has rank {node.rank(condition)}; expected 1")
    extent, length = node.dims(x)[axis], node.dims(condition)[0]
    if extent == 0:
        return x
    condition = _first(node, condition, clamped(extent, length, node.ranges))
    places, count = _places(node, condition)
    taken = node.op("take", x, node.op("reshape", places, shape=(-1,)), axis=axis)
    return Counted((taken,), (axis,), count)


def room_for(most: Dim) -> Dim:
    """Return the places of an output: enough for all, unless that number is known to be large."""
    return min(most, MAX_ROOM) if isinstance(most, int) else most


def _first(node: OnnxNode, x: Value, count: Dim) -> Value:
    """Return the first elements of a vector."""
    if equal(index(count), index(node.dims(x)[0])):
        return x
    return window(node, x, [AxisWindow(0, count)])


def _places(node: OnnxNode, x: Value) -> tuple[Value, Value]:
    """Return the indices of what is not zero, [room, rank], and how many there are."""
    dims = node.dims(x)
    room = room_for(reduce(multiply, dims))
    types = (tensor_type((room, len(dims)), "i64"), tensor_type((1,), "i64"))
    places, count = node.loops(_places_kernel(dims, room), node.cast(x, BOOL), types=types)
    return places, count


def _places_kernel(dims: Sequence[Dim], room: Dim) -> PrimFunc:
    """Return a function that lists the row-major places of True as indices, and counts them."""
    named = KernelDims()
    extents, most, rank = [named(dim) for dim in dims], named(room), len(dims)
    inside = "    " * (1 + rank)
    lines = [
        f"def find_places(x: bool[{', '.join(extents)}], places: i64[{most}, {rank}], "
        "count: i64[1]):",
        f"    for a in serial(0, {most}):",
        f"        for b in serial(0, {rank}):",
        "            places[a, b] = 0",
        "    count[0] = 0",
        *(f"{'    ' * (1 + at)}for i{at} in serial(0, {n}):" for at, n in enumerate(extents)),
        f"{inside}if x[{', '.join(f'i{at}' for at in range(rank))}]:",
        f"{inside}    if count[0] < {most}:",
        *(f"{inside}        places[count[0], {at}] = i{at}" for at in range(rank)),
        f"{inside}    count[0] = count[0] + 1",
    ]
    return parse("\n".join(lines) + "\n")
