"""The matrix that turns a spectrogram into one by the mel scale."""

import math

import numpy as np

from irkit.frontend.onnx.convert.math import element_type
from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.graph import Value
from irkit.ir import F64


def mel_weight_matrix(node: OnnxNode) -> Value:
    """Return for each bin of a spectrogram its weight in each band: bands are triangles of equal
    width on the mel scale. The numbers of bins and bands must be known on import.

    Shapes: [DFT length // 2 + 1, bands].
    Source: MelWeightMatrix-17.
    """
    bands, length = (node.ints(at, what) for at, what in ((0, "bands"), (1, "DFT length")))
    if not bands or not length or bands[0] < 1 or length[0] < 1:
        raise node.fail(f"{bands} bands of a DFT of length {length}")
    rate, low, high = (
        node.op("reshape", node.cast(node.input(at), F64), shape=()) for at in (2, 3, 4)
    )
    low, high = _mel(node, low), _mel(node, high)
    edges = bands[0] + 2
    step = node.op("divide", node.op("subtract", high, low), edges)
    mels = node.op("multiply", node.constant(np.arange(edges, dtype=np.float64)), step)
    mels = node.op("multiply", node.op("add", mels, low), math.log(10) / 2595)
    hertz = node.op("multiply", node.op("expm1", mels), 700.0 * (length[0] + 1))
    places = node.op("floor", node.op("divide", hertz, rate))
    lower, centre, upper = (
        node.op("slice", places, begins=(at,), ends=(at + bands[0],), strides=(1,), axes=(0,))
        for at in range(3)
    )
    bins = node.constant(np.arange(length[0] // 2 + 1, dtype=np.float64).reshape(-1, 1))
    rise = _slope(node, node.op("subtract", bins, lower), node.op("subtract", centre, lower))
    fall = _slope(node, node.op("subtract", upper, bins), node.op("subtract", upper, centre))
    at_centre = node.op("where", node.op("equal", bins, centre), 1.0, node.constant(np.array(0.0)))
    rise = node.op("where", _both(node, "less_equal", lower, bins, centre), rise, 0.0)
    rise = node.op("where", node.op("equal", lower, centre), at_centre, rise)
    falls = node.op(
        "logical_and", node.op("less_equal", centre, bins), node.op("less", bins, upper)
    )
    found = node.op("where", falls, fall, rise)
    return node.cast(found, element_type(node, node.integer("output_datatype", 1)))


def _mel(node: OnnxNode, hertz: Value) -> Value:
    return node.op(
        "multiply", node.op("log1p", node.op("divide", hertz, 700.0)), 2595 / math.log(10)
    )


def _slope(node: OnnxNode, part: Value, whole: Value) -> Value:
    return node.op("divide", part, node.op("maximum", whole, 1.0))


def _both(node: OnnxNode, order: str, low: Value, x: Value, high: Value) -> Value:
    return node.op("logical_and", node.op(order, low, x), node.op(order, x, high))
