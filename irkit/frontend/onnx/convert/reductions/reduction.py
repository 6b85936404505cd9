"""Reductions over axes, and the places of extremes."""

from collections.abc import Callable

from irkit.frontend.onnx.convert.math import wide_float
from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.graph import Value
from irkit.ir import U8

_AXES_ARE_INPUTS = {"ReduceSum": 13}
"""The version from which axes are an input; 18 for the others."""
_Reduce = Callable[[OnnxNode, Value, "tuple[int, ...]", bool], Value]


def reduction(name: str) -> Callable[[OnnxNode], Value]:
    """Convert a reduction to the graph operator of that name.

    Source: ReduceSum, ReduceMean, ReduceProd, ReduceMax and ReduceMin, in every version.
    """

    def reduce(node: OnnxNode, x: Value, axes: tuple[int, ...], keep: bool) -> Value:
        if not axes:
            return x
        if node.dtype(x).is_bool:
            narrow = node.op(name, node.cast(x, U8), axes=axes, keepdims=keep)
            return node.cast(narrow, node.dtype(x))
        return node.op(name, x, axes=axes, keepdims=keep)

    return lambda node: _reduced(node, reduce)


def reduce_l1(node: OnnxNode) -> Value:
    """Add magnitudes. Source: ReduceL1-1 to ReduceL1-18."""
    return _reduced(node, lambda node, x, axes, keep: _sum(node, node.op("abs", x), axes, keep))


def reduce_l2(node: OnnxNode) -> Value:
    """Return the root of the sum of squares. Source: ReduceL2-1 to ReduceL2-18."""

    def reduce(node: OnnxNode, x: Value, axes: tuple[int, ...], keep: bool) -> Value:
        wide = wide_float(node, x)
        total = _sum(node, node.op("multiply", wide, wide), axes, keep)
        return node.cast(node.op("sqrt", total), node.dtype(x))

    return _reduced(node, reduce)


def reduce_log_sum(node: OnnxNode) -> Value:
    """Return the logarithm of the sum. Source: ReduceLogSum-1 to ReduceLogSum-28."""

    def reduce(node: OnnxNode, x: Value, axes: tuple[int, ...], keep: bool) -> Value:
        total = _sum(node, wide_float(node, x), axes, keep)
        return node.cast(node.op("log", total), node.dtype(x))

    return _reduced(node, reduce)


def reduce_log_sum_exp(node: OnnxNode) -> Value:
    """Return the logarithm of the sum of exponentials, without overflow.

    Source: ReduceLogSumExp-1 to ReduceLogSumExp-28.
    """

    def reduce(node: OnnxNode, x: Value, axes: tuple[int, ...], keep: bool) -> Value:
        wide = wide_float(node, x)
        if not axes:
            return x
        peak = node.op("max", wide, axes=axes, keepdims=True)
        # An infinite peak would give NaN: it is left in.
        finite = node.op("where", node.op("isfinite", peak), peak, 0)
        powers = node.op("exp", node.op("subtract", wide, finite))
        total = node.op("add", node.op("log", _sum(node, powers, axes, True)), finite)
        if not keep:
            kept = [dim for at, dim in enumerate(node.shape(total)) if at not in axes]
            total = node.op("reshape", total, shape=tuple(kept))
        return node.cast(total, node.dtype(x))

    return _reduced(node, reduce)


def reduce_sum_square(node: OnnxNode) -> Value:
    """Add squares. Source: ReduceSumSquare-1 to ReduceSumSquare-18."""
    return _reduced(
        node, lambda node, x, axes, keep: _sum(node, node.op("multiply", x, x), axes, keep)
    )


def _sum(node: OnnxNode, x: Value, axes: tuple[int, ...], keep: bool) -> Value:
    return node.op("sum", x, axes=axes, keepdims=keep) if axes else x


def _reduced(node: OnnxNode, reduce: _Reduce) -> Value:
    x = node.input(0)
    if node.version >= _AXES_ARE_INPUTS.get(node.proto.op_type, 18):
        given = node.ints(1, "axes")
    else:
        given = node.integers("axes", ())
    if given:
        axes = tuple(sorted({node.axis(axis, node.rank(x)) for axis in given}))
    else:
        nothing = bool(node.integer("noop_with_empty_axes", 0))
        axes = () if nothing else tuple(range(node.rank(x)))
    return reduce(node, x, axes, bool(node.integer("keepdims", 1)))


def arg(name: str) -> Callable[[OnnxNode], Value]:
    """Convert ArgMax or ArgMin to the graph operator of that name.

    Source: ArgMax-1 to ArgMax-13; from version 12 on, the last of equal elements can be asked for.
    """

    def convert(node: OnnxNode) -> Value:
        x = node.input(0)
        return node.op(
            name,
            x,
            axis=node.axis(node.integer("axis", 0), node.rank(x)),
            keepdims=bool(node.integer("keepdims", 1)),
            last=bool(node.integer("select_last_index", 0)),
        )

    return convert
