"""Sequences of tensors, and optionals, whose lengths and positions are known on import.

A sequence is a tuple of the graph, and the tensors in it are known by name: what takes one gets the
tensor itself.
"""

import numpy as np

from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.graph import Value


def sequence_construct(node: OnnxNode) -> Value:
    """Make a sequence of tensors.

    Source: SequenceConstruct-11.
    """
    return node.sequence([node.input(at) for at in range(len(node.inputs))])


def sequence_empty(node: OnnxNode) -> Value:
    """Make a sequence without tensors.

    Source: SequenceEmpty-11.
    """
    return node.sequence([])


def sequence_insert(node: OnnxNode) -> Value:
    """Insert a tensor before a position, or at the end.

    Source: SequenceInsert-11.
    """
    items = node.items(0)
    at = _position(node, 2, len(items), end=True)
    return node.sequence([*items[:at], node.input(1), *items[at:]])


def sequence_erase(node: OnnxNode) -> Value:
    """Drop the tensor at a position, or the last one.

    Source: SequenceErase-11.
    """
    items = node.items(0)
    at = _position(node, 1, len(items))
    return node.sequence([*items[:at], *items[at + 1 :]])


def sequence_at(node: OnnxNode) -> Value:
    """Return the tensor at a position.

    Source: SequenceAt-11.
    """
    items = node.items(0)
    return items[_position(node, 1, len(items))]


def sequence_length(node: OnnxNode) -> Value:
    """Return the number of tensors.

    Source: SequenceLength-11.
    """
    return node.constant(np.array(len(node.items(0))))


def split_to_sequence(node: OnnxNode) -> Value:
    """Split a tensor along an axis into parts of given sizes, or of one size, or into slices.

    Source: SplitToSequence-11, SplitToSequence-24.
    """
    x, given = node.input(0), node.array(1, "sizes of parts")
    axis = node.axis(node.integer("axis", 0), node.rank(x))
    shape = node.shape(x)
    if given is None:
        sizes = [1] * shape[axis]
    elif given.ndim == 0:
        size = max(int(given), 1)
        sizes = [min(size, shape[axis] - at) for at in range(0, shape[axis], size)]
    else:
        sizes = [int(each) for each in given]
    if sum(sizes) != shape[axis] or any(size < 0 for size in sizes):
        raise node.fail(f"parts of sizes {sizes} do not fill axis {axis} of {shape}")
    parts: list[Value] = []
    begin = 0
    for size in sizes:
        cut = {"begins": (begin,), "ends": (begin + size,), "strides": (1,), "axes": (axis,)}
        part = node.op("slice", x, **cut)
        if given is None and not node.integer("keepdims", 1):
            part = node.op("reshape", part, shape=(*shape[:axis], *shape[axis + 1 :]))
        parts.append(part)
        begin += size
    return node.sequence(parts)


def concat_from_sequence(node: OnnxNode) -> Value:
    """Join the tensors of a sequence along an axis, or along a new one.

    Source: ConcatFromSequence-11.
    """
    items, new = node.items(0), bool(node.integer("new_axis", 0))
    if not items:
        raise node.fail("its sequence has no tensors")
    axis = node.axis(node.integer("axis"), node.rank(items[0]) + new)
    if new:
        shapes = [node.shape(each) for each in items]
        items = [
            node.op("reshape", each, shape=(*shape[:axis], 1, *shape[axis:]))
            for each, shape in zip(items, shapes, strict=True)
        ]
    return node.op("concat", *items, axis=axis)


def optional(node: OnnxNode) -> Value:
    """Return what is given, which irkit does not wrap.

    Source: Optional-15, OptionalGetElement-15, OptionalGetElement-18.
    """
    value = node.optional(0)
    if value is None:
        raise node.fail("an optional without a value is not supported")
    return value


def optional_has_element(node: OnnxNode) -> Value:
    """Return True if there is a value.

    Source: OptionalHasElement-15, OptionalHasElement-18.
    """
    return node.constant(np.array(node.optional(0) is not None))


def _position(node: OnnxNode, at: int, count: int, *, end: bool = False) -> int:
    given = node.ints(at, "position")
    if given is None:
        return count if end else count - 1
    if len(given) != 1 or not -count <= given[0] < count + end:
        raise node.fail(f"position {given} is outside a sequence of {count} tensors")
    return given[0] + count if given[0] < 0 else given[0]
