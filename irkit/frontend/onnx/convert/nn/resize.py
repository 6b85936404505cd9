"""Resize and Upsample: along each axis, a weighted sum of a few elements of the input.

Scales and sizes are known on import, so the places and weights of the elements are constants.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from irkit.frontend.onnx.convert.math import wide_float
from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.graph import Value

Floats = NDArray[np.float64]


def resize(node: OnnxNode) -> Value:
    """Change extents by interpolation.

    Source: Resize-10 (asymmetric, rounding down) to Resize-19.
    """
    x = node.input(0)
    shape = node.shape(x)
    axes, scales, sizes = _targets(node, shape)
    mode = node.text("mode", "nearest")
    how = "asymmetric" if node.version < 11 else "half_pixel"
    transform = node.text("coordinate_transformation_mode", how)
    roi = _region(node, axes, len(shape)) if transform == "tf_crop_and_resize" else None
    result = x if mode == "nearest" else wide_float(node, x)
    for at, axis in enumerate(axes):
        if sizes[at] == shape[axis] and scales[at] == 1 and roi is None:
            continue
        bounds = (0.0, 1.0) if roi is None else (roi[at], roi[len(axes) + at])
        places = _places(node, transform, shape[axis], sizes[at], scales[at], bounds)
        outside = (places < 0) | (places > shape[axis] - 1) if roi is not None else None
        if mode == "nearest":
            near = _nearest(node, places)
            result = _picked(node, result, np.clip(near, 0, shape[axis] - 1), axis)
        else:
            result = _weighted(node, result, axis, places, scales[at], mode)
        if outside is not None and outside.any():
            mask = outside.reshape(-1, *(1,) * (len(shape) - axis - 1))
            value = node.number("extrapolation_value", 0.0)
            result = node.op("where", node.constant(mask), value, result)
    return node.cast(result, node.dtype(x))


def upsample(node: OnnxNode) -> Value:
    """Enlarge by scales, taking the element below, or between the two.

    Source: Upsample-7 (scales are an attribute), Upsample-9.
    """
    x = node.input(0)
    scales = node.numbers("scales") if node.version < 9 else _numbers(node, 1, "scales")
    if scales is None or len(scales) != node.rank(x) or any(scale <= 0 for scale in scales):
        raise node.fail(f"scales {scales} must be a positive number for each axis")
    mode, shape = node.text("mode", "nearest"), node.shape(x)
    result = x if mode == "nearest" else wide_float(node, x)
    for axis, scale in enumerate(scales):
        if scale == 1:
            continue
        size = math.floor(shape[axis] * scale)
        node.check_size((size,))
        places = np.arange(size) / scale
        if mode == "nearest":
            near = np.clip(np.floor(places), 0, shape[axis] - 1).astype(np.int64)
            result = _picked(node, result, near, axis)
        else:
            result = _weighted(node, result, axis, places, scale, mode)
    return node.cast(result, node.dtype(x))


def _numbers(node: OnnxNode, at: int, what: str) -> tuple[float, ...] | None:
    array = node.array(at, what)
    return None if array is None else tuple(float(each) for each in array.reshape(-1).tolist())


def _targets(
    node: OnnxNode, shape: tuple[int, ...]
) -> tuple[tuple[int, ...], list[float], list[int]]:
    """Return the axes that change, their scales and their new extents."""
    rank = len(shape)
    given = node.integers("axes", ()) or tuple(range(rank))
    axes = tuple(node.axis(axis, rank) for axis in given)
    first = 1 if node.version < 11 else 2
    scales = _numbers(node, first, "scales")
    sizes = None if node.version < 11 else node.ints(3, "sizes")
    if sizes:
        if len(sizes) != len(axes) or any(size < 0 for size in sizes):
            raise node.fail(f"sizes {sizes} must be one number for each of the axes {axes}")
        ratios = [size / max(shape[axis], 1) for size, axis in zip(sizes, axes, strict=True)]
        policy = node.text("keep_aspect_ratio_policy", "stretch")
        if policy not in ("stretch", "not_larger", "not_smaller"):
            raise node.fail(f"keep_aspect_ratio_policy is {policy!r}")
        if policy != "stretch":
            ratio = min(ratios) if policy == "not_larger" else max(ratios)
            ratios = [ratio] * len(axes)
            sizes = tuple(math.floor(ratio * shape[axis] + 0.5) for axis in axes)
        found = list(sizes)
    elif scales:
        if len(scales) != len(axes) or not all(0 < scale < math.inf for scale in scales):
            raise node.fail(
                f"scales {scales} must be a positive number for each of the axes {axes}"
            )
        ratios = list(scales)
        found = [math.floor(shape[axis] * scale) for axis, scale in zip(axes, scales, strict=True)]
    else:
        raise node.fail("it has neither scales nor sizes")
    whole = list(shape)
    for axis, size in zip(axes, found, strict=True):
        whole[axis] = size
    node.check_size(whole)
    return axes, ratios, found


def _region(node: OnnxNode, axes: Sequence[int], rank: int) -> tuple[float, ...]:
    roi = _numbers(node, 1, "roi")
    if roi is None or len(roi) != 2 * len(axes):
        raise node.fail(f"roi {roi} must be two numbers for each of {len(axes)} axes")
    return roi


def _places(
    node: OnnxNode,
    transform: str,
    extent: int,
    size: int,
    scale: float,
    bounds: tuple[float, float],
) -> Floats:
    """Return the place in the input of each element of the result."""
    at = np.arange(size, dtype=np.float64)
    length = scale * extent
    match transform:
        case "half_pixel" | "tf_half_pixel_for_nn":
            shift = 0.0 if transform == "tf_half_pixel_for_nn" else 0.5
            return (at + 0.5) / scale - shift
        case "pytorch_half_pixel":
            return (at + 0.5) / scale - 0.5 if length != 1 else np.full(size, -0.5)
        case "half_pixel_symmetric":
            offset = extent / 2 * (1 - size / length)
            return offset + (at + 0.5) / scale - 0.5
        case "asymmetric":
            return at / scale
        case "align_corners":
            return at * (extent - 1) / (length - 1) if length != 1 else np.zeros(size)
        case "tf_crop_and_resize":
            low, high = bounds
            if length == 1:
                return np.full(size, (low + high) * (extent - 1) / 2)
            return low * (extent - 1) + at * (high - low) * (extent - 1) / (length - 1)
        case _:
            raise node.fail(f"coordinate_transformation_mode is {transform!r}")


def _nearest(node: OnnxNode, places: Floats) -> NDArray[np.int64]:
    mode = node.text("nearest_mode", "floor" if node.version < 11 else "round_prefer_floor")
    rounds: dict[str, Callable[[Floats], Any]] = {
        "round_prefer_floor": lambda each: np.ceil(each - 0.5),
        "round_prefer_ceil": lambda each: np.floor(each + 0.5),
        "floor": np.floor,
        "ceil": np.ceil,
    }
    if mode not in rounds:
        raise node.fail(f"nearest_mode is {mode!r}; expected one of {', '.join(rounds)}")
    return rounds[mode](places).astype(np.int64)


def _picked(node: OnnxNode, x: Value, places: NDArray[np.int64], axis: int) -> Value:
    return node.op("take", x, node.constant(places), axis=axis)


def _weighted(
    node: OnnxNode, x: Value, axis: int, places: Floats, scale: float, mode: str
) -> Value:
    """Add up the elements around each place, with the weights of a kernel."""
    if mode not in ("linear", "cubic"):
        raise node.fail(f"mode is {mode!r}; expected nearest, linear or cubic")
    antialias = node.version >= 18 and bool(node.integer("antialias", 0))
    narrow = min(scale, 1.0) if antialias else 1.0
    reach = math.ceil((1 if mode == "linear" else 2) / narrow)
    node.check_size((2 * reach, len(places)))
    extent, tail = node.shape(x)[axis], (1,) * (node.rank(x) - axis - 1)
    around = np.floor(places).astype(np.int64) + np.arange(1 - reach, reach + 1)[:, None]
    distances = np.abs(around - places) * narrow
    a = node.number("cubic_coeff_a", -0.75) if node.version >= 11 else -0.75
    weights = np.maximum(1 - distances, 0) if mode == "linear" else _cubic(distances, a)
    outside = (around < 0) | (around >= extent)
    excluded = node.version >= 11 and bool(node.integer("exclude_outside", 0))
    if excluded:
        weights = np.where(outside, 0, weights)
    if excluded or antialias:
        weights = weights / weights.sum(axis=0)
    total: Value | None = None
    for row, part in zip(np.clip(around, 0, extent - 1), weights, strict=True):
        if not part.any():
            continue
        factor = node.constant(part.reshape(-1, *tail).astype(node.numpy_type(x)))
        term = node.op("multiply", _picked(node, x, row, axis), factor)
        total = term if total is None else node.op("add", total, term)
    return _picked(node, x, np.zeros(0, np.int64), axis) if total is None else total


def _cubic(distance: Floats, a: float) -> Floats:
    near = ((a + 2) * distance - (a + 3)) * distance**2 + 1
    far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0.0))
