"""Products with weights of 4 or 8 bits that lie in panels: some columns of all rows, in order.

The numbers are signed, so that an unpacked vector needs no subtraction where the zero points are in
the middle of the range.
"""

import numpy as np

from irkit.core import ShapeError
from irkit.graph.ops.linear import widened
from irkit.graph.ops.panels import in_panels, out_of_panels
from irkit.graph.ops.shapes import expect_dtype, expect_extent, expect_float, expect_rank, written
from irkit.graph.ops.spec import Array, Attribute, OpOptions, OpSpec, Tensors
from irkit.graph.types import TensorType, Type
from irkit.ir import I8, as_int, index


def nibble_panels(numbers: Array, width: int) -> Array:
    """Lay out a matrix of numbers from -8 to 7 in panels [panels, rows / 2, width]: of each byte
    the low half is an even row, and the high half the row after it."""
    pairs = (numbers[::2] & 15) | (numbers[1::2] << 4)
    return in_panels(pairs.astype(np.uint8).view(np.int8), width)


def _unpacked(panels: Array, columns: int, bits: int) -> Array:
    """Return the matrix of numbers that lies in panels."""
    pairs = out_of_panels(panels, columns)
    if bits == 8:
        return pairs
    low = (pairs.view(np.uint8) << 4).view(np.int8) >> 4
    return np.stack([low, pairs >> 4], axis=1).reshape(-1, columns)


def _type(tensors: Tensors, options: OpOptions) -> Type:
    a, b, scales, *zeros = tensors
    columns, block, bits = (options.int(name) for name in ("columns", "block", "bits"))
    expect_float("a", a)
    inner = as_int(a.shape[-1]) if a.shape else None
    if inner is None or bits not in (4, 8) or block < 1 or inner % block or block * bits % 8:
        raise ShapeError(
            f"argument a must have a last axis of whole blocks, and blocks whole bytes of 4 or 8 "
            f"bits, found shape {written(a.shape)}, blocks of {block} and {bits} bits"
        )
    expect_rank("b", b, 3, "[panels, rows or pairs of rows, columns of a panel]")
    expect_dtype("b", b, I8)
    width = as_int(b.shape[2])
    if width is None or width < 1 or columns < 1:
        raise ShapeError(
            f"panels and results must have columns, found panels {written(b.shape)} and {columns} "
            "columns"
        )
    count = -(-columns // width)
    expect_extent("b", b, 0, count, f"the panels of {columns} columns")
    expect_extent("b", b, 1, inner * bits // 8, "the bytes of a column")
    expect_dtype("scales", scales, a.dtype)
    for name, each in (("scales", scales), *(("zeros", each) for each in zeros)):
        expect_rank(name, each, 3, "[panels, blocks, columns of a panel]")
        expect_extent(name, each, 0, count, "the panels of b")
        expect_extent(name, each, 1, inner // block, "one for each block")
        expect_extent(name, each, 2, width, "the columns of a panel of b")
    for each in zeros:
        expect_dtype("zeros", each, I8)
    return TensorType((*a.shape[:-1], index(columns)), a.dtype)


def _product(given: tuple[Array, ...], options: OpOptions) -> Array:
    a, b, scales, *zeros = given
    columns, block = options.int("columns"), options.int("block")
    weights = _unpacked(b, columns, options.int("bits")).astype(np.float32)
    for each in zeros:
        weights -= np.repeat(out_of_panels(each, columns), block, axis=0)
    weights = weights * np.repeat(out_of_panels(widened(scales), columns), block, axis=0)
    return np.matmul(widened(a), weights).astype(a.dtype, copy=False)


QUANTIZED_PANELS = (
    OpSpec(
        "matmul_quantized_panels",
        "complex",
        ("a", "b", "scales", "zeros"),
        _type,
        _product,
        (Attribute("columns", "int"), Attribute("block", "int"), Attribute("bits", "int")),
        optional=1,
    ),
)
