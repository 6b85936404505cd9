"""Products with a matrix that lies in panels: some columns of all its rows, then the next ones."""

import numpy as np

from irkit.core import ShapeError
from irkit.graph.ops.linear import widened
from irkit.graph.ops.shapes import expect_dtype, expect_extent, expect_rank, written
from irkit.graph.ops.spec import Array, Attribute, OpOptions, OpSpec, Tensors
from irkit.graph.types import TensorType, Type
from irkit.ir import as_int, index


def in_panels(matrix: Array, width: int) -> Array:
    """Lay out a matrix [rows, columns] in panels [panels, rows, width]; columns that the last panel
    lacks are 0."""
    rows, columns = matrix.shape
    whole, left = divmod(columns, width)
    made = np.zeros((whole + (left > 0), rows, width), matrix.dtype)
    made[:whole] = matrix[:, : whole * width].reshape(rows, whole, width).transpose(1, 0, 2)
    if left:
        made[whole, :, :left] = matrix[:, whole * width :]
    made.flags.writeable = False  # Nobody else has it, so it need not be copied.
    return made


def out_of_panels(panels: Array, columns: int) -> Array:
    """Return the matrix [rows, columns] that lies in panels."""
    count, rows, width = panels.shape
    return panels.transpose(1, 0, 2).reshape(rows, count * width)[:, :columns]


def _type(tensors: Tensors, options: OpOptions) -> Type:
    a, b = tensors
    columns = options.int("columns")
    expect_dtype("b", b, a.dtype)
    expect_rank("b", b, 3, "[panels, rows, columns of a panel]")
    if not a.shape or (inner := as_int(a.shape[-1])) is None:
        raise ShapeError(
            f"argument a must have a last axis of constant extent, found {written(a.shape)}"
        )
    width = as_int(b.shape[2])
    if width is None or width < 1 or columns < 1:
        raise ShapeError(
            f"panels and results must have columns, found panels {written(b.shape)} and {columns} "
            "columns"
        )
    expect_extent("b", b, 0, -(-columns // width), f"the panels of {columns} columns")
    expect_extent("b", b, 1, inner, "the last extent of a")
    return TensorType((*a.shape[:-1], index(columns)), a.dtype)


def _product(given: tuple[Array, ...], options: OpOptions) -> Array:
    a, b = given
    matrix = out_of_panels(widened(b), options.int("columns"))
    return np.asarray(np.matmul(widened(a), matrix)).astype(a.dtype, copy=False)


PANELS = (
    OpSpec(
        "matmul_panels",
        "complex",
        ("a", "b"),
        _type,
        _product,
        (Attribute("columns", "int"),),
    ),
)
