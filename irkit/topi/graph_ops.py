"""Table from graph operators to tensor expressions, with a row for each of ``irkit.graph.OPS`` but
``STORING``."""

from collections.abc import Callable, Sequence
from typing import Any

from irkit import ir
from irkit.core import IRKitError
from irkit.graph import Op, OpOptions, attributes
from irkit.ir import INTRINSICS, Expr
from irkit.te import Tensor, elementwise
from irkit.topi import (
    broadcast,
    elementwise as pointwise,
    index,
    linear,
    nn,
    packed_weights,
    panels,
    quantized_panels,
    reduction,
    shape,
)
from irkit.topi.extents import Dim, known

Tensors = Sequence[Tensor]
Rule = Callable[[Tensors, OpOptions], "Tensor | tuple[Tensor, ...]"]
_ROWS, _COLUMNS = 8, 16
"""The tile of attention for which no pass has chosen one."""


def compute_of(op: Op, args: Tensors, shape: Sequence[Expr]) -> tuple[Tensor, ...]:
    """Return the results of a graph operator on tensors, in order; ``shape`` is that of the first,
    with the dimensions of ``args``.

    Raises: IRKitError if the operator has no row; ShapeError or DTypeError as the operator does.
    """
    shaped = SHAPED.get(op.name)
    if shaped is not None:
        return (shaped(args, attributes(op), [known(dim) for dim in shape]),)
    rule = RULES.get(op.name)
    if rule is None:
        raise IRKitError(f"operator {op.name!r} has no tensor expression")
    found = rule(args, attributes(op))
    return found if isinstance(found, tuple) else (found,)


def _plain(function: Callable[..., Tensor]) -> Rule:
    """Return the rule of an operator without attributes."""
    return lambda args, _: function(*args)


def _scalar(name: str, function: Callable[[Expr, Expr], Expr]) -> Rule:
    """Return the rule of an elementwise operator with broadcasting."""
    return lambda args, _: elementwise(function, *args, name=name)


def _intrinsic(name: str) -> Rule:
    def value(*operands: Expr) -> Expr:
        return ir.call(name, *operands)

    return lambda args, _: elementwise(value, *args, name=name)


def _window(options: OpOptions) -> dict[str, Any]:
    return {name: options.ints(name) for name in ("strides", "pads", "dilations")}


def _conv(args: Tensors, o: OpOptions) -> Tensor:
    return nn.conv(*args, **_window(o), groups=o.int("groups"))


def _attention(args: Tensors, o: OpOptions) -> Tensor:
    rows, columns = o.int("rows") or _ROWS, o.int("columns") or _COLUMNS
    return nn.attention(
        *args,
        scale=o.float("scale"),
        fill=o.float("fill"),
        axes=o.ints("axes"),
        empty=o.flag("empty"),
        rows=rows,
        columns=columns,
        part=o.int("part"),
    )


def _conv_winograd(args: Tensors, o: OpOptions) -> Tensor:
    return nn.conv_winograd(*args, tile=o.int("tile"), rows=o.int("rows"), pads=o.ints("pads"))


def _conv_integer(args: Tensors, o: OpOptions) -> Tensor:
    return nn.conv(*args, **_window(o), groups=o.int("groups"), out_dtype="i32")


def _max_pool(args: Tensors, o: OpOptions) -> Tensor:
    ceil = o.flag("ceil_mode")
    return nn.max_pool(args[0], o.ints("kernel"), **_window(o), ceil_mode=ceil)


def _max_pool_with_indices(args: Tensors, o: OpOptions) -> tuple[Tensor, ...]:
    ceil, column = o.flag("ceil_mode"), bool(o.int("storage_order"))
    kernel = o.ints("kernel")
    return nn.max_pool_with_indices(
        args[0], kernel, **_window(o), ceil_mode=ceil, column_major=column
    )


def _avg_pool(args: Tensors, o: OpOptions) -> Tensor:
    ceil, count = o.flag("ceil_mode"), o.flag("count_include_pad")
    kernel = o.ints("kernel")
    return nn.avg_pool(args[0], kernel, **_window(o), ceil_mode=ceil, count_include_pad=count)


def _reduction(function: Callable[..., Tensor]) -> Rule:
    return lambda args, o: function(args[0], o.ints("axes"), o.flag("keepdims"))


def _arg(function: Callable[..., Tensor]) -> Rule:
    return lambda args, o: function(args[0], o.int("axis"), o.flag("keepdims"), last=o.flag("last"))


def _along(function: Callable[..., Tensor]) -> Rule:
    return lambda args, o: function(args[0], o.int("axis"))


def _pad(args: Tensors, o: OpOptions) -> Tensor:
    (x,) = args
    widths, value = o.ints("pads"), ir.const(o.scalar("value"), x.dtype)
    return shape.pad(x, widths[: x.ndim], widths[x.ndim :], value)


def _lrn(args: Tensors, o: OpOptions) -> Tensor:
    alpha, beta, bias = o.float("alpha"), o.float("beta"), o.float("bias")
    return nn.lrn(args[0], o.int("size"), alpha=alpha, beta=beta, bias=bias)


def _lrn_blocked(args: Tensors, o: OpOptions) -> Tensor:
    alpha, beta, bias = o.float("alpha"), o.float("beta"), o.float("bias")
    return nn.lrn_blocked(args[0], o.int("size"), alpha=alpha, beta=beta, bias=bias)


def _slice(args: Tensors, o: OpOptions) -> Tensor:
    places = (o.ints(name) for name in ("begins", "ends", "strides", "axes"))
    return index.strided_slice(args[0], *places)


SHAPED: dict[str, Callable[[Tensors, OpOptions, Sequence[Dim]], Tensor]] = {
    "broadcast_to": lambda args, o, dims: broadcast.broadcast_to(args[0], tuple(dims)),
    "full": lambda args, o, dims: pointwise.full(tuple(dims), o.scalar("value"), o.dtype("dtype")),
    "reshape": lambda args, o, dims: shape.reshape(args[0], dims),
}
"""Operators whose attribute ``shape`` is the shape of the result, with codes for dimensions."""

STORING = frozenset({"scatter"})
"""Operators that store at computed places, which no tensor expression says."""

RULES: dict[str, Rule] = {
    **{name: _intrinsic(name) for name, row in INTRINSICS.items() if row.on != "effect"},
    "add": _plain(broadcast.add),
    "argmax": _arg(reduction.argmax),
    "argmin": _arg(reduction.argmin),
    "attention": _attention,
    "avg_pool": _avg_pool,
    "batch_norm": lambda args, o: nn.batch_norm(*args, epsilon=o.float("epsilon")),
    "bitwise_and": _scalar("bitwise_and", lambda a, b: a & b),
    "bitwise_or": _scalar("bitwise_or", lambda a, b: a | b),
    "bitwise_xor": _scalar("bitwise_xor", lambda a, b: a ^ b),
    "block_channels": lambda args, o: nn.block_channels(args[0], o.int("lanes")),
    "cast": lambda args, o: pointwise.cast(args[0], o.dtype("dtype")),
    "concat": lambda args, o: shape.concatenate(args, o.int("axis")),
    "conv": _conv,
    "conv_blocked": lambda args, o: nn.conv_blocked(*args, **_window(o)),
    "conv_gathered": lambda args, o: nn.conv_gathered(*args, **_window(o)),
    "conv_integer": _conv_integer,
    "conv_winograd": _conv_winograd,
    "depthwise_blocked": lambda args, o: nn.depthwise_blocked(*args, **_window(o)),
    "divide": _plain(broadcast.divide),
    "equal": _plain(broadcast.equal),
    "expand_dims": lambda args, o: shape.expand_dims(args[0], o.ints("axes")),
    "floor_mod": _plain(broadcast.mod),
    "full_like": lambda args, o: pointwise.full_like(args[0], o.scalar("value")),
    "gather_channels": _plain(nn.gather_channels),
    "greater": _plain(broadcast.greater),
    "greater_equal": _plain(broadcast.greater_equal),
    "identity": _plain(pointwise.identity),
    "less": _plain(broadcast.less),
    "less_equal": _plain(broadcast.less_equal),
    "log_softmax": _along(nn.log_softmax),
    "logical_and": _plain(broadcast.logical_and),
    "logical_not": _plain(broadcast.logical_not),
    "logical_or": _plain(broadcast.logical_or),
    "logical_xor": _scalar("logical_xor", ir.ne),
    "lrn": _lrn,
    "lrn_blocked": _lrn_blocked,
    "matmul": _plain(linear.matmul),
    "matmul_4bit": lambda args, o: packed_weights.matmul_4bit(*args, block=o.int("block")),
    "matmul_8bit": lambda args, o: packed_weights.matmul_8bit(*args, block=o.int("block")),
    "matmul_panels": lambda args, o: panels.matmul_panels(*args, columns=o.int("columns")),
    "matmul_quantized_panels": lambda args, o: quantized_panels.matmul_quantized_panels(
        *args, columns=o.int("columns"), block=o.int("block"), bits=o.int("bits")
    ),
    "matmul_integer": lambda args, o: linear.matmul(*args, out_dtype="i32"),
    "max": _reduction(reduction.max),
    "max_pool": _max_pool,
    "max_pool_with_indices": _max_pool_with_indices,
    "maximum": _plain(broadcast.maximum),
    "mean": _reduction(reduction.mean),
    "min": _reduction(reduction.min),
    "minimum": _plain(broadcast.minimum),
    "multiply": _plain(broadcast.multiply),
    "negative": _plain(pointwise.negative),
    "not_equal": _plain(broadcast.not_equal),
    "pad": _pad,
    "power": _plain(broadcast.power),
    "prod": _reduction(reduction.prod),
    "reciprocal": _plain(pointwise.reciprocal),
    "relu": _plain(nn.relu),
    "shift_left": _scalar("shift_left", lambda a, b: a << b),
    "shift_right": _scalar("shift_right", lambda a, b: a >> b),
    "slice": _slice,
    "softmax": _along(nn.softmax),
    "squeeze": lambda args, o: shape.squeeze(args[0], o.ints("axes")),
    "subtract": _plain(broadcast.subtract),
    "sum": _reduction(reduction.sum),
    "take": lambda args, o: index.take(args[0], args[1], o.int("axis")),
    "transpose": lambda args, o: shape.transpose(args[0], o.ints("axes")),
    "unblock_channels": lambda args, o: nn.unblock_channels(args[0], o.int("channels")),
    "where": _plain(broadcast.where),
}
