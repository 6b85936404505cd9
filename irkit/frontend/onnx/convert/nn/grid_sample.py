"""Samples of an image at places that a grid holds."""

import math
from collections.abc import Sequence
from itertools import product

import numpy as np

from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.graph import Value
from irkit.ir import I64

_MODES = {
    "bilinear": "linear",
    "linear": "linear",
    "nearest": "nearest",
    "bicubic": "cubic",
    "cubic": "cubic",
}


def grid_sample(node: OnnxNode) -> Value:
    """Interpolate between the elements around each place of a grid, which counts from -1 to 1.

    Cubic samples at a border are those of ONNX Runtime and PyTorch; in ONNX's reference, the place
    is first moved to the border.
    Shapes: x [N, C, *spatial], grid [N, *out, rank] -> [N, C, *out].
    Source: GridSample-16 to GridSample-22.
    """
    x, grid = node.input(0), node.input(1)
    (n, channels, *spatial), (_, *out, rank) = node.shape(x), node.shape(grid)
    mode, padding = _MODES.get(node.text("mode", "linear")), node.text("padding_mode", "zeros")
    align = bool(node.integer("align_corners", 0))
    if rank != len(spatial) or len(out) != rank or node.shape(grid)[0] != n or 0 in spatial:
        raise node.fail(f"a grid of shape {node.shape(grid)} does not fit x of {node.shape(x)}")
    if mode is None or padding not in ("zeros", "border", "reflection"):
        raise node.fail(f"mode is {node.text('mode', '')!r} and padding_mode {padding!r}")
    places: list[Value] = []
    for at, extent in enumerate(spatial):
        # The grid holds the coordinate of the last axis first.
        last = rank - 1 - at
        cut = node.op(
            "slice", grid, begins=(last,), ends=(last + 1,), strides=(1,), axes=(rank + 1,)
        )
        places.append(_place(node, node.op("reshape", cut, shape=(n, *out)), extent, align))
    # Cubic weights belong to the place itself: at a border, the elements around it are moved.
    if padding == "reflection" or (padding == "border" and mode != "cubic"):
        places = [
            _inside(node, place, extent, align, padding)
            for place, extent in zip(places, spatial, strict=True)
        ]
    around = [
        taps(node, place, extent, align, mode, padding)
        for place, extent in zip(places, spatial, strict=True)
    ]
    order = (0, *range(2, rank + 2), 1)
    flat = node.op("transpose", x, axes=order)
    flat = node.op("reshape", flat, shape=(n * math.prod(spatial), channels))
    image = node.constant((np.arange(n) * math.prod(spatial)).reshape(-1, *(1,) * rank))
    total: Value | None = None
    for chosen in product(*around):
        place, weight = image, chosen[0][1]
        stride = math.prod(spatial)
        for extent, (index, _) in zip(spatial, chosen, strict=True):
            stride //= extent
            place = node.op("add", place, node.op("multiply", index, stride))
        for _, factor in chosen[1:]:
            weight = node.op("multiply", weight, factor)
        taken = node.op("take", flat, place, axis=0)
        factor = node.op("reshape", weight, shape=(n, *out, 1))
        term = node.op("multiply", taken, node.cast(factor, node.dtype(x)))
        total = term if total is None else node.op("add", total, term)
    assert total is not None
    return node.op("transpose", total, axes=(0, rank + 1, *range(1, rank + 1)))


def _place(node: OnnxNode, grid: Value, extent: int, align: bool) -> Value:
    if align:
        return node.op("multiply", node.op("add", grid, 1), (extent - 1) / 2)
    wide = node.op("multiply", node.op("add", grid, 1), extent)
    return node.op("multiply", node.op("subtract", wide, 1), 0.5)


def _clamped(node: OnnxNode, x: Value, extent: int) -> Value:
    return node.op("minimum", node.op("maximum", x, 0), extent - 1)


def _inside(node: OnnxNode, x: Value, extent: int, align: bool, padding: str) -> Value:
    """Move a place to the nearest border, or reflect it at the borders."""
    return _clamped(node, x, extent) if padding == "border" else _reflected(node, x, extent, align)


def _reflected(node: OnnxNode, x: Value, extent: int, align: bool) -> Value:
    low, high = (0.0, extent - 1.0) if align else (-0.5, extent - 0.5)
    width = high - low
    if width == 0:
        return _clamped(node, x, extent)
    away = node.op("abs", node.op("subtract", x, low))
    rounds = node.op("floor", node.op("divide", away, 2 * width))
    rest = node.op("subtract", away, node.op("multiply", rounds, 2 * width))
    back = node.op("subtract", 2 * width, rest)
    return node.op("add", node.op("minimum", rest, back), low)


def taps(
    node: OnnxNode, place: Value, extent: int, align: bool, mode: str, padding: str
) -> Sequence[tuple[Value, Value]]:
    """Return the indices around a place, each with its weight."""
    if mode == "nearest":
        whole = node.op("round", place)
        ones = node.op("full", shape=node.shape(place), value=1.0, dtype=node.dtype(place))
        return [_tap(node, whole, ones, extent, align, padding)]
    floor = node.op("floor", place)
    t = node.op("subtract", place, floor)
    offsets = (0, 1) if mode == "linear" else (-1, 0, 1, 2)
    found: list[tuple[Value, Value]] = []
    for offset in offsets:
        distance = node.op("abs", node.op("subtract", t, offset))
        if mode == "linear":
            weight = node.op("subtract", 1, distance)
        else:
            weight = _cubic(node, distance, far=offset in (-1, 2))
        found.append(_tap(node, node.op("add", floor, offset), weight, extent, align, padding))
    return found


def _cubic(node: OnnxNode, d: Value, *, far: bool, a: float = -0.75) -> Value:
    """Return the weight of an element at a distance up to 1, or beyond."""
    factors = (a, -5 * a, 8 * a, -4 * a) if far else (a + 2, -(a + 3), 0.0, 1.0)
    found = node.op("multiply", d, factors[0])
    for factor in factors[1:3]:
        found = node.op("multiply", node.op("add", found, factor), d)
    return node.op("add", found, factors[3])


def _tap(
    node: OnnxNode, index: Value, weight: Value, extent: int, align: bool, padding: str
) -> tuple[Value, Value]:
    if padding == "zeros":
        inside = node.op(
            "logical_and",
            node.op("greater_equal", index, 0),
            node.op("less_equal", index, extent - 1),
        )
        weight = node.op("where", inside, weight, 0)
    elif padding == "reflection":
        index = node.op("trunc", _reflected(node, index, extent, align))
    return node.cast(_clamped(node, index, extent), I64), weight
