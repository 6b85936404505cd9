"""Unique: each element or slice once."""

from functools import reduce

from irkit.frontend.onnx.limits import MAX_ROOM
from irkit.frontend.onnx.onnx_node import Counted, OnnxNode
from irkit.frontend.sizes import Dim, KernelDims, multiply
from irkit.graph import Value, tensor_type, written
from irkit.ir import BOOL, F32, U8, DType, PrimFunc, parse


def unique(node: OnnxNode) -> Counted:
    """Return each element, or slice along an axis, once, with the place where it first occurs, the
    number of each among them, and how often it occurs.

    They are in order if ``sorted``, NaN last, and otherwise as they first occur.
    Source: Unique-11 to Unique-28.
    """
    x = node.input(0)
    if node.has("axis"):
        axis = node.axis(node.integer("axis"), node.rank(x))
    else:
        x, axis = node.op("reshape", x, shape=(-1,)), 0
    shape = node.dims(x)
    rows = shape[axis]
    width = reduce(multiply, (*shape[:axis], *shape[axis + 1 :]), 1)
    if rows == 0:
        raise node.fail(f"its input of shape {written(node.type(x).shape)} has no elements")
    if isinstance(rows, int) and rows > MAX_ROOM:
        raise node.fail(f"its input has {rows} elements; up to {MAX_ROOM} are supported")
    flat = _as_rows(node, x, axis)
    types = [tensor_type((rows,), "i64")] * 3 + [tensor_type((1,), "i64")]
    kernel = _unique_kernel(rows, width, node.dtype(flat), bool(node.integer("sorted", 1)))
    first, inverse, counts, count = node.loops(kernel, flat, types=types)
    taken = node.op("take", x, first, axis=axis)
    return Counted((taken, first, inverse, counts), (axis, 0, None, 0), count)


def _as_rows(node: OnnxNode, x: Value, axis: int) -> Value:
    """Return a tensor as a matrix with a row for each place along an axis."""
    kind = node.dtype(x)
    if kind == BOOL:
        x = node.cast(x, U8)
    elif kind.is_float and kind.bits < F32.bits:
        x = node.cast(x, F32)
    order = (axis, *(each for each in range(node.rank(x)) if each != axis))
    moved = node.op("transpose", x, axes=order)
    if node.rank(x) == 1:
        return node.op("expand_dims", moved, axes=(1,))
    return node.op("reshape", moved, moved, shape=(-2, -1))


def _unique_kernel(extent: Dim, length: Dim, dtype: DType, in_order: bool) -> PrimFunc:
    """Return a function that inserts each row into an ordered list, unless it is there already.

    A row has a number, by the order in which rows first occur; ``order`` lists the numbers of the
    rows in order. The place of a row is found by bisection, and those after it are moved.
    """
    named = KernelDims()
    rows, width = named(extent), named(length)
    steps = extent.bit_length() if isinstance(extent, int) else 63
    less, more = "x[i, k] < x[first[order[middle]], k]", "x[i, k] > x[first[order[middle]], k]"
    if dtype.is_float:  # NaN is the largest, and equal to NaN.
        own, other = "isnan(x[i, k])", "isnan(x[first[order[middle]], k])"
        less, more = f"{less} or {other} and not {own}", f"{more} or {own} and not {other}"
    listed = "order[p]" if in_order else "p"
    text = f"""\
def find_unique(
    x: {dtype}[{rows}, {width}],
    places: i64[{rows}],
    inverse: i64[{rows}],
    counts: i64[{rows}],
    count: i64[1],
):
    with alloc(i64[{rows}]) as order:
        with alloc(i64[{rows}]) as first:
            with alloc(i64[{rows}]) as times:
                with alloc(i64[{rows}]) as rank:
                    with alloc(i64[4]) as s:
                        count[0] = 0
                        for i in serial(0, {rows}):
                            places[i] = 0
                            counts[i] = 0
                            s[0] = 0
                            s[1] = count[0]
                            s[2] = -1
                            for step in serial(0, {steps}):
                                if s[0] < s[1] and s[2] < 0:
                                    with let((s[0] + s[1]) // 2) as middle:
                                        s[3] = 0
                                        for k in serial(0, {width}):
                                            if s[3] == 0:
                                                if {less}:
                                                    s[3] = -1
                                                elif {more}:
                                                    s[3] = 1
                                        if s[3] == 0:
                                            s[2] = order[middle]
                                        elif s[3] < 0:
                                            s[1] = middle
                                        else:
                                            s[0] = middle + 1
                            if s[2] < 0:
                                s[2] = count[0]
                                for m in serial(0, count[0] - s[0]):
                                    order[count[0] - m] = order[count[0] - m - 1]
                                order[s[0]] = s[2]
                                first[s[2]] = i
                                times[s[2]] = 0
                                count[0] = count[0] + 1
                            times[s[2]] = times[s[2]] + 1
                            inverse[i] = s[2]
                        for p in serial(0, count[0]):
                            rank[{listed}] = p
                            places[p] = first[{listed}]
                            counts[p] = times[{listed}]
                        for j in serial(0, {rows}):
                            inverse[j] = rank[inverse[j]]
"""
    return parse(text)
