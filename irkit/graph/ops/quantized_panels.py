"""Products with weights of 4 or 8 bits that lie in panels: some columns of all rows, in order."""

import numpy as np

from irkit.core import ShapeError
from irkit.graph.ops.linear import widened
from irkit.graph.ops.packed_weights import MIDDLE, unpacked
from irkit.graph.ops.panels import out_of_panels
from irkit.graph.ops.shapes import expect_dtype, expect_extent, expect_float, expect_rank, written
from irkit.graph.ops.spec import Array, Attribute, OpOptions, OpSpec, Tensors
from irkit.graph.types import TensorType, Type
from irkit.ir import I8, U8, as_int, index


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
    kind = U8 if bits == 4 else I8
    expect_dtype("b", b, kind)
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
        expect_dtype("zeros", each, kind)
    return TensorType((*a.shape[:-1], index(columns)), a.dtype)


def _product(given: tuple[Array, ...], options: OpOptions) -> Array:
    a, b, scales, *zeros = given
    columns, block = options.int("columns"), options.int("block")
    bytes_of, narrow = out_of_panels(b, columns), options.int("bits") == 4
    weights = (unpacked(bytes_of, a.shape[-1]) if narrow else bytes_of).astype(np.float32)
    if zeros:
        weights -= np.repeat(out_of_panels(zeros[0], columns), block, axis=0)
    elif narrow:
        weights -= MIDDLE
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
