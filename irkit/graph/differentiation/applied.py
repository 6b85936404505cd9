"""An application of an operator as its rule sees it."""

from collections.abc import Callable, Sequence

import msgspec

from irkit.graph.ops import OpOptions
from irkit.graph.tensor import TensorExpr, operator
from irkit.ir import as_int


class AppliedOp(msgspec.Struct, frozen=True, eq=False):
    """Arguments, results, the gradient of each result (zero if None), complete attributes."""

    args: tuple[TensorExpr, ...]
    results: tuple[TensorExpr, ...]
    gradients: tuple[TensorExpr | None, ...]
    options: OpOptions

    @property
    def y(self) -> TensorExpr:
        """The first result."""
        return self.results[0]

    @property
    def dy(self) -> TensorExpr:
        """The gradient of the first result."""
        found = self.gradients[0]
        return zeros_like(self.results[0]) if found is None else found


Rule = Callable[[AppliedOp], Sequence[TensorExpr | None]]
"""Returns the gradient of each argument; None if it is zero or the argument holds no floats."""


def zeros_like(x: TensorExpr) -> TensorExpr:
    """Return zeros of the type of a tensor."""
    return operator("full_like", x, value=0)


def where(cond: TensorExpr, a: TensorExpr | float, b: TensorExpr | float) -> TensorExpr:
    """Choose elements."""
    return operator("where", cond, a, b)


def summed_to(gradient: TensorExpr, x: TensorExpr) -> TensorExpr:
    """Sum over the axes along which an argument was broadcast."""
    leading = gradient.rank - x.rank
    spread = [
        axis
        for axis, extent in enumerate(x.dims, leading)
        if as_int(extent) == 1 and as_int(gradient.dims[axis]) != 1
    ]
    if spread:
        gradient = gradient.sum(*spread, keepdims=True)
    return gradient.sum(*range(leading)) if leading else gradient


def spread_like(reduced: TensorExpr, x: TensorExpr) -> TensorExpr:
    """Broadcast a tensor to the shape of another, whose extents can be symbolic."""
    known = [as_int(extent) for extent in x.dims]
    if None in known:
        return operator("add", reduced, zeros_like(x))
    return operator("broadcast_to", reduced, shape=x.shape)


def with_axes(reduced: TensorExpr, axes: Sequence[int], keepdims: bool) -> TensorExpr:
    """Put back the axes of a reduction, with extent 1."""
    return reduced if keepdims or not axes else operator("expand_dims", reduced, axes=axes)
