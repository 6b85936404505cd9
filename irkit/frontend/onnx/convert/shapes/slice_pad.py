"""Operators that cut and pad."""

import math
from collections.abc import Sequence
from functools import reduce
from itertools import pairwise

import numpy as np

from irkit.frontend.onnx.convert.shapes.size_kernels import window
from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.frontend.sizes import Dim, Window, add, divide, multiply, same_size, sliced
from irkit.graph import Value
from irkit.ir import Expr, as_int


def slice_of(node: OnnxNode) -> Value:
    """Cut along axes, with steps.

    Source: Slice-1 (bounds are attributes) to Slice-13.
    """
    x = node.input(0)
    if node.version < 10:
        starts, ends = node.integers("starts"), node.integers("ends")
        axes = node.integers("axes", ()) or None
        steps = None
    else:
        starts, ends = node.sizes(1, "starts") or (), node.sizes(2, "ends") or ()
        axes, steps = node.ints(3, "axes"), node.sizes(4, "steps")
    along = tuple(range(len(starts))) if axes is None else axes
    along = tuple(node.axis(axis, node.rank(x)) for axis in along)
    sizes = [*starts, *ends, *(steps or ()), *(node.dims(x)[axis] for axis in along)]
    if any(isinstance(size, Expr) for size in sizes):
        return _window(node, x, starts, ends, along, steps)
    return node.op(
        "slice",
        x,
        begins=starts,
        ends=ends,
        strides=(1,) * len(starts) if steps is None else steps,
        axes=along,
    )


def _window(
    node: OnnxNode,
    x: Value,
    starts: Sequence[Dim],
    ends: Sequence[Dim],
    axes: Sequence[int],
    steps: Sequence[Dim] | None,
) -> Value:
    """Cut where bounds, or what is cut, depend on dimensions."""
    given = [1] * len(starts) if steps is None else [as_int(step) for step in steps]
    if any(step is None for step in given):
        raise node.fail("its steps depend on a dimension; they must be numbers")
    numbers = [step for step in given if step is not None]
    if 0 in numbers:
        raise node.fail("one of its steps is 0")
    if not len(starts) == len(ends) == len(axes) == len(numbers) or len(set(axes)) != len(axes):
        raise node.fail("its starts, ends, axes and steps do not fit together")
    windows = [Window(0, extent) for extent in node.dims(x)]
    for axis, start, end, step in zip(axes, starts, ends, numbers, strict=True):
        windows[axis] = sliced(start, end, step, windows[axis].count, node.ranges)
    return window(node, x, windows)


def split(node: OnnxNode) -> list[Value]:
    """Split along an axis into parts of given sizes, or of equal ones.

    Source: Split-1 to Split-18; from version 18 on, the last part can be smaller.
    """
    x = node.input(0)
    axis = node.axis(node.integer("axis", 0), node.rank(x))
    count, whole = len(node.outputs), node.dims(x)[axis]
    computed = node.sizes(1, "split") if node.version >= 13 and node.is_of_dimensions(1) else None
    is_even = node.version >= 18 and node.optional(1) is None
    if computed is not None or (is_even and isinstance(whole, Expr)):
        return _parts(node, x, axis, computed)
    (extent,) = node.constants(x, (whole,))
    sizes = node.integers("split", ()) if 1 < node.version < 13 or node.has("split") else None
    sizes = node.ints(1, "split") if node.version >= 13 or node.version == 1 else sizes
    if node.version == 1 and sizes is None and node.has("split"):
        sizes = node.integers("split")
    if not sizes:
        if node.version < 18 and extent % count:
            raise node.fail(f"an extent of {extent} has no {count} equal parts")
        part = math.ceil(extent / node.integer("num_outputs", count))
        sizes = tuple(max(min(part, extent - part * at), 0) for at in range(count))
    if sum(sizes) != extent or len(sizes) != count or any(size < 0 for size in sizes):
        raise node.fail(f"parts of {sizes} for {count} outputs do not fill an extent of {extent}")
    bounds = np.cumsum([0, *sizes]).tolist()
    return [
        node.op("slice", x, begins=(low,), ends=(high,), strides=(1,), axes=(axis,))
        for low, high in pairwise(bounds)
    ]


def _parts(node: OnnxNode, x: Value, axis: int, sizes: Sequence[Dim] | None) -> list[Value]:
    """Split where the axis, or sizes of parts, depend on dimensions; without sizes, into equal
    parts, of which later ones can be smaller."""
    extent, count = node.dims(x)[axis], len(node.outputs)
    part = divide(add(extent, count - 1), count)
    if sizes is not None and len(sizes) != count:
        raise node.fail(f"it has {count} outputs and sizes for {len(sizes)}")
    if sizes is not None and not same_size(reduce(add, sizes), extent, node.ranges):
        raise node.fail("the sizes of its parts are not known to fill the axis")
    found = list[Value]()
    begin: Dim = 0
    for at in range(count):
        end = multiply(part, at + 1) if sizes is None else add(begin, sizes[at])
        windows = [Window(0, dim) for dim in node.dims(x)]
        windows[axis] = sliced(begin, end, 1, extent, node.ranges)
        if sizes is not None:
            windows[axis] = Window(windows[axis].begin, sizes[at])
        found.append(window(node, x, windows))
        begin = end
    return found


def pad(node: OnnxNode) -> Value:
    """Extend each axis by a value, by its edge, or by its elements again; negative widths cut.

    Source: Pad-1 and Pad-2 (widths are attributes) to Pad-25.
    """
    x, mode = node.input(0), node.text("mode", "constant")
    rank = node.rank(x)
    axes: tuple[int, ...] | None = None
    value = np.array(node.number("value", 0.0) if node.version < 11 else 0)
    if node.version < 11:
        widths = node.integers("paddings" if node.version == 1 else "pads")
    else:
        widths = node.ints(1, "pads") or ()
        given = node.array(2, "value")
        value = value if given is None or given.size == 0 else given.reshape(-1)[0]
        axes = node.ints(3, "axes")
    along = range(rank) if axes is None else [node.axis(axis, rank) for axis in axes]
    count = len(along)
    if len(widths) != 2 * count or len(set(along)) != count:
        raise node.fail(f"pads {widths} must be two numbers for each of the axes {tuple(along)}")
    full = [0] * 2 * rank
    for at, axis in enumerate(along):
        full[axis], full[rank + axis] = widths[at], widths[count + at]
    shape = [as_int(dim) or 0 for dim in node.dims(x)]
    node.check_size([max(n + full[at] + full[rank + at], 0) for at, n in enumerate(shape)])
    if mode == "constant":
        return node.op("pad", x, pads=tuple(full), value=value.item())
    for axis, extent in enumerate(node.shape(x)):
        low, high = full[axis], full[rank + axis]
        if low or high:
            places = _beyond(node, mode, extent, np.arange(-low, extent + high))
            x = node.op("take", x, node.constant(places), axis=axis)
    return x


def _beyond(
    node: OnnxNode,
    mode: str,
    extent: int,
    places: "np.ndarray[tuple[int, ...], np.dtype[np.int64]]",
) -> "np.ndarray[tuple[int, ...], np.dtype[np.int64]]":
    """Return which element stands at each place, some of which are outside."""
    if extent == 0 and places.size:
        raise node.fail(f"mode {mode!r} cannot extend an axis without elements")
    if mode == "edge":
        return np.clip(places, 0, extent - 1)
    if mode == "wrap":
        return places % extent
    if mode == "reflect":
        period = max(2 * extent - 2, 1)
        turned = places % period
        return np.where(turned < extent, turned, period - turned)
    raise node.fail(f"mode is {mode!r}; expected constant, reflect, edge or wrap")
