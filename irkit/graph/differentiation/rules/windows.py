"""What the rules of convolution and pooling share: elements apart from each other, and windows
added back to the places that they cover."""

from collections.abc import Sequence

from irkit.graph.ops import OpOptions
from irkit.graph.tensor import TensorExpr, operator
from irkit.ir import as_int


def apart(x: TensorExpr, axis: int, stride: int) -> TensorExpr:
    """Put ``stride - 1`` zeros after each element along an axis."""
    if stride == 1:
        return x
    rank, extent = x.rank, x.extent(axis)
    wide = operator("expand_dims", x, axes=(axis + 1,))
    pads = [0] * (2 * (rank + 1))
    pads[rank + 1 + axis + 1] = stride - 1
    shape = [-1 if as_int(each) is None else x.extent(at) for at, each in enumerate(x.dims)]
    shape[axis] = extent * stride
    return operator("pad", wide, pads=pads).reshape(*shape)


def fitted(x: TensorExpr, firsts: Sequence[int], extents: Sequence[int]) -> TensorExpr:
    """Put images into zeros of some extents, beginning at ``firsts``, or crop them.

    Shapes: x [N, C, *spatial] -> [N, C, *extents].
    """
    before, after, begins = list[int](), list[int](), list[int]()
    for at, (first, extent) in enumerate(zip(firsts, extents, strict=True)):
        before.append(max(first, 0))
        after.append(max(extent - first - x.extent(2 + at), 0))
        begins.append(max(-first, 0))
    if any(before) or any(after):
        x = operator("pad", x, pads=(0, 0, *before, 0, 0, *after))
    ends = tuple(begin + extent for begin, extent in zip(begins, extents, strict=True))
    axes = tuple(range(2, 2 + len(ends)))
    if tuple(x.extent(axis) for axis in axes) == tuple(extents):
        return x
    return operator("slice", x, begins=begins, ends=ends, axes=axes)


def element_of_windows(
    x: TensorExpr, place: Sequence[int], counts: Sequence[int], options: OpOptions, fill: float
) -> TensorExpr:
    """Return the element at one place of each window; padding is ``fill``.

    Shapes: x [N, C, *spatial] -> [N, C, *counts].
    """
    strides, pads, dilations = (options.ints(name) for name in ("strides", "pads", "dilations"))
    rank = len(counts)
    spans = [
        (n - 1) * stride + (size - 1) * by + 1
        for n, stride, size, by in zip(
            counts, strides, options.ints("kernel"), dilations, strict=True
        )
    ]
    after = [max(span - x.extent(2 + at) - pads[at], 0) for at, span in enumerate(spans)]
    if any(pads[:rank]) or any(after):
        x = operator("pad", x, pads=(0, 0, *pads[:rank], 0, 0, *after), value=fill)
    begins = [at * by for at, by in zip(place, dilations, strict=True)]
    last = zip(begins, counts, strides, strict=True)
    ends = [begin + (n - 1) * stride + 1 for begin, n, stride in last]
    axes = tuple(range(2, 2 + rank))
    return operator("slice", x, begins=begins, ends=ends, strides=strides, axes=axes)


def spread_windows(
    dy: TensorExpr,
    weight: TensorExpr,
    extents: Sequence[int],
    options: OpOptions,
    groups: int = 1,
) -> TensorExpr:
    """Add the elements of windows, weighted, at the places in images that they cover: the transpose
    of a convolution, as a convolution of ``dy`` with zeros between and around its elements.

    Shapes: dy [N, K, *windows], weight [K, C / groups, *kernel] -> [N, C, *extents].
    """
    strides, pads, dilations = (options.ints(name) for name in ("strides", "pads", "dilations"))
    filters, inner, *kernel = weight.shape
    rank = len(kernel)
    for at, stride in enumerate(strides):
        dy = apart(dy, 2 + at, stride)
    reach = [(size - 1) * by for size, by in zip(kernel, dilations, strict=True)]
    firsts = [far - pad for far, pad in zip(reach, pads[:rank], strict=True)]
    wide = fitted(dy, firsts, [n + far for n, far in zip(extents, reach, strict=True)])
    turned = weight[(slice(None), slice(None), *(slice(None, None, -1),) * rank)]
    parts = turned.reshape(groups, filters // groups, inner, *kernel)
    parts = parts.transpose(0, 2, 1, *range(3, rank + 3))
    turned = parts.reshape(groups * inner, filters // groups, *kernel)
    return operator("conv", wide, turned, dilations=dilations, groups=groups)


def transposed_convolution(
    x: TensorExpr,
    weight: TensorExpr,
    extents: Sequence[int],
    *,
    strides: Sequence[int],
    pads: Sequence[int],
    dilations: Sequence[int],
    groups: int = 1,
) -> TensorExpr:
    """Return the transpose of the convolution that makes ``x`` of images of some extents.

    Shapes: x [N, K, *windows], weight [K, C / groups, *kernel] -> [N, C, *extents].
    """
    window = {"strides": tuple(strides), "pads": tuple(pads), "dilations": tuple(dilations)}
    return spread_windows(x, weight, extents, OpOptions(window), groups)


def placed(
    x: TensorExpr, extents: Sequence[int], place: Sequence[int], options: OpOptions
) -> TensorExpr:
    """Put one element of each window at its place in images of some extents, zeros elsewhere.

    ``place`` is that of the element in the window. What lies in the padding is left out.
    Shapes: x [N, C, *windows] -> [N, C, *extents].
    """
    strides, pads, dilations = (options.ints(name) for name in ("strides", "pads", "dilations"))
    for at, stride in enumerate(strides):
        x = apart(x, 2 + at, stride)
    firsts = [at * by - pad for at, by, pad in zip(place, dilations, pads, strict=False)]
    return fitted(x, firsts, extents)
