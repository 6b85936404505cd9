"""Convolution and matrix multiplication."""

from irkit.graph.differentiation.applied import AppliedOp, Rule, summed_to
from irkit.graph.differentiation.rules.windows import spread_windows
from irkit.graph.tensor import TensorExpr, operator


def _matmul(op: AppliedOp) -> list[TensorExpr | None]:
    """Multiply by the transpose of the other matrix; a vector is a matrix of one row or column."""
    a, b = op.args
    rows = a if a.rank > 1 else operator("expand_dims", a, axes=(0,))
    columns = b if b.rank > 1 else operator("expand_dims", b, axes=(1,))
    dy = op.dy
    if b.rank == 1:
        dy = operator("expand_dims", dy, axes=(dy.rank,))
    if a.rank == 1:
        dy = operator("expand_dims", dy, axes=(dy.rank - 1,))
    da = summed_to(dy @ _swapped(columns), rows)
    db = summed_to(_swapped(rows) @ dy, columns)
    return [
        da if a.rank > 1 else operator("squeeze", da, axes=(0,)),
        db if b.rank > 1 else operator("squeeze", db, axes=(1,)),
    ]


def _swapped(x: TensorExpr) -> TensorExpr:
    """Transpose the last two axes."""
    return x.transpose(*range(x.rank - 2), x.rank - 1, x.rank - 2)


def _conv(op: AppliedOp) -> list[TensorExpr | None]:
    """Spread the gradient over the image by the filters, and over the filters by the image."""
    x, w, *bias = op.args
    groups, spatial = op.options.int("groups"), range(2, x.rank)
    extents = [x.extent(axis) for axis in spatial]
    found: list[TensorExpr | None] = [
        spread_windows(op.dy, w, extents, op.options, groups),
        _filters(op, x, w, groups),
    ]
    return [*found, op.dy.sum(0, *spatial)] if bias else found


def _filters(op: AppliedOp, x: TensorExpr, w: TensorExpr, groups: int) -> TensorExpr:
    """Convolve the image with the gradient: images and channels change places, and so do strides
    and dilations."""
    spatial = tuple(range(2, x.rank))
    _, inner, *kernel = w.shape
    images = x.transpose(1, 0, *spatial)
    if groups > 1:
        channels, count, *extents = images.shape
        parts = images.reshape(groups, channels // groups, count, *extents)
        parts = parts.transpose(1, 0, 2, *(axis + 1 for axis in spatial))
        images = parts.reshape(inner, groups * count, *extents)
    found = operator(
        "conv", images, op.dy.transpose(1, 0, *spatial), strides=op.options.ints("dilations"),
        dilations=op.options.ints("strides"), pads=op.options.ints("pads"), groups=groups,
    )  # fmt: skip
    # Elements that no window reaches because of the stride would make larger filters.
    cut = found[(slice(None), slice(None), *(slice(0, size) for size in kernel))]
    return cut.transpose(1, 0, *spatial)


LINEAR: dict[str, Rule] = {"conv": _conv, "matmul": _matmul}
