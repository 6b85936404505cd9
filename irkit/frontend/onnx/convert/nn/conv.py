"""Convolution, and its transpose."""

import math

from irkit.frontend.onnx.convert.nn.window import window_attributes
from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.graph import Value


def conv(node: OnnxNode) -> Value:
    """Convolve, channels first, with groups, and add a bias if there is one.

    Shapes: x [N, C, *spatial], w [K, C / groups, *kernel], b [K].
    Source: Conv-1 to Conv-22.
    """
    x, w, bias = node.input(0), node.input(1), node.optional(2)
    if node.rank(x) < 3 or node.rank(w) != node.rank(x):
        raise node.fail(
            f"x has rank {node.rank(x)} and w rank {node.rank(w)}; expected the same, at least 3"
        )
    kernel = node.constants(w, node.dims(w)[2:])
    if node.integers("kernel_shape", kernel) != kernel:
        raise node.fail(
            f"kernel_shape is {node.integers('kernel_shape')}, but w is {node.shape(w)}"
        )
    window = window_attributes(node, node.dims(x)[2:], kernel)
    args = (x, w) if bias is None else (x, w, bias)
    return node.op("conv", *args, **window, groups=node.integer("group", 1))


def conv_transpose(node: OnnxNode) -> Value:
    """Spread each element over a window: a convolution of the input with zeros between its
    elements, and the kernel turned round.

    Shapes: x [N, C, *spatial], w [C, K / groups, *kernel], b [K].
    Source: ConvTranspose-1 to ConvTranspose-22.
    """
    x, w, bias = node.input(0), node.input(1), node.optional(2)
    rank = node.rank(x) - 2
    if rank < 1 or node.rank(w) != node.rank(x):
        raise node.fail(
            f"x has rank {rank + 2} and w rank {node.rank(w)}; expected the same, from 3"
        )
    _, channels, *spatial = node.shape(x)
    _, filters, *kernel = node.shape(w)
    groups = node.integer("group", 1)
    if groups < 1 or channels % groups or node.shape(w)[0] != channels:
        raise node.fail(
            f"w of shape {node.shape(w)} and {groups} groups do not fit {channels} channels"
        )
    strides = node.integers("strides", (1,) * rank)
    dilations = node.integers("dilations", (1,) * rank)
    extra = node.integers("output_padding", (0,) * rank)
    if not len(strides) == len(dilations) == len(extra) == rank or min(strides + dilations) < 1:
        raise node.fail(f"strides {strides}, dilations {dilations} or output_padding {extra}")
    reach = [(size - 1) * each + 1 for size, each in zip(kernel, dilations, strict=True)]
    begins, ends = _transposed_pads(node, tuple(spatial), reach, strides, extra)
    wide = _with_zeros_between(node, x, strides)
    low = [size - 1 - pad for size, pad in zip(reach, begins, strict=True)]
    high = [
        size - 1 - pad + more - (stride - 1)
        for size, pad, more, stride in zip(reach, ends, extra, strides, strict=True)
    ]
    padded = node.op("pad", wide, pads=(0, 0, *low, 0, 0, *high))
    turned = node.op(
        "slice", w, begins=(-1,) * rank, ends=(-(1 << 62),) * rank, strides=(-1,) * rank,
        axes=tuple(range(2, rank + 2)),
    )  # fmt: skip
    parts = node.op("reshape", turned, shape=(groups, channels // groups, filters, *kernel))
    parts = node.op("transpose", parts, axes=(0, 2, 1, *range(3, rank + 3)))
    weight = node.op("reshape", parts, shape=(groups * filters, channels // groups, *kernel))
    args = (padded, weight) if bias is None else (padded, weight, bias)
    return node.op("conv", *args, dilations=dilations, groups=groups)


def _transposed_pads(
    node: OnnxNode,
    spatial: tuple[int, ...],
    reach: list[int],
    strides: tuple[int, ...],
    extra: tuple[int, ...],
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return what is cut from the beginning and the end of each axis of the result."""
    rank = len(spatial)
    auto = node.text("auto_pad", "NOTSET")
    sizes = node.integers("output_shape", ())
    if auto in ("SAME_UPPER", "SAME_LOWER") and not sizes:
        sizes = tuple(extent * stride for extent, stride in zip(spatial, strides, strict=True))
    if not sizes:
        pads = node.integers("pads", (0,) * 2 * rank) if auto == "NOTSET" else (0,) * 2 * rank
        if len(pads) != 2 * rank or min(pads) < 0:
            raise node.fail(f"pads {pads} must be {2 * rank} numbers of at least 0")
        whole = [
            stride * (n - 1) + size + more - pads[at] - pads[rank + at]
            for at, (n, size, stride, more) in enumerate(
                zip(spatial, reach, strides, extra, strict=True)
            )
        ]
        node.check_size([max(each, 0) for each in whole])
        return pads[:rank], pads[rank:]
    if len(sizes[-rank:]) != rank:
        raise node.fail(f"output_shape {sizes} must be one number for each of {rank} axes")
    node.check_size([max(each, 0) for each in sizes])
    totals = [
        stride * (n - 1) + more + size - wanted
        for n, size, stride, more, wanted in zip(
            spatial, reach, strides, extra, sizes[-rank:], strict=True
        )
    ]
    small = tuple(math.floor(total / 2) for total in totals)
    large = tuple(total - part for total, part in zip(totals, small, strict=True))
    return (small, large) if auto == "SAME_UPPER" else (large, small)


def _with_zeros_between(node: OnnxNode, x: Value, strides: tuple[int, ...]) -> Value:
    """Put zeros after each element, so that elements are ``strides`` apart."""
    if all(stride == 1 for stride in strides):
        return x
    n, channels, *spatial = node.shape(x)
    rank = len(spatial)
    apart = [each for extent in spatial for each in (extent, 1)]
    x = node.op("reshape", x, shape=(n, channels, *apart))
    after = [each for stride in strides for each in (0, stride - 1)]
    x = node.op("pad", x, pads=(0,) * (2 + 2 * rank) + (0, 0, *after))
    wide = [extent * stride for extent, stride in zip(spatial, strides, strict=True)]
    return node.op("reshape", x, shape=(n, channels, *wide))
