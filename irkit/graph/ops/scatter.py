"""The operator that replaces rows of an array, at places that are only known with the data."""

import numpy as np

from irkit.core import DTypeError, ShapeError
from irkit.graph.ops.shapes import expect_dtype, expect_extent, expect_rank, with_axis, written
from irkit.graph.ops.spec import Array, Attribute, OpOptions, OpSpec, Tensors
from irkit.graph.types import Type
from irkit.ir import as_int


def _scatter_type(tensors: Tensors, options: OpOptions) -> Type:
    x, indices, updates = tensors
    axis, rank = options.int("axis"), len(x.shape)
    if indices.dtype.kind != "i":
        raise DTypeError(f"argument indices must be signed integers, found {indices.dtype}")
    expect_rank("indices", indices, 2, "rows and their places")
    count = as_int(indices.shape[1])
    if count is None or not 1 <= count <= rank - axis:
        raise ShapeError(
            f"argument indices must have 1 to {rank - axis} along axis 1, the axes of x from "
            f"{axis} on that they number, found shape {written(indices.shape)}"
        )
    expect_dtype("updates", updates, x.dtype)
    expect_rank("updates", updates, rank - count + 1, "as x, with one axis for its rows")
    wanted = (*x.shape[:axis], indices.shape[0], *x.shape[axis + count :])
    for at, extent in enumerate(wanted):
        expect_extent("updates", updates, at, extent, "as its rows")
    return x


def _scatter(given: tuple[Array, ...], options: OpOptions) -> Array:
    """Store rows of updates, the later over the earlier. Negative indices count from the end; a row
    with an index outside is left out."""
    x, indices, updates = given
    axis, count = options.int("axis"), indices.shape[1]
    extents = np.array(x.shape[axis : axis + count], np.int64)
    places = np.where(indices < 0, indices.astype(np.int64) + extents, indices)
    inside = np.flatnonzero(((places >= 0) & (places < extents)).all(axis=1))
    if not inside.size:
        return np.array(x, order="C")
    flat = np.ravel_multi_index(tuple(places[inside].T), tuple(extents))
    # Of the same numbers, NumPy returns the first, and the last shall stay.
    last = np.unique(np.asarray(flat)[::-1], return_index=True)[1]
    chosen = inside[::-1][last]
    result = np.array(x, order="C")
    before = (slice(None),) * axis
    result[(*before, *places[chosen].T)] = updates[(*before, chosen)]
    return result


SCATTER = (
    OpSpec(
        "scatter",
        "opaque",
        ("x", "indices", "updates"),
        _scatter_type,
        _scatter,
        (Attribute("axis", "int", 0),),
        resolve=with_axis,
    ),
)
