"""Running sums and products, the largest elements, and reversed sequences."""

import numpy as np

from irkit.frontend.onnx.convert.shapes.gather import take_along
from irkit.frontend.onnx.convert.shapes.ranked import ranked
from irkit.frontend.onnx.limits import INT64_MAX
from irkit.frontend.onnx.onnx_node import Counted, OnnxNode
from irkit.frontend.sizes import Dim
from irkit.graph import MOST, Value
from irkit.ir import I64, bounds, index


def cumulative_sum(node: OnnxNode) -> Value:
    """Add up the elements before each, and itself unless ``exclusive``.

    Source: CumSum-11, CumSum-14.
    """
    return _cumulative(node, 0)


def cumulative_product(node: OnnxNode) -> Value:
    """Multiply the elements before each, and itself unless ``exclusive``.

    Source: CumProd-26.
    """
    return _cumulative(node, 1)


def _cumulative(node: OnnxNode, nothing: int) -> Value:
    x, given = node.input(0), node.ints(1, "axis")
    if given is None or len(given) != 1:
        raise node.fail(f"axis {given} must be one number")
    axis = node.axis(given[0], node.rank(x))
    extent, backwards = _most(node, node.dims(x)[axis]), bool(node.integer("reverse", 0))
    if node.integer("exclusive", 0):
        x = _shifted(node, x, axis, 1, nothing, backwards)
    step = 1
    # Each element holds ``step`` elements before, so their number doubles.
    while step < extent:
        moved = _shifted(node, x, axis, step, nothing, backwards)
        x = node.op("multiply", x, moved) if nothing else node.op("add", x, moved)
        step *= 2
    return x


def _most(node: OnnxNode, extent: Dim) -> int:
    """Return the most that an extent is within the ranges of its dimensions."""
    high = bounds(index(extent), node.ranges).high
    return MOST if high is None else min(high, MOST)


def _shifted(node: OnnxNode, x: Value, axis: int, by: int, value: int, backwards: bool) -> Value:
    rank = node.rank(x)
    pads = [0] * 2 * rank
    pads[axis], pads[rank + axis] = (-by, by) if backwards else (by, -by)
    return node.op("pad", x, pads=tuple(pads), value=value)


def top_k(node: OnnxNode) -> tuple[Value, Value] | Counted:
    """Return the largest or smallest elements along an axis, in order, and their indices.

    The rank of each element is counted, so the work grows with the square of the extent. A number
    that is only known when the model runs makes a dimension of the program.
    Source: TopK-1 (k is an attribute) to TopK-24.
    """
    x = node.input(0)
    axis = node.axis(node.integer("axis", -1), node.rank(x))
    largest = node.version < 11 or bool(node.integer("largest", 1))
    if node.version >= 10 and not node.is_known(1):
        if not node.is_one_program:
            raise node.countable(1, "k")
        extent = node.dims(x)[axis]
        return Counted(ranked(node, x, axis, extent, largest), (axis, axis), node.input(1))
    count = (node.integer("k"),) if node.version < 10 else node.ints(1, "k")
    extent = node.dims(x)[axis]
    most = extent if isinstance(extent, int) else INT64_MAX
    if count is None or len(count) != 1 or not 0 <= count[0] <= most:
        raise node.fail(f"k is {count}; expected one number from 0 to {extent}")
    if not all(isinstance(dim, int) for dim in node.dims(x)):
        return ranked(node, x, axis, count[0], largest)
    shape = node.shape(x)
    ranks = _ranks(node, x, axis, largest)
    after = len(shape) - axis - 1
    wanted = node.constant(np.arange(count[0]).reshape(-1, *(1,) * (after + 1)))
    places = node.constant(np.arange(shape[axis]).reshape(-1, *(1,) * after))
    wide = node.op("reshape", ranks, shape=(*shape[:axis], 1, *shape[axis:]))
    chosen = node.op("where", node.op("equal", wide, wanted), places, 0)
    indices = node.op("sum", chosen, axes=(axis + 1,), keepdims=False)
    return take_along(node, x, indices, axis), indices


def _ranks(node: OnnxNode, x: Value, axis: int, largest: bool) -> Value:
    """Count, for each element, those along an axis that come before it; of equal ones the first
    does, and NaN is largest."""
    shape = node.shape(x)
    node.check_size((*shape, shape[axis]))
    own = node.op("reshape", x, shape=(*shape[: axis + 1], 1, *shape[axis + 1 :]))
    other = node.op("reshape", x, shape=(*shape[:axis], 1, *shape[axis:]))
    first, second = (other, own) if largest else (own, other)
    above = node.op("greater", first, second)
    same = node.op("equal", first, second)
    if node.dtype(x).is_float:
        odd, others_odd = node.op("isnan", first), node.op("isnan", second)
        only = node.op("logical_and", odd, node.op("logical_not", others_odd))
        above = node.op("logical_or", above, only)
        same = node.op("logical_or", same, node.op("logical_and", odd, others_odd))
    tail = (1,) * (len(shape) - axis - 1)
    extent = shape[axis]
    earlier = np.arange(extent)[None, :] < np.arange(extent)[:, None]
    tie = node.op("logical_and", same, node.constant(earlier.reshape(extent, extent, *tail)))
    before = node.cast(node.op("logical_or", above, tie), I64)
    return node.op("sum", before, axes=(axis + 1,), keepdims=False)


def reverse_sequence(node: OnnxNode) -> Value:
    """Reverse the first elements of each sequence, as many as its length says.

    Source: ReverseSequence-10.
    """
    x, lengths = node.input(0), node.cast(node.input(1), I64)
    shape, rank = node.shape(x), node.rank(x)
    batch = node.axis(node.integer("batch_axis", 1), rank)
    time = node.axis(node.integer("time_axis", 0), rank)
    if {batch, time} != {0, 1}:
        raise node.fail(f"batch_axis {batch} and time_axis {time} must be 0 and 1")
    steps = np.arange(shape[time]).reshape((-1, 1) if time == 0 else (1, -1))
    length = node.op("reshape", lengths, shape=(1, -1) if time == 0 else (-1, 1))
    step = node.constant(steps)
    turned = node.op("subtract", node.op("subtract", length, step), 1)
    places = node.op("where", node.op("less", step, length), turned, step)
    tail = (1,) * (rank - 2)
    places = node.op("reshape", places, shape=(*shape[:2], *tail))
    return take_along(node, x, node.op("broadcast_to", places, shape=shape), time)
