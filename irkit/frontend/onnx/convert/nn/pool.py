"""Pools: maximum and mean of windows."""

import itertools
import math

import numpy as np

from irkit.frontend.onnx.convert.nn.window import window_attributes
from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.graph import Value


def max_pool(node: OnnxNode) -> Value | tuple[Value, Value]:
    """Compute the maximum of each window, without padding; output 1 holds the indices of the
    maxima.

    Source: MaxPool-1 to MaxPool-22.
    """
    x = node.input(0)
    kernel = node.integers("kernel_shape")
    window = window_attributes(node, node.dims(x)[2:], kernel)
    ceil_mode = bool(node.integer("ceil_mode", 0))
    if not node.wants(1):
        return node.op("max_pool", x, kernel=kernel, ceil_mode=ceil_mode, **window)
    both = node.op(
        "max_pool_with_indices",
        x,
        kernel=kernel,
        ceil_mode=ceil_mode,
        storage_order=node.integer("storage_order", 0),
        **window,
    )
    return node.builder.item(both, 0), node.builder.item(both, 1)


def average_pool(node: OnnxNode) -> Value:
    """Compute the mean of each window.

    Source: AveragePool-1 to AveragePool-22; padding counts only with ``count_include_pad``.
    """
    x = node.input(0)
    kernel = node.integers("kernel_shape")
    return node.op(
        "avg_pool",
        x,
        kernel=kernel,
        ceil_mode=bool(node.integer("ceil_mode", 0)),
        count_include_pad=bool(node.integer("count_include_pad", 0)),
        **window_attributes(node, node.dims(x)[2:], kernel),
    )


def global_average_pool(node: OnnxNode) -> Value:
    """Compute the mean over all spatial dimensions, which stay with extent 1.

    Source: GlobalAveragePool-1 to GlobalAveragePool-22.
    """
    x = node.input(0)
    return node.op("mean", x, axes=tuple(range(2, node.rank(x))), keepdims=True)


def global_max_pool(node: OnnxNode) -> Value:
    """Compute the maximum over all spatial dimensions, which stay with extent 1.

    Source: GlobalMaxPool-1, GlobalMaxPool-22.
    """
    x = node.input(0)
    return node.op("max", x, axes=tuple(range(2, node.rank(x))), keepdims=True)


def global_lp_pool(node: OnnxNode) -> Value:
    """Compute the p-norm over all spatial dimensions, which stay with extent 1.

    Source: GlobalLpPool-1 (p is a float) to GlobalLpPool-22.
    """
    x = node.input(0)
    p = node.number("p", 2.0) if node.version < 2 else node.integer("p", 2)
    powers = _powers(node, x, p)
    total = node.op("sum", powers, axes=tuple(range(2, node.rank(x))), keepdims=True)
    return node.op("power", total, 1 / p)


def lp_pool(node: OnnxNode) -> Value:
    """Compute the p-norm of each window; padding counts as 0.

    Source: LpPool-1 (p is a float) to LpPool-22.
    """
    x = node.input(0)
    p = node.number("p", 2.0) if node.version < 2 else node.integer("p", 2)
    kernel = node.integers("kernel_shape")
    window = window_attributes(node, node.shape(x)[2:], kernel)
    pads = list(window["pads"])
    rank = len(kernel)
    if node.integer("ceil_mode", 0):
        for at, extent in enumerate(node.shape(x)[2:]):
            reach = (kernel[at] - 1) * window["dilations"][at] + 1
            stride = window["strides"][at]
            room = extent + pads[at] + pads[rank + at] - reach
            # A window that would begin in the padding at the end is left out.
            count = min(-(-room // stride) + 1, -(-(extent + pads[at]) // stride))
            pads[rank + at] = (count - 1) * stride + reach - extent - pads[at]
    padded = node.op("pad", _powers(node, x, p), pads=(0, 0, *pads[:rank], 0, 0, *pads[rank:]))
    mean = node.op(
        "avg_pool",
        padded,
        kernel=kernel,
        strides=window["strides"],
        dilations=window["dilations"],
        pads=(0,) * 2 * rank,
        ceil_mode=False,
        count_include_pad=True,
    )
    return node.op("power", node.op("multiply", mean, math.prod(kernel)), 1 / p)


def _powers(node: OnnxNode, x: Value, p: float) -> Value:
    if p <= 0:
        raise node.fail(f"p is {p}; expected a positive number")
    return node.op("power", node.op("abs", x), p)


def max_unpool(node: OnnxNode) -> Value:
    """Put each element back at its place before a max pool; all others are 0.

    Source: MaxUnpool-9 to MaxUnpool-22.
    """
    x, places = node.input(0), node.input(1)
    shape, kernel = node.shape(x), node.integers("kernel_shape")
    rank = len(kernel)
    strides, pads = node.integers("strides", (1,) * rank), node.integers("pads", (0,) * 2 * rank)
    if len(shape) != rank + 2 or len(strides) != rank or len(pads) != 2 * rank:
        raise node.fail(f"kernel {kernel}, strides {strides} and pads {pads} do not fit {shape}")
    small = tuple(
        (extent - 1) * stride + size - pads[at] - pads[rank + at]
        for at, (extent, stride, size) in enumerate(zip(shape[2:], strides, kernel, strict=True))
    )
    given = node.ints(2, "output_shape")
    whole = (*shape[:2], *small) if given is None else given
    if len(whole) != len(shape) or min(whole, default=0) < 0 or whole[:2] != shape[:2]:
        raise node.fail(f"output_shape {whole} does not fit {shape}")
    node.check_size(whole)
    count = math.prod(shape)
    # Indices count in the smaller result, also if output_shape asks for a larger one.
    rows = node.op("reshape", places, shape=(1, count))
    source = math.prod(shape[:2]) * math.prod(small)
    node.check_size((source, count))
    here = node.op("equal", node.constant(np.arange(source)[:, None]), rows)
    last = node.op("max", node.op("where", here, node.constant(np.arange(count)), -1), axes=(1,))
    flat = node.op("reshape", x, shape=(count,))
    taken = node.op("take", flat, node.op("maximum", last, 0), axis=0)
    found = node.op("where", node.op("greater_equal", last, 0), taken, 0)
    result = node.op("reshape", found, shape=(*shape[:2], *small))
    grown = [more - less for more, less in zip(whole, (*shape[:2], *small), strict=True)]
    return node.op("pad", result, pads=(*[0] * len(shape), *grown))


def col2im(node: OnnxNode) -> Value:
    """Add up overlapping blocks to images: the transpose of cutting images into blocks.

    Shapes: x [N, C * prod(block), L] -> [N, C, *image].
    Source: Col2Im-18.
    """
    x, image, block = node.input(0), node.ints(1, "image shape"), node.ints(2, "block shape")
    if not image or not block or len(image) != len(block) or min((*image, *block)) < 1:
        raise node.fail(f"image {image} and block {block} must be as many positive numbers")
    rank, (n, columns, _) = len(image), node.shape(x)
    window = window_attributes(node, image, block)
    strides, dilations, pads = window["strides"], window["dilations"], window["pads"]
    counts = [
        (extent + pads[at] + pads[rank + at] - (block[at] - 1) * dilations[at] - 1) // strides[at]
        + 1
        for at, extent in enumerate(image)
    ]
    size = math.prod(block)
    if columns % size or math.prod(counts) != node.shape(x)[2] or min(counts) < 1:
        raise node.fail(f"x of shape {node.shape(x)} does not hold blocks {block} of {image}")
    channels = columns // size
    parts = node.op("reshape", x, shape=(n, channels, size, *counts))
    total: Value | None = None
    for number, place in enumerate(itertools.product(*map(range, block))):
        part = node.op(
            "slice", parts, begins=(number,), ends=(number + 1,), strides=(1,), axes=(2,)
        )
        apart = [each for count in counts for each in (count, 1)]
        part = node.op("reshape", part, shape=(n, channels, *apart))
        after = [each for stride in strides for each in (0, stride - 1)]
        part = node.op("pad", part, pads=(0,) * (2 + 2 * rank) + (0, 0, *after))
        wide = [count * stride for count, stride in zip(counts, strides, strict=True)]
        part = node.op("reshape", part, shape=(n, channels, *wide))
        low = [
            at * each - pads[axis]
            for axis, (at, each) in enumerate(zip(place, dilations, strict=True))
        ]
        high = [image[axis] - wide[axis] - low[axis] for axis in range(rank)]
        part = node.op("pad", part, pads=(0, 0, *low, 0, 0, *high))
        total = part if total is None else node.op("add", total, part)
    assert total is not None
    return total
