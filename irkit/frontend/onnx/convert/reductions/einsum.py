"""Sums of products over named axes."""

import math
from collections import Counter

import msgspec
import numpy as np

from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.graph import Value


class _Labelled(msgspec.Struct, frozen=True):
    """A tensor with a label for each axis."""

    value: Value
    labels: tuple[str, ...]


def einsum(node: OnnxNode) -> Value:
    """Multiply tensors along labelled axes, and add up along those that the result does not have.

    Source: Einsum-12.
    """
    inputs = [node.input(at) for at in range(len(node.inputs))]
    terms, result = _parsed(node, inputs)
    operands = [
        _diagonal(node, _Labelled(value, labels))
        for value, labels in zip(inputs, terms, strict=True)
    ]
    done = operands[0]
    for at, other in enumerate(operands[1:], 1):
        later = {label for each in operands[at + 1 :] for label in each.labels}
        done = _contracted(node, done, other, later | set(result))
    done = _summed(node, done, set(result))
    order = tuple(done.labels.index(label) for label in result)
    return node.op("transpose", done.value, axes=order) if order else done.value


def _parsed(node: OnnxNode, inputs: list[Value]) -> tuple[list[tuple[str, ...]], tuple[str, ...]]:
    """Return the labels of each input and of the result; an ellipsis becomes numbers, the last axis
    being 0."""
    equation = node.text("equation").replace(" ", "")
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    if len(terms) != len(inputs):
        raise node.fail(f"equation {equation!r} has {len(terms)} terms for {len(inputs)} inputs")
    most = 0
    found: list[tuple[str, ...]] = []
    for term, value in zip(terms, inputs, strict=True):
        before, dots, after = term.partition("...")
        hidden = node.rank(value) - len(before) - len(after)
        named = before + after
        if hidden < 0 or (hidden and not dots) or (named and not named.isalpha()):
            raise node.fail(f"term {term!r} does not fit an input of rank {node.rank(value)}")
        most = max(most, hidden)
        found.append((*before, *(str(at) for at in range(hidden - 1, -1, -1)), *after))
    hidden_labels = tuple(str(at) for at in range(most - 1, -1, -1))
    if arrow:
        before, dots, after = right.partition("...")
        result = (*before, *(hidden_labels if dots else ()), *after)
    else:
        counts = Counter(label for each in found for label in each if label.isalpha())
        once = sorted(label for label, count in counts.items() if count == 1)
        result = (*hidden_labels, *once)
    known = {label for each in found for label in each}
    if len(set(result)) != len(result) or not set(result) <= known:
        raise node.fail(
            f"equation {equation!r} asks for axes that the inputs do not have, or twice"
        )
    return found, result


def _diagonal(node: OnnxNode, x: _Labelled) -> _Labelled:
    """Keep the diagonal of axes with the same label."""
    for label, count in Counter(x.labels).items():
        for _ in range(count - 1):
            first = x.labels.index(label)
            second = x.labels.index(label, first + 1)
            shape = node.shape(x.value)
            if shape[first] != shape[second]:
                raise node.fail(f"axes {label!r} differ in extent: {shape}")
            order = [at for at in range(len(shape)) if at not in (first, second)]
            moved = node.op("transpose", x.value, axes=(first, second, *order))
            rest = tuple(shape[at] for at in order)
            flat = node.op("reshape", moved, shape=(shape[first] ** 2, *rest))
            places = node.constant(np.arange(shape[first]) * (shape[first] + 1))
            labels = (label, *(x.labels[at] for at in order))
            x = _Labelled(node.op("take", flat, places, axis=0), labels)
    return x


def _summed(node: OnnxNode, x: _Labelled, kept: set[str]) -> _Labelled:
    axes = tuple(at for at, label in enumerate(x.labels) if label not in kept)
    if not axes:
        return x
    labels = tuple(label for label in x.labels if label in kept)
    return _Labelled(node.op("sum", x.value, axes=axes, keepdims=False), labels)


def _contracted(node: OnnxNode, a: _Labelled, b: _Labelled, kept: set[str]) -> _Labelled:
    """Multiply two tensors, and add up along the axes that are not kept."""
    a = _summed(node, a, kept | set(b.labels))
    b = _summed(node, b, kept | set(a.labels))
    both = [label for label in a.labels if label in b.labels]
    extents: dict[str, int] = {}
    for each in (a, b):
        for label, extent in zip(each.labels, node.shape(each.value), strict=True):
            if extents.setdefault(label, extent) not in (1, extent) and extent != 1:
                raise node.fail(f"axis {label!r} has extents {extents[label]} and {extent}")
            extents[label] = max(extents[label], extent) if extent else 0
    batch = [label for label in both if label in kept]
    inner = [label for label in both if label not in kept]
    left = [label for label in a.labels if label not in both]
    right = [label for label in b.labels if label not in both]
    first = _matrix(node, a, (batch, left, inner), extents)
    second = _matrix(node, b, (batch, inner, right), extents)
    labels = (*batch, *left, *right)
    product = node.op("matmul", first, second)
    shape = tuple(extents[label] for label in labels)
    return _Labelled(node.op("reshape", product, shape=shape), labels)


def _matrix(
    node: OnnxNode,
    x: _Labelled,
    groups: tuple[list[str], list[str], list[str]],
    extents: dict[str, int],
) -> Value:
    """Arrange a tensor as one matrix for each element of a batch."""
    labels = [label for group in groups for label in group]
    value = x.value
    if labels:
        value = node.op("transpose", value, axes=tuple(x.labels.index(each) for each in labels))
    whole = tuple(extents[label] for label in labels)
    if node.shape(value) != whole:
        value = node.op("broadcast_to", value, shape=whole)
    shape = tuple(math.prod(extents[label] for label in group) for group in groups)
    return node.op("reshape", value, shape=shape)
