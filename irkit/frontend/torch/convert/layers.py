"""Products of matrices, convolution, pooling, normalisation."""

from collections.abc import Callable
from math import prod
from typing import TypeAlias, Union

import numpy as np

from irkit.frontend.torch.aten_node import AtenNode, Convert, apply
from irkit.graph import Array, TensorExpr, operator_results, transposed_convolution
from irkit.ir import numpy_dtype

Images: TypeAlias = Union[TensorExpr, "tuple[TensorExpr, ...]"]


def _matmul(node: AtenNode) -> TensorExpr:
    return apply("matmul", node.tensor(0), node.tensor(1))


def _addmm(node: AtenNode) -> TensorExpr:
    """Return beta * x + alpha * a @ b."""
    x, product = node.tensor(0), apply("matmul", node.tensor(1), node.tensor(2))
    beta, alpha = node.number(3, "beta", 1), node.number(4, "alpha", 1)
    scaled = product if alpha == 1 else product * alpha
    return scaled if beta == 0 else scaled + (x if beta == 1 else x * beta)


def _per_axis(node: AtenNode, at: int, name: str, rank: int, default: int) -> tuple[int, ...]:
    found = node.wholes(at, name, (default,) * rank) or (default,) * rank
    return found * rank if len(found) == 1 else found


def _convolution(node: AtenNode) -> TensorExpr:
    x, w, bias = node.tensor(0), node.tensor(1), node.optional(2)
    rank = x.rank - 2
    strides, pads, dilations, extra = (
        _per_axis(node, at, "", rank, default) for at, default in ((3, 1), (4, 0), (5, 1), (7, 0))
    )
    groups = node.whole(8)
    if not node.given(6):
        args = (x, w) if bias is None else (x, w, bias)
        return apply("conv", *args, strides=strides, pads=(*pads, *pads), dilations=dilations,
                     groups=groups)  # fmt: skip
    kernel = w.shape[2:]
    extents = [
        (x.extent(2 + at) - 1) * strides[at] - 2 * pads[at] + dilations[at] * (kernel[at] - 1)
        + extra[at] + 1
        for at in range(rank)
    ]  # fmt: skip
    found = transposed_convolution(
        x, w, extents, strides=strides, pads=(*pads, *pads), dilations=dilations, groups=groups
    )
    return found if bias is None else found + bias.reshape(-1, *(1,) * rank)


def _pool_attrs(node: AtenNode, rank: int, *, average: bool) -> dict[str, object]:
    kernel = _per_axis(node, 1, "kernel_size", rank, 1)
    strides = node.wholes(2, "stride", ()) or kernel
    pads = _per_axis(node, 3, "padding", rank, 0)
    strides = strides * rank if len(strides) == 1 else strides
    attrs: dict[str, object] = {"kernel": kernel, "pads": (*pads, *pads), "strides": strides}
    if average:
        attrs["ceil_mode"] = bool(node.given(4, "ceil_mode", False))
        attrs["count_include_pad"] = bool(node.given(5, "count_include_pad", True))
        if node.given(6, "divisor_override") is not None:
            raise node.fail("a divisor of its own is not supported")
    else:
        attrs["dilations"] = _per_axis(node, 4, "dilation", rank, 1)
        attrs["ceil_mode"] = bool(node.given(5, "ceil_mode", False))
    return attrs


def _of_images(rank: int, convert: Callable[[AtenNode, TensorExpr], Images]) -> Convert:
    """Convert an operator on images of a rank, of which PyTorch also takes a single one."""

    def converted(node: AtenNode) -> Images:
        x = node.tensor(0)
        if x.rank != rank + 1:
            return convert(node, x)
        found = convert(node, apply("expand_dims", x, axes=(0,)))
        several = found if isinstance(found, tuple) else (found,)
        alone = tuple(apply("squeeze", each, axes=(0,)) for each in several)
        return alone if isinstance(found, tuple) else alone[0]

    return converted


def _max_pool(node: AtenNode, x: TensorExpr) -> tuple[TensorExpr, ...]:
    """Return the largest elements with their places in their image."""
    attrs = _pool_attrs(node, x.rank - 2, average=False)
    # Two operators, so that the places cost nothing where nobody reads them.
    largest = apply("max_pool", x, **attrs)
    _, places = operator_results("max_pool_with_indices", x, **attrs)  # pyright: ignore[reportArgumentType]
    return largest, apply("floor_mod", places, prod([x.extent(axis) for axis in range(2, x.rank)]))


def _avg_pool(node: AtenNode, x: TensorExpr) -> TensorExpr:
    return apply("avg_pool", x, **_pool_attrs(node, x.rank - 2, average=True))


def _adaptive_avg_pool(node: AtenNode, x: TensorExpr) -> TensorExpr:
    """Average over parts as equal as possible: a product with a matrix of shares for each axis."""
    rank = x.rank - 2
    for at, size in enumerate(_per_axis(node, 1, "output_size", rank, 1)):
        extent = x.extent(2 + at)
        places = np.arange(extent)[:, None]
        begin = np.arange(size) * extent // size
        end = -(-(np.arange(size) + 1) * extent // size)
        inside = (places >= begin) & (places < end)
        x = _mixed(x, 2 + at, inside / np.maximum(inside.sum(0), 1))
    return x


def _mixed(x: TensorExpr, axis: int, shares: Array) -> TensorExpr:
    """Mix the elements along an axis by a matrix, [old extent, new extent]."""
    order = [each for each in range(x.rank) if each != axis] + [axis]
    found = apply("matmul", x.transpose(*order), shares.astype(numpy_dtype(x.dtype)))
    return found.transpose(*(order.index(each) for each in range(x.rank)))


def _upsample_linear(node: AtenNode) -> TensorExpr:
    """Interpolate between the two nearest elements, axis by axis."""
    x, aligned, scales = node.tensor(0), bool(node.given(2)), node.given(3, "scale_factors")
    for axis, size in enumerate(node.node.results[0].shape[2:], 2):
        if not isinstance(size, int):
            raise node.fail("its shape is symbolic")
        extent, places = x.extent(axis), np.arange(size)
        if aligned:
            at = places * ((extent - 1) / max(size - 1, 1))
        else:
            scale = 1 / float(scales[axis - 2]) if scales else extent / size
            at = np.maximum((places + 0.5) * scale - 0.5, 0)
        low = np.minimum(at.astype(np.int64), extent - 1)
        shares = np.zeros((extent, size))
        shares[low, places] += 1 - (at - low)
        shares[np.minimum(low + 1, extent - 1), places] += at - low
        x = _mixed(x, axis, shares)
    return x


def _layer_norm(node: AtenNode) -> tuple[TensorExpr, ...]:
    """Return the normalised tensor, the means and the inverse deviations."""
    x, shape, weight, bias = node.tensor(0), node.wholes(1), node.optional(2), node.optional(3)
    axes = tuple(range(x.rank - len(shape), x.rank))
    found, mean, inverse = _normalised(x, axes, float(node.number(4)))
    found = found if weight is None else found * weight
    return found if bias is None else found + bias, mean, inverse


def _normalised(
    x: TensorExpr, axes: tuple[int, ...], eps: float
) -> tuple[TensorExpr, TensorExpr, TensorExpr]:
    mean = x.mean(*axes, keepdims=True)
    away = x - mean
    inverse = apply("rsqrt", (away * away).mean(*axes, keepdims=True) + eps)
    return away * inverse, mean, inverse


def _group_norm(node: AtenNode) -> tuple[TensorExpr, ...]:
    x, weight, bias = node.tensor(0), node.optional(1), node.optional(2)
    groups = node.whole(6)
    parts = node.reshaped(x, node.dims(x)[0], groups, -1)
    found, mean, inverse = _normalised(parts, (2,), float(node.number(7)))
    found, each = node.reshaped(found, *node.dims(x)), (-1, *(1,) * (x.rank - 2))
    found = found if weight is None else found * weight.reshape(*each)
    found = found if bias is None else found + bias.reshape(*each)
    return found, mean.reshape(-1, groups), inverse.reshape(-1, groups)


def _batch_norm(node: AtenNode) -> tuple[TensorExpr, ...]:
    """Normalise by given statistics, as in inference; PyTorch returns two empty tensors too."""
    x, mean, var = node.tensor(0), node.tensor(3), node.tensor(4)
    one = apply("full_like", mean, value=1)
    weight, bias = node.optional(1), node.optional(2)
    scale = one if weight is None else weight
    shift = apply("full_like", mean, value=0) if bias is None else bias
    found = apply("batch_norm", x, scale, shift, mean, var, epsilon=float(node.number(6)))
    empty = apply("full", shape=(0,), value=0, dtype=str(x.dtype))
    return found, empty, empty


def _batch_statistics(node: AtenNode) -> tuple[TensorExpr, ...]:
    """Normalise by the statistics of the batch itself, as InstanceNorm does."""
    x, weight, bias = node.tensor(0), node.optional(1), node.optional(2)
    axes = (0, *range(2, x.rank))
    found, mean, inverse = _normalised(x, axes, float(node.number(5)))
    each = (-1, *(1,) * (x.rank - 2))
    found = found if weight is None else found * weight.reshape(*each)
    found = found if bias is None else found + bias.reshape(*each)
    return found, mean.reshape(-1), inverse.reshape(-1)


def _upsample_nearest(node: AtenNode) -> TensorExpr:
    """Repeat the nearest element, for each axis by taking it."""
    x = node.tensor(0)
    if not node.node.results:
        raise node.fail("its shape is not known")
    for axis, size in enumerate(node.node.results[0].shape[2:], 2):
        if not isinstance(size, int):
            raise node.fail("its shape is symbolic")
        extent = x.extent(axis)
        scales = node.given(2, "scale_factors")
        scale = extent / size if not scales else 1 / float(scales[axis - 2])
        places = np.minimum((np.arange(size) * np.float32(scale)).astype(np.int64), extent - 1)
        x = apply("take", x, places, axis=axis)
    return x


LAYERS: dict[str, Convert] = {
    **dict.fromkeys(("mm", "bmm", "matmul", "mv", "dot"), _matmul),
    "addmm": _addmm,
    "baddbmm": _addmm,
    "convolution": _convolution,
    "max_pool2d_with_indices": _of_images(2, _max_pool),
    "max_pool3d_with_indices": _of_images(3, _max_pool),
    **{f"avg_pool{rank}d": _of_images(rank, _avg_pool) for rank in (1, 2, 3)},
    "adaptive_avg_pool1d": _of_images(1, _adaptive_avg_pool),
    "_adaptive_avg_pool2d": _of_images(2, _adaptive_avg_pool),
    "_adaptive_avg_pool3d": _of_images(3, _adaptive_avg_pool),
    "native_layer_norm": _layer_norm,
    "native_group_norm": _group_norm,
    "_native_batch_norm_legit_no_training": _batch_norm,
    "_native_batch_norm_legit": _batch_statistics,
    "upsample_nearest2d": _upsample_nearest,
    "upsample_bilinear2d": _upsample_linear,
}  # fmt: skip
