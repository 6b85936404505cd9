"""Operators that compare positions, or count: Trilu, EyeLike, OneHot, Range, Shape, Size."""

import math
from typing import Any

import numpy as np

from irkit.frontend.onnx.convert.math import element_type
from irkit.frontend.onnx.convert.math.shaped import reshape
from irkit.frontend.onnx.convert.shapes.size_kernels import counted, shape_values
from irkit.frontend.onnx.limits import MAX_CONSTANT_BYTES
from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.frontend.sizes import Dim, subtract
from irkit.graph import Value
from irkit.ir import I64, as_int, numpy_dtype, product


def trilu(node: OnnxNode) -> Value:
    """Keep the upper or lower triangle of each matrix; other elements become 0.

    Source: Trilu-14.
    """
    x, k = node.input(0), node.optional(1)
    rank = node.rank(x)
    if rank < 2:
        raise node.fail(f"x has rank {rank}; expected a matrix, or a batch of matrices")
    rows, columns = node.shape(x)[-2:]
    row, column = node.constant(np.arange(rows)[:, None]), node.constant(np.arange(columns))
    border = row if k is None else node.op("add", row, node.op("reshape", k, shape=()))
    upper = node.integer("upper", 1)
    kept = node.op("greater_equal" if upper else "less_equal", column, border)
    return node.op("where", kept, x, 0)


def eye_like(node: OnnxNode) -> Value:
    """Return a matrix with 1 on a diagonal, of the shape of another.

    Source: EyeLike-9, EyeLike-22.
    """
    x = node.input(0)
    kind = node.dtype(x)
    if node.has("dtype"):
        kind = element_type(node, node.integer("dtype"))
    if node.rank(x) != 2:
        raise node.fail(f"x has rank {node.rank(x)}; expected a matrix")
    rows, columns = node.shape(x)
    diagonal = node.constant(np.arange(rows)[:, None] + node.integer("k", 0))
    return node.cast(node.op("equal", node.constant(np.arange(columns)), diagonal), kind)


def one_hot(node: OnnxNode) -> Value:
    """Return the second of two values where the index along a new axis is the given one, and the
    first elsewhere.

    Source: OneHot-9, OneHot-11.
    """
    indices, depth = node.cast(node.input(0), I64), node.array(1, "depth")
    if depth is None or depth.size != 1 or int(depth.reshape(-1)[0]) < 1:
        raise node.fail("its depth must be one number of at least 1")
    count, shape = int(depth.reshape(-1)[0]), node.shape(indices)
    axis = node.axis(node.integer("axis", -1), len(shape) + 1)
    off, on = (
        node.op(
            "reshape",
            node.op("slice", node.input(2), begins=(at,), ends=(at + 1,), strides=(1,), axes=(0,)),
            shape=(),
        )
        for at in (0, 1)
    )
    node.check_size((*shape, count))
    places = np.arange(count).reshape(-1, *(1,) * (len(shape) - axis))
    below = node.op("less", indices, 0)
    wrapped = node.op("where", below, node.op("add", indices, count), indices)
    wide = node.op("reshape", wrapped, shape=(*shape[:axis], 1, *shape[axis:]))
    return node.op("where", node.op("equal", wide, node.constant(places)), on, off)


def range_of(node: OnnxNode) -> Value:
    """Count from a start up to, but not including, a limit.

    Source: Range-11, Range-27.
    """
    if any(map(node.is_of_dimensions, range(3))):
        sizes = [node.sizes(at, what) for at, what in enumerate(("start", "limit", "step"))]
        return _range_of_sizes(node, [dim for each in sizes for dim in each or ()])
    bounds = [node.array(at, what) for at, what in enumerate(("start", "limit", "step"))]
    if any(each is None or each.size != 1 for each in bounds):
        raise node.fail("its start, limit and step must be one number each")
    kind = numpy_dtype(node.dtype(node.input(0)))
    numbers: list[Any] = [each.reshape(-1)[0].item() for each in bounds if each is not None]
    start, limit, step = numbers
    if step == 0:
        raise node.fail("its step is 0")
    if not all(map(math.isfinite, (start, limit, step))):
        raise node.fail(f"its start {start}, limit {limit} or step {step} is not finite")
    count: int = max(math.ceil((limit - start) / step), 0)
    if count * kind.itemsize > MAX_CONSTANT_BYTES:
        raise node.fail(
            f"it counts {count} numbers, which take more than {MAX_CONSTANT_BYTES} bytes"
        )
    node.check_size((count,))
    return node.constant((np.arange(count) * step + start).astype(kind))


def _range_of_sizes(node: OnnxNode, sizes: list[Dim]) -> Value:
    """Count between dimensions, by a step of 1."""
    start, limit, step = sizes if len(sizes) == 3 else (0, 0, 0)
    if step != 1:
        raise node.fail("its limit depends on a dimension; then its step must be 1")
    return counted(
        node, start, node.at_least_0(subtract(limit, start)), 1, node.dtype(node.input(0))
    )


def shape_of(node: OnnxNode) -> Value:
    """Return the shape of a tensor, or a part of it.

    Source: Shape-1 to Shape-25; ``start`` and ``end`` from version 15 on.
    """
    x = node.input(0)
    dims = node.dims(x)
    dims = dims[node.integer("start", 0) : node.integer("end", len(dims))]
    known = [as_int(dim) for dim in dims]
    if None in known:
        return shape_values(node, x, dims)
    return node.constant(np.array(known, dtype=np.int64))


def size_of(node: OnnxNode) -> Value:
    """Return the number of elements.

    Source: Size-1 to Size-25.
    """
    x = node.input(0)
    count = product(node.dims(x))
    if as_int(count) is None:
        return reshape(node, shape_values(node, x, (count,)), ())
    return node.constant(np.array(as_int(count), dtype=np.int64))
