"""Attributes that convolutions and pools share."""

import math

from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.frontend.sizes import Dim
from irkit.ir import as_int


def window_attributes(
    node: OnnxNode, spatial: tuple[Dim, ...], kernel: tuple[int, ...]
) -> dict[str, tuple[int, ...]]:
    """Return strides, dilations and pads, with ``auto_pad`` resolved to explicit pads."""
    rank = len(kernel)
    strides = node.integers("strides", (1,) * rank)
    dilations = node.integers("dilations", (1,) * rank)
    pads = node.integers("pads", (0,) * 2 * rank)
    auto = node.text("auto_pad", "NOTSET")
    for name, values, count in (
        ("strides", strides, rank),
        ("dilations", dilations, rank),
        ("pads", pads, 2 * rank),
    ):
        least = 0 if name == "pads" else 1
        if len(values) != count or any(item < least for item in values):
            raise node.fail(f"{name} is {values}; expected {count} numbers of at least {least}")
    if len(spatial) != rank:
        raise node.fail(f"the kernel {kernel} does not fit {len(spatial)} spatial dimensions")
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        known = _constant(node, spatial)
        totals = [
            max((math.ceil(extent / stride) - 1) * stride + (size - 1) * dilation + 1 - extent, 0)
            for extent, stride, size, dilation in zip(
                known, strides, kernel, dilations, strict=True
            )
        ]
        small = tuple(total // 2 for total in totals)
        large = tuple(total - total // 2 for total in totals)
        pads = small + large if auto == "SAME_UPPER" else large + small
    elif auto == "VALID":
        pads = (0,) * 2 * rank
    elif auto != "NOTSET":
        raise node.fail(f"auto_pad is {auto!r}; expected NOTSET, SAME_UPPER, SAME_LOWER or VALID")
    begins, ends = pads[:rank], pads[rank:]
    extents = [as_int(extent) or 0 for extent in spatial]
    node.check_size([sum(widths) for widths in zip(extents, begins, ends, strict=True)])
    return {"strides": strides, "dilations": dilations, "pads": pads}


def _constant(node: OnnxNode, spatial: tuple[Dim, ...]) -> tuple[int, ...]:
    """Return the spatial dimensions, of which ``auto_pad`` computes pads."""
    return node.constants(node.input(0), spatial)
