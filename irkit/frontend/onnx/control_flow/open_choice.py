"""A choice between results of different shapes: both sides write to room for the larger, and say
how much of it they use, which becomes dimensions of the program."""

from collections.abc import Sequence

from irkit.core import equal
from irkit.frontend.onnx.convert.data_dependent import prefix_along
from irkit.frontend.onnx.convert.shapes.size_kernels import in_room, shape_values
from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.frontend.sizes import Dim, larger
from irkit.graph import Builder, TensorType, Value
from irkit.ir import index

Side = tuple[Builder, Sequence[Value]]


def can_join(sides: Sequence[Side]) -> bool:
    """Return True if the results of two sides differ in nothing but extents."""
    kinds = [[value.type for value in values] for _, values in sides]
    return all(
        isinstance(a, TensorType)
        and isinstance(b, TensorType)
        and a.dtype == b.dtype
        and len(a.shape) == len(b.shape)
        for a, b in zip(*kinds, strict=True)
    )


def open_choice(node: OnnxNode, cond: Value, sides: Sequence[Side]) -> list[Value]:
    """Emit a choice between results that differ in their extents."""
    results = [*zip(*(values for _, values in sides), strict=True)]
    rooms = [[_room(node, *dims) for dims in zip(*map(node.dims, pair), strict=True)]
             for pair in results]  # fmt: skip
    axes = [
        [at for at in range(len(room)) if any(not _same(node.dims(v)[at], room[at]) for v in pair)]
        for pair, room in zip(results, rooms, strict=True)
    ]
    made = [_side(node, side, rooms, axes) for side in sides]
    chosen = node.branch(cond, *made)
    found, counts = chosen[: len(results)], chosen[len(results) :]
    for at, each in enumerate(axes):
        for axis in each:
            found[at] = prefix_along(node, found[at], axis, counts.pop(0))
    return [node.alike(each, pair[0]) for each, pair in zip(found, results, strict=True)]


def _side(
    node: OnnxNode, side: Side, rooms: Sequence[Sequence[Dim]], axes: Sequence[Sequence[int]]
) -> Side:
    """Return a side whose results have the room of both, with the extents that it uses."""
    builder, values = side
    inner = node.inside(builder)
    counts = [
        inner.op("reshape", shape_values(inner, value, (inner.dims(value)[axis],)), shape=())
        for value, each in zip(values, axes, strict=True)
        for axis in each
    ]
    wide = [
        in_room(inner, value, room) if each else value
        for value, room, each in zip(values, rooms, axes, strict=True)
    ]
    return builder, [*wide, *counts]


def _room(node: OnnxNode, a: Dim, b: Dim) -> Dim:
    """Return the larger of two extents, as it is known before the choice."""
    a, b = node.limit(a), node.limit(b)
    return a if _same(a, b) else larger(a, b)


def _same(a: Dim, b: Dim) -> bool:
    return equal(index(a), index(b))
