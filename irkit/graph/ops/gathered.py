"""Channels of tensors in blocks that a table names, and convolutions that read them.

Number ``p`` of a table is lane ``p % lanes`` of block ``p // lanes``.
"""

import numpy as np

from irkit.core import DTypeError, ShapeError
from irkit.graph.ops.blocked import blocked, convolved_type, unblocked
from irkit.graph.ops.linear import CONV
from irkit.graph.ops.shapes import expect_dtype, expect_extent, expect_rank, tensor, written
from irkit.graph.ops.spec import Array, Attribute, OpOptions, OpSpec, Tensors
from irkit.graph.ops.windows import filled
from irkit.graph.types import TensorType, Type
from irkit.ir import as_int


def _expect_table(x: TensorType, channels: TensorType) -> None:
    if not channels.dtype.is_integer:
        raise DTypeError(f"argument channels must be integers, found {channels.dtype}")
    expect_rank("channels", channels, 2, "numbers of channels")
    if as_int(x.shape[-1]) is None or as_int(x.shape[1]) is None:
        raise ShapeError(
            f"argument x must be [N, B, ..., lanes] with constant B, found {written(x.shape)}"
        )
    if not as_int(x.shape[-1]) or not as_int(x.shape[1]):
        raise ShapeError(f"argument x has no channels: its shape is {written(x.shape)}")


def _gather_type(tensors: Tensors, options: OpOptions) -> Type:
    x, channels = tensors
    if len(x.shape) < 3:
        raise ShapeError(f"argument x must be [N, B, ..., lanes], found {written(x.shape)}")
    _expect_table(x, channels)
    return tensor((x.shape[0], channels.shape[0], *x.shape[2:-1], channels.shape[1]), x.dtype)


def _plain(x: Array) -> Array:
    return unblocked(x, x.shape[1] * x.shape[-1])


def _gather(given: tuple[Array, ...], options: OpOptions) -> Array:
    """Pick channels; negative numbers give 0, and those beyond the last are moved to it."""
    x, channels = given
    count = x.shape[1] * x.shape[-1]
    numbers = channels.reshape(-1).astype(np.int64)
    taken = np.take(_plain(x), np.clip(numbers, 0, count - 1), axis=1)
    kept = (numbers >= 0).reshape(-1, *(1,) * (taken.ndim - 2))
    whole = np.where(kept, taken, np.zeros((), x.dtype))
    return (
        blocked(whole, channels.shape[1])
        if channels.size
        else np.zeros((x.shape[0], channels.shape[0], *x.shape[2:-1], channels.shape[1]), x.dtype)
    )


def _conv_options(ranks: tuple[int, ...], options: OpOptions) -> OpOptions:
    spatial = ranks[2] - 3
    if spatial < 1 or ranks[0] != spatial + 3:
        raise ShapeError(
            f"arguments must be x [N, B, D..., c] and w [K, R..., C, k], found ranks {ranks[0]} "
            f"and {ranks[2]}"
        )
    return filled(options, spatial)


def _conv_type(tensors: Tensors, options: OpOptions) -> Type:
    x, channels, w, *bias = tensors
    expect_dtype("w", w, x.dtype)
    if any(as_int(extent) is None for extent in w.shape):
        raise ShapeError(f"argument w must have a constant shape, found {written(w.shape)}")
    _expect_table(x, channels)
    expect_extent("w", w, len(w.shape) - 2, channels.shape[1], "the channels of a group")
    groups, filters = as_int(channels.shape[0]), as_int(w.shape[0])
    if not groups or filters is None or filters % groups:
        raise ShapeError(
            f"argument channels must have a row for each group of filters: {filters} blocks cannot "
            f"be divided into {groups} groups"
        )
    return convolved_type(x, w, w.shape[1:-2], bias, options)


def _conv(given: tuple[Array, ...], options: OpOptions) -> Array:
    """Convolve in the plain layout, by the channels of each group behind those of the one before;
    numbers outside are moved to the nearest."""
    x, channels, w, *bias = given
    groups, lanes = len(channels), w.shape[-1]
    inside = np.clip(channels.reshape(-1).astype(np.int64), 0, x.shape[1] * x.shape[-1] - 1)
    filters = np.moveaxis(np.moveaxis(w, -2, 1), -1, 1).reshape(-1, w.shape[-2], *w.shape[1:-2])
    plain = (np.take(_plain(x), inside, axis=1), filters, *(each.reshape(-1) for each in bias))
    made = CONV.arrays(plain, options.replace(groups=groups))
    assert isinstance(made, np.ndarray)
    return blocked(made, lanes)


GATHERED = (
    OpSpec("gather_channels", "injective", ("x", "channels"), _gather_type, _gather),
    OpSpec(
        "conv_gathered",
        "complex",
        ("x", "channels", "w", "b"),
        _conv_type,
        _conv,
        (
            Attribute("strides", "ints", ()),
            Attribute("pads", "ints", ()),
            Attribute("dilations", "ints", ()),
        ),
        optional=1,
        resolve=_conv_options,
    ),
)
