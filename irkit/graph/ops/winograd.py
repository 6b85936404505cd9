"""Convolution with filters of 3 x 3 by Winograd's minimal filtering, in a blocked layout.

A tile of ``tile`` x ``tile`` results needs ``(tile + 2)**2`` multiplications for each pair of
channels instead of ``9 * tile**2``: 16 instead of 36, or 36 instead of 144. Image and filters are
transformed by small constant matrices, multiplied position by position, and transformed back.
Source: Lavin and Gray, "Fast algorithms for convolutional neural networks", 2016.
"""

from collections.abc import Sequence
from functools import reduce
from math import prod

import numpy as np
from numpy.typing import NDArray

from irkit.core import DTypeError, OptionError, ShapeError
from irkit.graph.ops.shapes import (
    expect_dtype,
    expect_extent,
    expect_rank,
    tensor,
    written,
)
from irkit.graph.ops.spec import Array, Attribute, OpOptions, OpSpec, Tensors
from irkit.graph.ops.windows import window_extents
from irkit.graph.types import TensorType, Type
from irkit.ir import F32, F64, as_int

Matrix = NDArray[np.float64]


def _matrix(text: str) -> Matrix:
    return np.array([[float(each) for each in row.split()] for row in text.split("/")])


_IMAGE = {
    2: _matrix("1 0 -1 0 / 0 1 1 0 / 0 -1 1 0 / 0 1 0 -1"),
    4: _matrix(
        "4 0 -5 0 1 0 / 0 -4 -4 1 1 0 / 0 4 -4 -1 1 0 / "
        "0 -2 -1 2 1 0 / 0 2 -1 -2 1 0 / 0 4 0 -5 0 1"
    ),
}
_FILTER = {
    2: _matrix("2 0 0 / 1 1 1 / 1 -1 1 / 0 0 2") / 2,
    4: _matrix("6 0 0 / -4 -4 -4 / -4 4 -4 / 1 2 4 / 1 -2 4 / 0 0 24") / 24,
}
_RESULT = {
    2: _matrix("1 1 1 0 / 0 1 -1 -1"),
    4: _matrix("1 1 1 1 1 0 / 0 1 -1 2 -2 0 / 0 1 1 4 4 0 / 0 1 -1 8 -8 1"),
}


def winograd_filters(w: Array, tile: int, panels: int, vectors: int) -> Array:
    """Transform packed filters of ``conv_blocked``, in f64, for chunks of so many panels of so many
    blocks of filters.

    Shapes: [K, B, 3, 3, c, k] -> [K // (panels * vectors), tile + 2, tile + 2, panels, B, c,
    vectors, k].
    """
    kernels, blocks, _, _, inner, lanes = w.shape
    apart = w.reshape(-1, panels, vectors, *w.shape[1:])
    made = np.empty(
        (len(apart), tile + 2, tile + 2, panels, blocks, inner, vectors, lanes), w.dtype
    )
    for panel in range(kernels // vectors):
        chunk, at = divmod(panel, panels)
        taps = np.moveaxis(apart[chunk, at].astype(np.float64), (2, 3), (0, 1))
        across = [_combined(_FILTER[tile], row) for row in taps]
        for j in range(tile + 2):
            for i, each in enumerate(_combined(_FILTER[tile], [row[j] for row in across])):
                # From [vectors, B, c, k].
                made[chunk, i, j, at] = each.transpose(1, 2, 0, 3)
    made.flags.writeable = False  # Nobody else has it, so it need not be copied.
    return made


def _combined(matrix: Matrix, rows: Sequence[Array]) -> list[Array]:
    """Return the sums of rows that a matrix of few numbers, many of them 0 or 1, gives."""
    made: list[Array] = []
    for numbers in matrix:
        terms = (number * row for number, row in zip(numbers, rows, strict=True) if number)
        made.append(reduce(np.add, terms))
    return made


def _type(tensors: Tensors, options: OpOptions) -> Type:
    x, u, *bias = tensors
    tile, rows = options.int("tile"), options.int("rows")
    if tile not in _IMAGE or rows < 1:
        raise OptionError(
            f"attribute tile must be 2 or 4, and rows at least 1, found {tile} and {rows}"
        )
    if x.dtype not in (F32, F64):
        raise DTypeError(f"argument x must be f32 or f64, found {x.dtype}")
    expect_dtype("u", u, x.dtype)
    expect_rank("x", x, 5, "[N, B, H, W, c]")
    expect_rank("u", u, 8, "[chunks, tile + 2, tile + 2, panels, B, c, vectors, k]")
    if any(as_int(extent) is None for extent in (*x.shape[1:], *u.shape)):
        raise ShapeError(
            f"all extents but the first must be constant, found x {written(x.shape)}, u "
            f"{written(u.shape)}"
        )
    for axis in (1, 2):
        expect_extent("u", u, axis, tile + 2, "tile + 2")
    expect_extent("u", u, 4, x.shape[1], "the blocks of channels of x")
    expect_extent("u", u, 5, x.shape[4], "the channels of a block of x")
    blocks = _blocks(u)
    for each in bias:
        expect_dtype("b", each, x.dtype)
        expect_rank("b", each, 2, "[blocks, lanes]")
        expect_extent("b", each, 0, blocks, "the blocks of filters")
        expect_extent("b", each, 1, u.shape[7], "the filters of a block")
    window = options.replace(strides=(1, 1), dilations=(1, 1))
    extents = window_extents(x.shape[2:4], (3, 3), window)
    return tensor((x.shape[0], blocks, *extents, u.shape[7]), x.dtype)


def _blocks(u: TensorType) -> int:
    """Return the number of blocks of filters."""
    return prod(as_int(u.shape[at]) or 0 for at in (0, 3, 6))


def _convolve(given: tuple[Array, ...], options: OpOptions) -> Array:
    """Transform, multiply and transform back in f64, by products with the matrices."""
    x, u, *bias = given
    tile, (top, left, bottom, right) = options.int("tile"), options.ints("pads")
    height, width = x.shape[2] + top + bottom - 2, x.shape[3] + left + right - 2
    down, across = -(-height // tile), -(-width // tile)
    padded = np.pad(
        x.astype(np.float64),
        (
            (0, 0),
            (0, 0),
            (top, down * tile + 2 - top - x.shape[2]),
            (left, across * tile + 2 - left - x.shape[3]),
            (0, 0),
        ),
    )
    sides = (tile + 2, tile + 2)
    tiles = np.lib.stride_tricks.sliding_window_view(padded, sides, (2, 3))[:, :, ::tile, ::tile]
    image, result = _IMAGE[tile], _RESULT[tile]
    there = np.einsum("ia,nbyxcad,jd->nbyxcij", image, tiles, image)
    wide = np.einsum("nbyxcij,qijpbcvk->nqpvyxkij", there, u.astype(np.float64), optimize=True)
    back = np.einsum("ai,nqpvyxkij,cj->nqpvyaxck", result, wide, result)
    whole = back.reshape(x.shape[0], -1, down * tile, across * tile, u.shape[-1])
    for each in bias:
        whole = whole + each.astype(np.float64)[:, None, None, :]
    return np.ascontiguousarray(whole[:, :, :height, :width]).astype(x.dtype)


def _resolved(ranks: tuple[int, ...], options: OpOptions) -> OpOptions:
    pads = options.ints("pads") or (0, 0, 0, 0)
    if len(pads) != 4 or min(pads) < 0:
        raise ShapeError(f"attribute pads must be 4 integers of at least 0, found {pads}")
    return options.replace(pads=pads)


WINOGRAD = (
    OpSpec(
        "conv_winograd",
        "complex",
        ("x", "u", "b"),
        _type,
        _convolve,
        (
            Attribute("tile", "int"),
            Attribute("rows", "int"),
            Attribute("pads", "ints", ()),
        ),
        optional=1,
        resolve=_resolved,
    ),
)
