"""Sums of gradients to which one row at a time is added, in the memory of the sum.

A loop that goes over the rows of a tensor adds each row of its gradient where it belongs. So it
does not make a tensor of zeros around each row, and its time is linear in the number of rows.
"""

from collections.abc import Sequence

from irkit.graph.tensor import TensorExpr, operator
from irkit.ir import as_int


class RowSums:
    """The sums of one tensor, each for one step that takes rows of it: a sum that two steps change
    is not changed in place."""

    def __init__(self, totals: Sequence[TensorExpr]) -> None:
        self.totals = list(totals)
        self._used = 0

    def add(self, place: TensorExpr, row: TensorExpr, axis: int) -> None:
        """Add a row at one place along an axis."""
        at = min(self._used, len(self.totals) - 1)
        self.totals[at] = with_row_added(self.totals[at], place, row, axis)
        self._used += 1


def with_row_added(total: TensorExpr, place: TensorExpr, row: TensorExpr, axis: int) -> TensorExpr:
    """Add a row to a sum, at one place along an axis: what ``take`` reads there.

    Shapes: total [A, N, B], place [], row [A, B] -> [A, N, B].
    """
    extent = as_int(total.dims[axis])
    place = place.cast("i64")
    if extent is not None:
        # As take does, a place outside is moved to the nearest; negative ones count from the end.
        place = operator("minimum", operator("maximum", place, -extent), max(extent - 1, 0))
    if extent == 0:
        return total
    added = operator("take", total, place, axis=axis) + row
    rows = operator("expand_dims", added, axes=(axis,))
    return operator("scatter", total, place.reshape(1, 1), rows, axis=axis)
