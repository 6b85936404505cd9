"""Sliding windows over spatial axes, shared by convolution and pooling.

Spatial axes are the third and later ones; ``pads`` are the begins of all of them, then the ends.
"""

from collections.abc import Sequence

import numpy as np

from irkit.core import ShapeError
from irkit.graph.ops.shapes import Dim, add, divide, smaller, written
from irkit.graph.ops.spec import Array, OpOptions
from irkit.ir import Expr, as_int


def filled(options: OpOptions, spatial: int) -> OpOptions:
    """Extend ``strides``, ``pads`` and ``dilations`` to full length; empty means 1, 0 and 1."""
    wanted = (("strides", spatial, 1, 1), ("pads", 2 * spatial, 0, 0), ("dilations", spatial, 1, 1))
    changes: dict[str, tuple[int, ...]] = {}
    for name, length, default, least in wanted:
        found = options.ints(name) or (default,) * length
        if len(found) != length or any(item < least for item in found):
            raise ShapeError(
                f"attribute {name} must be {length} integers of at least {least}, found {found}"
            )
        changes[name] = found
    return options.replace(**changes)


def window_extents(
    shape: Sequence[Expr], kernel: Sequence[Dim], options: OpOptions, *, ceil: bool = False
) -> list[Expr]:
    """Return the number of windows along each spatial axis.

    With ``ceil`` a last window can extend beyond the end, if it begins inside or in the begin pads.
    """
    strides, pads, dilations = (options.ints(name) for name in ("strides", "pads", "dilations"))
    found: list[Expr] = []
    for at, (extent, size) in enumerate(zip(shape, kernel, strict=True)):
        begin, end, stride = pads[at], pads[len(strides) + at], strides[at]
        span = as_int(add(size, -1))
        if span is None:
            raise ShapeError(f"the kernel must have a constant shape, found {written(kernel)}")
        room = add(extent, begin + end - dilations[at] * span - 1)
        count = divide(add(room, stride + (stride - 1 if ceil else 0)), stride)
        if ceil:
            count = smaller(count, add(divide(add(extent, begin - 1), stride), 1))
        number = as_int(count)
        if number is not None and number < 1:
            raise ShapeError(
                f"a window of {size if isinstance(size, int) else as_int(size)} (dilation "
                f"{dilations[at]}) does not fit into spatial axis {at} of {as_int(extent)} with "
                f"pads {begin} and {end}"
            )
        found.append(count)
    return found


def windows(
    x: Array, kernel: Sequence[int], options: OpOptions, counts: Sequence[int], fill: object
) -> Array:
    """Return a view of an array as windows. Shapes: [N, C, *spatial] -> [N, C, *counts,
    *kernel]."""
    strides, pads, dilations = (options.ints(name) for name in ("strides", "pads", "dilations"))
    rank = len(kernel)
    widths = [(0, 0), (0, 0)]
    for at in range(rank):
        reach = (counts[at] - 1) * strides[at] + (kernel[at] - 1) * dilations[at] + 1
        end = max(pads[rank + at], reach - x.shape[2 + at] - pads[at])
        widths.append((pads[at], end))
    padded = np.full([n + a + b for n, (a, b) in zip(x.shape, widths, strict=True)], fill, x.dtype)
    padded[tuple(slice(a, a + n) for n, (a, _) in zip(x.shape, widths, strict=True))] = x
    spans = tuple((size - 1) * by + 1 for size, by in zip(kernel, dilations, strict=True))
    view = np.lib.stride_tricks.sliding_window_view(padded, spans, tuple(range(2, 2 + rank)))
    firsts = tuple(slice(0, (n - 1) * by + 1, by) for n, by in zip(counts, strides, strict=True))
    return view[(..., *firsts, *(slice(None, None, by) for by in dilations))]


def spatial_axes(rank: int) -> tuple[int, ...]:
    """Return the last ``rank`` axes, those of the window itself."""
    return tuple(range(-rank, 0))
