"""Attention: a product, softmax and a product as one operator."""

import numpy as np

from irkit.core import DTypeError, OptionError, ShapeError
from irkit.graph.ops.linear import widened
from irkit.graph.ops.shapes import (
    broadcast,
    expect_dtype,
    same_extent,
    tensor,
    written,
)
from irkit.graph.ops.spec import Array, Attribute, OpOptions, OpSpec, Tensors
from irkit.graph.types import Type

_TILE = ("rows", "columns", "part")


def _type(tensors: Tensors, options: OpOptions) -> Type:
    q, k, v, *mask = tensors
    if not q.dtype.is_float:
        raise DTypeError(f"argument q must be floats, found {q.dtype}")
    for name, other in (("k", k), ("v", v)):
        expect_dtype(name, other, q.dtype)
    for name, other in zip("qkv", (q, k, v), strict=True):
        if len(other.shape) < 2:
            raise ShapeError(
                f"argument {name} must have rank 2 or more, found {written(other.shape)}"
            )
    for name, other, row, like, axis in (("k", k, -2, q, -1), ("v", v, -2, k, -1)):
        if not same_extent(like.shape[axis], other.shape[row]):
            raise ShapeError(
                f"argument {name}: expected {written(like.shape[axis:])[1:-1]} along axis -2, "
                f"found shape {written(other.shape)}"
            )
    shapes = [q.shape[:-2], k.shape[:-2], v.shape[:-2]]
    for each in mask:
        if not each.dtype.is_bool:
            expect_dtype("mask", each, q.dtype)
        scores = (q.shape[-2], k.shape[-1])
        own = each.shape[-2:]
        for extent, wanted in zip(reversed(own), reversed(scores), strict=False):
            if not same_extent(extent, 1) and not same_extent(extent, wanted):
                raise ShapeError(
                    f"argument mask: expected the last axes to broadcast to {written(scores)}, "
                    f"found shape {written(each.shape)}"
                )
        shapes.append(each.shape[:-2])
    names = ("q", "k", "v", "mask")[: len(shapes)]
    whole = (*broadcast(names, tuple(shapes)), q.shape[-2], v.shape[-1])
    axes = options.ints("axes")
    if axes and sorted(axes) != list(range(len(whole))):
        raise ShapeError(f"attribute axes must order {len(whole)} axes, found {axes}")
    return tensor([whole[axis] for axis in axes] if axes else whole, q.dtype)


def _attention(given: tuple[Array, ...], options: OpOptions) -> Array:
    """Compute the whole matrix of scores, in f32 for 16-bit floats."""
    q, k, v, *mask = given
    scale = widened(q).dtype.type(options.float("scale"))
    scores: Array = widened(q) @ widened(k) * scale
    for each in mask:
        if each.dtype == np.bool_:
            scores = np.where(each, scores, scores.dtype.type(options.float("fill")))
        else:
            scores = scores + widened(each)
    top: Array = scores.max(axis=-1, keepdims=True, initial=-np.inf)
    powers: Array = np.exp(scores - top)
    weights: Array = powers / powers.sum(axis=-1, keepdims=True)
    if options.flag("empty"):
        weights = np.where(np.isneginf(top), np.zeros_like(weights), weights)
    found: Array = weights @ widened(v)
    axes = options.ints("axes")
    found = found.transpose(axes) if axes else found
    return np.ascontiguousarray(found).astype(q.dtype, copy=False)


def _resolved(ranks: tuple[int, ...], options: OpOptions) -> OpOptions:
    sizes = [options.int(name) for name in _TILE]
    if min(sizes) < 0:
        raise OptionError(f"attributes rows, columns and part must be at least 0, found {sizes}")
    rank, axes = max(2, *ranks), options.ints("axes")
    return options.replace(axes=tuple(axis + rank if axis < 0 else axis for axis in axes))


ATTENTION = (
    OpSpec(
        "attention",
        "complex",
        ("q", "k", "v", "mask"),
        _type,
        _attention,
        (
            Attribute("scale", "float", 1.0),
            Attribute("fill", "float", -np.inf),
            Attribute("axes", "ints", ()),
            Attribute("empty", "bool", False),
            *(Attribute(name, "int", 0) for name in _TILE),
        ),
        optional=1,
        resolve=_resolved,
    ),
)
"""softmax(q @ k * scale + mask) @ v: q [..., N, D], k [..., D, M], v [..., M, E], mask [..., N, M].

A mask of floats is added; where one of bools is False, the score is ``fill``. A row whose scores
are all -inf has no number, or 0 with ``empty``. ``axes`` order the
axes of the result, as those of a transpose do. ``rows`` queries make a tile, ``columns`` keys or
features a panel; ``part`` panels of keys have a maximum of their own. With 0, the pass
fuse-attention chooses.
"""
