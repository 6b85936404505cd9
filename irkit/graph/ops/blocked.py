"""Tensors whose channels are cut into blocks of a vector's lanes, and convolutions on them.

A blocked tensor is ``[N, ceil(C / lanes), D..., lanes]``: channel ``c`` stands at
``[n, c // lanes, ..., c % lanes]``, and what is beyond C is 0.
"""

from collections.abc import Sequence

import numpy as np

from irkit.core import ShapeError
from irkit.graph.ops.linear import CONV
from irkit.graph.ops.shapes import (
    Dim,
    expect_dtype,
    expect_extent,
    expect_rank,
    tensor,
    written,
)
from irkit.graph.ops.spec import Array, Attribute, OpOptions, OpSpec, Tensors
from irkit.graph.ops.windows import filled, window_extents
from irkit.graph.types import TensorType, Type
from irkit.ir import as_int


def blocked(x: Array, lanes: int) -> Array:
    """Cut channels into blocks. Shapes: [N, C, D...] -> [N, ceil(C / lanes), D..., lanes]."""
    count = -(-x.shape[1] // lanes)
    widths = [(0, 0), (0, count * lanes - x.shape[1]), *[(0, 0)] * (x.ndim - 2)]
    apart = np.pad(x, widths).reshape(x.shape[0], count, lanes, *x.shape[2:])
    return np.ascontiguousarray(np.moveaxis(apart, 2, -1))


def unblocked(x: Array, channels: int) -> Array:
    """Join blocks of channels. Shapes: [N, B, D..., lanes] -> [N, channels, D...]."""
    apart = np.moveaxis(x, -1, 2)
    return apart.reshape(x.shape[0], x.shape[1] * x.shape[-1], *x.shape[2:-1])[:, :channels]


def packed_filters(w: Array, inner: int, lanes: int) -> Array:
    """Pack the filters of a convolution for ``conv_blocked``; what is beyond is 0.

    Shapes: [K, C, R...] -> [ceil(K / lanes), ceil(C / inner), R..., inner, lanes].
    """
    filters, channels = -(-w.shape[0] // lanes), -(-w.shape[1] // inner)
    widths = [(0, filters * lanes - w.shape[0]), (0, channels * inner - w.shape[1])]
    whole = np.pad(w, [*widths, *[(0, 0)] * (w.ndim - 2)])
    apart = whole.reshape(filters, lanes, channels, inner, *w.shape[2:])
    rest = range(4, apart.ndim)
    return np.ascontiguousarray(apart.transpose(0, 2, *rest, 3, 1))


def _plain_filters(w: Array) -> Array:
    """Return the filters as ``conv`` takes them, the channels beyond the last included."""
    rest = range(2, w.ndim - 2)
    apart = w.transpose(0, w.ndim - 1, 1, w.ndim - 2, *rest)
    return apart.reshape(w.shape[0] * w.shape[-1], w.shape[1] * w.shape[-2], *w.shape[2:-2])


def _blocks(x: TensorType, lanes: int) -> int:
    channels = as_int(x.shape[1]) if len(x.shape) > 1 else None
    if channels is None or lanes < 1:
        raise ShapeError(
            f"argument x must be [N, C, ...] with a constant number of channels, and lanes at "
            f"least 1; found {written(x.shape)} and lanes {lanes}"
        )
    return -(-channels // lanes)


def _block_type(tensors: Tensors, options: OpOptions) -> Type:
    (x,) = tensors
    lanes = options.int("lanes")
    return tensor((*x.shape[:1], _blocks(x, lanes), *x.shape[2:], lanes), x.dtype)


def _unblock_type(tensors: Tensors, options: OpOptions) -> Type:
    (x,) = tensors
    channels = options.int("channels")
    if len(x.shape) < 3 or (lanes := as_int(x.shape[-1])) is None or not lanes or channels < 1:
        raise ShapeError(
            f"argument x must be [N, B, ..., lanes], and channels at least 1; found "
            f"{written(x.shape)} and channels {channels}"
        )
    expect_extent("x", x, 1, -(-channels // lanes), f"the blocks of {channels} channels")
    return tensor((x.shape[0], channels, *x.shape[2:-1]), x.dtype)


def _conv_options(ranks: tuple[int, ...], options: OpOptions) -> OpOptions:
    spatial = ranks[1] - 4
    if spatial < 1 or ranks[0] not in (spatial + 2, spatial + 3):
        raise ShapeError(
            f"arguments must be x [N, B, D..., c] or [N, c, D...] and w [K, B, R..., c, k], found "
            f"ranks {ranks[0]} and {ranks[1]}"
        )
    return filled(options, spatial)


def _conv_type(tensors: Tensors, options: OpOptions) -> Type:
    x, w, *bias = tensors
    expect_dtype("w", w, x.dtype)
    if any(as_int(extent) is None for extent in w.shape):
        raise ShapeError(f"argument w must have a constant shape, found {written(w.shape)}")
    spatial = len(w.shape) - 4
    is_blocked = len(x.shape) == spatial + 3
    expect_extent("w", w, 1, x.shape[1] if is_blocked else 1, "the blocks of channels of x")
    inner = x.shape[-1] if is_blocked else x.shape[1]
    expect_extent("w", w, spatial + 2, inner, "the channels of a block of x")
    return convolved_type(x, w, w.shape[2:-2], bias, options)


def convolved_type(
    x: TensorType,
    w: TensorType,
    window: Sequence[Dim],
    bias: Sequence[TensorType],
    options: OpOptions,
) -> Type:
    """Return the type of a convolution by blocks of filters, the first dimension of w, whose last
    one are lanes, and check the bias.

    Shapes: x [N, C, D...] with or without lanes, bias [blocks, lanes] -> [N, blocks, P..., lanes].
    """
    for each in bias:
        expect_dtype("b", each, x.dtype)
        expect_rank("b", each, 2, "[blocks, lanes]")
        expect_extent("b", each, 0, w.shape[0], "the blocks of filters")
        expect_extent("b", each, 1, w.shape[-1], "the filters of a block")
    extents = window_extents(x.shape[2 : 2 + len(window)], window, options)
    return tensor((x.shape[0], w.shape[0], *extents, w.shape[-1]), x.dtype)


def _conv(given: tuple[Array, ...], options: OpOptions) -> Array:
    """Convolve in the plain layout, with the channels beyond the last."""
    x, w, *bias = given
    if x.ndim == w.ndim - 1:
        x = unblocked(x, x.shape[1] * x.shape[-1])
    plain = (x, _plain_filters(w), *(each.reshape(-1) for each in bias))
    made = CONV.arrays(plain, options.replace(groups=1))
    assert isinstance(made, np.ndarray)
    return blocked(made, w.shape[-1])


def _depthwise_options(ranks: tuple[int, ...], options: OpOptions) -> OpOptions:
    if ranks[1] < 3 or ranks[0] != ranks[1] + 1:
        raise ShapeError(
            f"arguments must be x [N, B, D..., c] and w [B, R..., c], found ranks {ranks[0]} and "
            f"{ranks[1]}"
        )
    return filled(options, ranks[1] - 2)


def _depthwise_type(tensors: Tensors, options: OpOptions) -> Type:
    x, w, *bias = tensors
    expect_dtype("w", w, x.dtype)
    expect_extent("w", w, 0, x.shape[1], "the blocks of channels of x")
    expect_extent("w", w, len(w.shape) - 1, x.shape[-1], "the channels of a block of x")
    return convolved_type(x, w, w.shape[1:-1], bias, options)


def _depthwise(given: tuple[Array, ...], options: OpOptions) -> Array:
    """Convolve in the plain layout, each channel a group."""
    x, w, *bias = given
    channels = w.shape[0] * w.shape[-1]
    filters = np.moveaxis(w, -1, 1).reshape(channels, 1, *w.shape[1:-1])
    plain = (unblocked(x, channels), filters, *(each.reshape(-1) for each in bias))
    made = CONV.arrays(plain, options.replace(groups=channels))
    assert isinstance(made, np.ndarray)
    return blocked(made, w.shape[-1])


_WINDOW = (
    Attribute("strides", "ints", ()),
    Attribute("pads", "ints", ()),
    Attribute("dilations", "ints", ()),
)

BLOCKED = (
    OpSpec(
        "block_channels",
        "injective",
        ("x",),
        _block_type,
        lambda given, options: blocked(given[0], options.int("lanes")),
        (Attribute("lanes", "int"),),
    ),
    OpSpec(
        "unblock_channels",
        "injective",
        ("x",),
        _unblock_type,
        lambda given, options: unblocked(given[0], options.int("channels")),
        (Attribute("channels", "int"),),
    ),
    OpSpec(
        "conv_blocked",
        "complex",
        ("x", "w", "b"),
        _conv_type,
        _conv,
        _WINDOW,
        optional=1,
        resolve=_conv_options,
    ),
    OpSpec(
        "depthwise_blocked",
        "complex",
        ("x", "w", "b"),
        _depthwise_type,
        _depthwise,
        _WINDOW,
        optional=1,
        resolve=_depthwise_options,
    ),
)
