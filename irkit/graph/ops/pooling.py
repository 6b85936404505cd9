"""Pooling over spatial windows, channels first."""

from math import prod

import numpy as np

from irkit.core import ShapeError
from irkit.graph.ops.linear import widened
from irkit.graph.ops.shapes import dim, expect_float, expect_number, tensor
from irkit.graph.ops.spec import Array, Attribute, OpOptions, OpSpec, Tensors
from irkit.graph.ops.windows import filled, spatial_axes, window_extents, windows
from irkit.graph.types import TensorType, TupleType, Type
from irkit.ir import I64, as_int


def _options(ranks: tuple[int, ...], options: OpOptions) -> OpOptions:
    """Complete the attributes; every window must cover at least one element that is not padding."""
    kernel = options.ints("kernel")
    if ranks[0] != len(kernel) + 2 or not kernel or min(kernel) < 1:
        raise ShapeError(
            f"argument x must be [N, C, spatial...] with as many spatial axes as the kernel "
            f"{kernel} of positive extents, found rank {ranks[0]}"
        )
    full = filled(options, len(kernel))
    pads, dilations = full.ints("pads"), full.ints("dilations")
    for at, pad in enumerate(pads):
        span = (kernel[at % len(kernel)] - 1) * dilations[at % len(kernel)] + 1
        if pad >= span:
            raise ShapeError(
                f"pads must be smaller than the window ({span} along spatial axis "
                f"{at % len(kernel)}), found {pad}"
            )
    return full


def _pool_type(tensors: Tensors, options: OpOptions) -> TensorType:
    x = tensors[0]
    extents = window_extents(
        x.shape[2:], options.ints("kernel"), options, ceil=options.flag("ceil_mode")
    )
    return tensor((*x.shape[:2], *extents), x.dtype)


def _max_type(tensors: Tensors, options: OpOptions) -> TensorType:
    expect_number("x", tensors[0])
    return _pool_type(tensors, options)


def _max_with_indices_type(tensors: Tensors, options: OpOptions) -> Type:
    found = _max_type(tensors, options)
    return TupleType((found, TensorType(found.shape, I64)))


def _average_type(tensors: Tensors, options: OpOptions) -> Type:
    expect_float("x", tensors[0])
    return _pool_type(tensors, options)


def _counts(x: Array, options: OpOptions) -> list[int]:
    shape = [dim(extent) for extent in x.shape[2:]]
    ceil = options.flag("ceil_mode")
    found = window_extents(shape, options.ints("kernel"), options, ceil=ceil)
    return [as_int(extent) or 0 for extent in found]


def _lowest(x: Array) -> object:
    return np.iinfo(x.dtype).min if x.dtype.kind in "iu" else -np.inf


def _max_pool(given: tuple[Array, ...], options: OpOptions) -> Array:
    (x,) = given
    kernel = options.ints("kernel")
    view = windows(x, kernel, options, _counts(x, options), _lowest(x))
    return view.max(axis=spatial_axes(len(kernel)))


def _max_pool_with_indices(given: tuple[Array, ...], options: OpOptions) -> tuple[Array, ...]:
    """Also return the position of each maximum in the whole array, the first of equal ones."""
    (x,) = given
    kernel, counts = options.ints("kernel"), _counts(x, options)
    found = _max_pool(given, options)
    order = "F" if options.int("storage_order") else "C"
    images = np.arange(prod(x.shape[:2])).reshape(*x.shape[:2], *(1,) * len(kernel))
    inside = np.arange(prod(x.shape[2:])).reshape(x.shape[2:], order=order)
    places = np.broadcast_to(images * prod(x.shape[2:]) + inside, x.shape)
    values = windows(x, kernel, options, counts, _lowest(x)).reshape(*found.shape, -1)
    wheres = windows(places, kernel, options, counts, -1).reshape(*found.shape, -1)
    largest = found[..., None]
    hit = (values == largest) | ((values != values) & (largest != largest))
    first = np.argmax(hit & (wheres >= 0), axis=-1)
    return found, np.take_along_axis(wheres, first[..., None], -1)[..., 0].astype(np.int64)


def _average_pool(given: tuple[Array, ...], options: OpOptions) -> Array:
    """Average; in ceil mode, positions beyond the padded end never count."""
    (x,) = given
    kernel, counts = options.ints("kernel"), _counts(x, options)
    axes = spatial_axes(len(kernel))
    total = windows(widened(x), kernel, options, counts, 0).sum(axis=axes)
    ones = np.ones((1, 1, *x.shape[2:]), total.dtype)
    if options.flag("count_include_pad"):
        pads = options.ints("pads")
        both = zip(pads[: len(kernel)], pads[len(kernel) :], strict=True)
        ones = np.pad(ones, [(0, 0), (0, 0), *both], constant_values=1)
        options = options.replace(pads=(0,) * len(pads))
    size = windows(ones, kernel, options, counts, 0).sum(axis=axes)
    return (total / np.maximum(size, 1)).astype(x.dtype, copy=False)


_WINDOW = (
    Attribute("kernel", "ints"),
    Attribute("strides", "ints", ()),
    Attribute("pads", "ints", ()),
    Attribute("dilations", "ints", ()),
    Attribute("ceil_mode", "bool", False),
)
_ORDER = Attribute("storage_order", "int", 0)
_COUNT = Attribute("count_include_pad", "bool", False)

POOLING = (
    OpSpec("max_pool", "complex", ("x",), _max_type, _max_pool, _WINDOW, resolve=_options),
    OpSpec(
        "max_pool_with_indices",
        "opaque",
        ("x",),
        _max_with_indices_type,
        _max_pool_with_indices,
        (*_WINDOW, _ORDER),
        resolve=_options,
    ),
    OpSpec(
        "avg_pool",
        "complex",
        ("x",),
        _average_type,
        _average_pool,
        (*_WINDOW, _COUNT),
        resolve=_options,
    ),
)
