"""Convolution whose filters read an image at places that move with the data."""

import math

import numpy as np

from irkit.frontend.onnx.convert.nn.grid_sample import taps
from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.graph import Value
from irkit.ir import I64


def deform_conv(node: OnnxNode) -> Value:
    """Convolve images with filters whose elements are moved by offsets, and weighted by a mask.

    What filters read is interpolated, and 0 outside the image. Then it is a product of matrices.

    Shapes: x [N, C, H, W], w [M, C / groups, R, S], offset [N, offset groups * R * S * 2, P, Q],
    mask [N, offset groups * R * S, P, Q] -> [N, M, P, Q].
    Source: DeformConv-19, DeformConv-22, of images with two axes.
    """
    x, w, offset, bias = node.input(0), node.input(1), node.input(2), node.optional(3)
    if node.rank(x) != 4:
        raise node.fail(f"images of rank {node.rank(x)}; only rank 4 is supported")
    n, channels, *_ = node.shape(x)
    filters, own, *kernel = node.shape(w)
    out = node.shape(offset)[2:]
    groups, parts = node.integer("group", 1), node.integer("offset_group", 1)
    if groups < 1 or parts < 1 or own * groups != channels or filters % groups or channels % parts:
        raise node.fail(f"{filters} filters of {own} channels do not fit {groups} groups")
    size = math.prod(kernel)
    if node.shape(offset) != (n, parts * size * 2, *out):
        raise node.fail(f"offsets of shape {node.shape(offset)} do not fit the filters")
    places = _places(node, offset, kernel, parts)
    columns = _sampled(node, x, places, parts)  # [N, offset groups, R * S, P, Q, C / offset groups]
    mask = node.optional(4)
    if mask is not None:
        weight = node.op("reshape", mask, shape=(n, parts, size, *out, 1))
        columns = node.op("multiply", columns, weight)
    columns = node.op("transpose", columns, axes=(0, 1, 5, 2, 3, 4))
    columns = node.op("reshape", columns, shape=(n, groups, own * size, math.prod(out)))
    rows = node.op("reshape", w, shape=(groups, filters // groups, own * size))
    found = node.op("reshape", node.op("matmul", rows, columns), shape=(n, filters, *out))
    return (
        found if bias is None else node.op("add", found, node.op("reshape", bias, shape=(-1, 1, 1)))
    )


def _places(node: OnnxNode, offset: Value, kernel: list[int], parts: int) -> list[Value]:
    """Return the place along each axis that each element of a filter reads."""
    spatial = node.shape(node.input(0))[2:]
    n, _, *out = node.shape(offset)
    strides, dilations = node.integers("strides", (1, 1)), node.integers("dilations", (1, 1))
    pads = node.integers("pads", (0, 0, 0, 0))
    for at, extent in enumerate(spatial):
        reach = (kernel[at] - 1) * dilations[at] + 1
        wanted = (extent + pads[at] + pads[at + 2] - reach) // strides[at] + 1
        if wanted != out[at]:
            raise node.fail(
                f"offsets of shape {node.shape(offset)}: expected {wanted}, axis {at + 2}"
            )
    moved = node.op("reshape", offset, shape=(n, parts, math.prod(kernel), 2, *out))
    rows, columns = np.meshgrid(*map(np.arange, kernel), indexing="ij")
    found: list[Value] = []
    for at, element in enumerate((rows, columns)):
        steps = np.arange(out[at]) * strides[at] - pads[at]
        steps = steps.reshape((-1, 1) if at == 0 else (1, -1))
        fixed = element.reshape(-1, 1, 1) * dilations[at] + steps
        cut = node.op("slice", moved, begins=(at,), ends=(at + 1,), strides=(1,), axes=(3,))
        cut = node.op("reshape", cut, shape=(n, parts, math.prod(kernel), *out))
        found.append(node.op("add", cut, node.constant(fixed.astype(node.numpy_type(offset)))))
    return found


def _sampled(node: OnnxNode, x: Value, places: list[Value], parts: int) -> Value:
    """Return the elements of each offset group of channels at places, the channels last."""
    n, channels, height, width = node.shape(x)
    own = channels // parts
    flat = node.op("reshape", x, shape=(n, parts, own, height * width))
    flat = node.op("transpose", flat, axes=(0, 1, 3, 2))
    flat = node.op("reshape", flat, shape=(n * parts * height * width, own))
    first = (np.arange(n * parts) * height * width).reshape(n, parts, 1, 1, 1)
    total: Value | None = None
    for row, across in taps(node, places[0], height, True, "linear", "zeros"):
        for column, down in taps(node, places[1], width, True, "linear", "zeros"):
            index = node.op("add", node.op("multiply", row, width), column)
            index = node.op("add", node.constant(first), node.cast(index, I64))
            weight = node.op("multiply", across, down)
            weight = node.op("reshape", weight, shape=(*node.shape(weight), 1))
            term = node.op("multiply", node.op("take", flat, index, axis=0), weight)
            total = term if total is None else node.op("add", total, term)
    assert total is not None
    return total
