"""Normalization of activations: over batches, over channels (in blocks, too), and softmax."""

import numpy as np

from irkit.core import ShapeError
from irkit.graph.ops.blocked import blocked, unblocked
from irkit.graph.ops.linear import widened
from irkit.graph.ops.shapes import (
    expect_dtype,
    expect_extent,
    expect_rank,
    float_type,
    with_axis,
    written,
)
from irkit.graph.ops.spec import Array, Attribute, OpOptions, OpSpec, Tensors
from irkit.graph.types import TensorType, Type
from irkit.ir import as_int


def _channels_first(tensors: Tensors) -> TensorType:
    x = float_type(tensors)
    if len(x.shape) < 2:
        raise ShapeError(f"argument x must be [N, C, ...], found rank {len(x.shape)}")
    return x


def _batch_norm_type(tensors: Tensors, options: OpOptions) -> Type:
    x = _channels_first(tensors)
    for name, given in zip(("scale", "bias", "mean", "var"), tensors[1:], strict=True):
        expect_dtype(name, given, x.dtype)
        expect_rank(name, given, 1, "one number a channel")
        expect_extent(name, given, 0, x.shape[1], "the channels of x")
    return x


def _batch_norm(given: tuple[Array, ...], options: OpOptions) -> Array:
    """Normalize with the given statistics, as in inference."""
    x = widened(given[0])
    shape = (-1, *(1,) * (x.ndim - 2))
    scale, bias, mean, var = (widened(array).reshape(shape) for array in given[1:])
    found = scale * (x - mean) / np.sqrt(var + options.float("epsilon")) + bias
    return found.astype(np.result_type(*given), copy=False)


def _lrn_type(tensors: Tensors, options: OpOptions) -> TensorType:
    x = _channels_first(tensors)
    if options.int("size") < 1:
        raise ShapeError(f"attribute size must be at least 1, found {options.int('size')}")
    return x


def _lrn(given: tuple[Array, ...], options: OpOptions) -> Array:
    """Divide by a power of the sum of squares over ``size`` neighbouring channels."""
    x = widened(given[0])
    size, squares = options.int("size"), np.square(x)
    total = np.zeros_like(x)
    for channel in range(x.shape[1]):
        first = max(0, channel - (size - 1) // 2)
        total[:, channel] = squares[:, first : channel + size // 2 + 1].sum(axis=1)
    scale = options.float("alpha") / size * total + options.float("bias")
    return (x / scale ** options.float("beta")).astype(given[0].dtype, copy=False)


def _lrn_blocked_type(tensors: Tensors, options: OpOptions) -> Type:
    x = _lrn_type(tensors, options)
    if len(x.shape) < 3 or as_int(x.shape[1]) is None or as_int(x.shape[-1]) is None:
        raise ShapeError(
            f"argument x must be [N, B, ..., lanes] with constant B, found {written(x.shape)}"
        )
    return x


def _lrn_blocked(given: tuple[Array, ...], options: OpOptions) -> Array:
    """Normalize in the plain layout, the channels beyond the last included."""
    (x,) = given
    if not x.size:
        return x
    return blocked(_lrn((unblocked(x, x.shape[1] * x.shape[-1]),), options), x.shape[-1])


def _shifted(x: Array, axis: int) -> Array:
    wide = widened(x)
    return wide - wide.max(axis=axis, keepdims=True, initial=-np.inf)


def _softmax(given: tuple[Array, ...], options: OpOptions) -> Array:
    axis = options.int("axis")
    powers = np.exp(_shifted(given[0], axis))
    return (powers / powers.sum(axis=axis, keepdims=True)).astype(given[0].dtype, copy=False)


def _log_softmax(given: tuple[Array, ...], options: OpOptions) -> Array:
    axis = options.int("axis")
    shifted = _shifted(given[0], axis)
    found = shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))
    return found.astype(given[0].dtype, copy=False)


_AXIS = (Attribute("axis", "int", -1),)

_LRN = (
    Attribute("size", "int"),
    Attribute("alpha", "float", 1e-4),
    Attribute("beta", "float", 0.75),
    Attribute("bias", "float", 1.0),
)
NORMALIZATION = (
    OpSpec(
        "batch_norm",
        "broadcast",
        ("x", "scale", "bias", "mean", "var"),
        _batch_norm_type,
        _batch_norm,
        (Attribute("epsilon", "float", 1e-5),),
    ),
    OpSpec(
        "lrn",
        "opaque",
        ("x",),
        _lrn_type,
        _lrn,
        _LRN,
    ),
    OpSpec("lrn_blocked", "opaque", ("x",), _lrn_blocked_type, _lrn_blocked, _LRN),
    OpSpec("softmax", "opaque", ("x",), float_type, _softmax, _AXIS, resolve=with_axis),
    OpSpec("log_softmax", "opaque", ("x",), float_type, _log_softmax, _AXIS, resolve=with_axis),
)
