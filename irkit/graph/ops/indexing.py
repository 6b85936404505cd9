"""Operators that join, slice, pad, gather or fill arrays."""

import numpy as np

from irkit.core import DTypeError, ShapeError
from irkit.graph.ops.shapes import (
    add,
    checked_axes,
    decoded,
    dim,
    expect_dtype,
    expect_extent,
    expect_rank,
    tensor,
    types_of,
    with_axis,
    written,
)
from irkit.graph.ops.spec import Array, Attribute, OpOptions, OpSpec, Tensors
from irkit.graph.types import TensorType, Type
from irkit.ir import DType, Expr, as_int, const, numpy_dtype


def _concat_type(tensors: Tensors, options: OpOptions) -> Type:
    first, axis = tensors[0], options.int("axis")
    for position, given in enumerate(tensors[1:], 1):
        name = f"xs[{position}]"
        expect_dtype(name, given, first.dtype)
        expect_rank(name, given, len(first.shape), "as xs[0]")
        for at, extent in enumerate(first.shape):
            if at != axis:
                expect_extent(name, given, at, extent, "as xs[0]")
    whole, rest = 0, list[Expr]()
    for given in tensors:
        extent = as_int(given.shape[axis])
        whole += extent or 0
        rest += [given.shape[axis]] if extent is None else []
    total: Expr = dim(whole)
    for at, extent in enumerate(rest):
        total = extent if at == 0 and whole == 0 else total + extent
    return TensorType((*first.shape[:axis], total, *first.shape[axis + 1 :]), first.dtype)


def _concat(given: tuple[Array, ...], options: OpOptions) -> Array:
    return np.concatenate(given, axis=options.int("axis"))


def _slice_options(ranks: tuple[int, ...], options: OpOptions) -> OpOptions:
    begins, ends = options.ints("begins"), options.ints("ends")
    axes = options.ints("axes") or tuple(range(len(begins)))
    strides = options.ints("strides") or (1,) * len(begins)
    if not len(begins) == len(ends) == len(axes) == len(strides):
        raise ShapeError(
            "begins, ends, axes and strides must have the same length, found "
            f"{len(begins)}, {len(ends)}, {len(axes)} and {len(strides)}"
        )
    if 0 in strides:
        raise ShapeError("attribute strides must not hold 0")
    return options.replace(axes=checked_axes(axes, ranks[0]), strides=strides)


def _slices(options: OpOptions) -> dict[int, slice]:
    names = ("begins", "ends", "strides")
    columns = zip(*(options.ints(name) for name in names), strict=True)
    cuts = (slice(begin, end, stride) for begin, end, stride in columns)
    return dict(zip(options.ints("axes"), cuts, strict=True))


def _slice_type(tensors: Tensors, options: OpOptions) -> Type:
    (x,) = tensors
    shape = list(x.shape)
    for axis, cut in _slices(options).items():
        extent = as_int(x.shape[axis])
        if extent is None:
            raise ShapeError(
                f"argument x must be of constant extent along the sliced axis {axis}, found "
                f"{written(x.shape)}"
            )
        shape[axis] = dim(len(range(*cut.indices(extent))))
    return TensorType(tuple(shape), x.dtype)


def _slice(given: tuple[Array, ...], options: OpOptions) -> Array:
    (x,) = given
    cuts = _slices(options)
    # NumPy counts an end of -1 from the back, so explicit indices are used.
    chosen: list[object] = [
        np.arange(*cuts[axis].indices(n)) if axis in cuts else np.arange(n)
        for axis, n in enumerate(x.shape)
    ]
    return x[np.ix_(*chosen)] if chosen else x  # pyright: ignore[reportArgumentType, reportCallIssue] -- integer arrays


def _pad_options(ranks: tuple[int, ...], options: OpOptions) -> OpOptions:
    if len(options.ints("pads")) != 2 * ranks[0]:
        raise ShapeError(
            f"attribute pads must be {2 * ranks[0]} integers (begins, then ends), found "
            f"{options.ints('pads')}"
        )
    return options


def _pad_type(tensors: Tensors, options: OpOptions) -> Type:
    (x,) = tensors
    pads, rank = options.ints("pads"), len(x.shape)
    shape = [add(extent, pads[at] + pads[rank + at]) for at, extent in enumerate(x.shape)]
    if any((as_int(extent) or 0) < 0 for extent in shape):
        raise ShapeError(f"pads {pads} leave no element of argument x of shape {written(x.shape)}")
    _value(options, x.dtype)
    return tensor(shape, x.dtype)


def _pad(given: tuple[Array, ...], options: OpOptions) -> Array:
    """Pad with a value; negative pads crop, also what the other end was padded with."""
    (x,) = given
    before, after = options.ints("pads")[: x.ndim], options.ints("pads")[x.ndim :]
    shape = [n + a + b for n, a, b in zip(x.shape, before, after, strict=True)]
    padded = np.full(shape, np.asarray(options.scalar("value")).astype(x.dtype), x.dtype)
    sides = zip(x.shape, shape, before, strict=True)
    kept = [range(max(-a, 0), min(n, m - a)) for n, m, a in sides]
    if all(kept):
        to = tuple(slice(k.start + a, k.stop + a) for k, a in zip(kept, before, strict=True))
        padded[to] = x[tuple(slice(k.start, k.stop) for k in kept)]
    return padded


def _take_type(tensors: Tensors, options: OpOptions) -> Type:
    x, indices = tensors
    axis = options.int("axis")
    if not indices.dtype.is_integer:
        raise DTypeError(f"argument indices must be integers, found {indices.dtype}")
    return TensorType((*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]), x.dtype)


def _take(given: tuple[Array, ...], options: OpOptions) -> Array:
    """Gather along an axis; negative indices count from the end, others are clamped to the range.
    What is taken from an axis without elements is 0."""
    x, indices = given
    axis = options.int("axis")
    extent = x.shape[axis]
    wide = indices.astype(np.int64)
    if extent == 0:
        return np.zeros((*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]), x.dtype)
    inside = np.clip(np.where(wide < 0, wide + extent, wide), 0, extent - 1)
    return np.take(x, inside, axis=axis)


def _value(options: OpOptions, dtype: DType) -> "int | float | bool":
    """Return the attribute ``value`` as one of a type.

    Raises: DTypeError if the type cannot represent it.
    """
    const(options.scalar("value"), dtype)
    return options.scalar("value")


def _full_options(ranks: tuple[int, ...], options: OpOptions) -> OpOptions:
    if any(extent < 0 and (not ranks or extent == -1) for extent in options.ints("shape")):
        raise ShapeError(f"attribute shape must not be negative, found {options.ints('shape')}")
    return options


def _full_type(tensors: Tensors, options: OpOptions) -> Type:
    _value(options, options.dtype("dtype"))
    return tensor(decoded(options.ints("shape"), tensors), options.dtype("dtype"))


def _full(given: tuple[Array, ...], options: OpOptions) -> Array:
    dtype = numpy_dtype(options.dtype("dtype"))
    shape = [as_int(dim) or 0 for dim in decoded(options.ints("shape"), types_of(given))]
    return np.full(shape, options.scalar("value"), dtype)


def _full_like_type(tensors: Tensors, options: OpOptions) -> Type:
    _value(options, tensors[0].dtype)
    return tensors[0]


def _full_like(given: tuple[Array, ...], options: OpOptions) -> Array:
    return np.full_like(given[0], options.scalar("value"))


_VALUE = Attribute("value", "scalar", 0)
_AXIS = Attribute("axis", "int", 0)

INDEXING = (
    OpSpec(
        "concat",
        "injective",
        ("xs",),
        _concat_type,
        _concat,
        (_AXIS,),
        variadic=True,
        resolve=with_axis,
    ),
    OpSpec(
        "slice",
        "injective",
        ("x",),
        _slice_type,
        _slice,
        (
            Attribute("begins", "ints"),
            Attribute("ends", "ints"),
            Attribute("strides", "ints", ()),
            Attribute("axes", "ints", ()),
        ),
        resolve=_slice_options,
    ),
    OpSpec(
        "pad",
        "injective",
        ("x",),
        _pad_type,
        _pad,
        (Attribute("pads", "ints"), _VALUE),
        resolve=_pad_options,
    ),
    OpSpec(
        "take",
        "injective",
        ("x", "indices"),
        _take_type,
        _take,
        (_AXIS,),
        resolve=with_axis,
    ),
    OpSpec(
        "full",
        "injective",
        ("like",),
        _full_type,
        _full,
        (Attribute("shape", "ints"), _VALUE, Attribute("dtype", "dtype", "f32")),
        optional=1,
        variadic=True,
        resolve=_full_options,
    ),
    OpSpec("full_like", "elementwise", ("x",), _full_like_type, _full_like, (_VALUE,)),
)
