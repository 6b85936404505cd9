"""Operators that change only the shape: the gradient goes back the same way."""

from irkit.graph.differentiation.applied import AppliedOp, Rule, summed_to
from irkit.graph.tensor import TensorExpr, operator
from irkit.ir import as_int


def _reshape(op: AppliedOp) -> list[TensorExpr | None]:
    (x,) = op.args
    known = [as_int(extent) for extent in x.dims]
    if known.count(None) > 1:
        return [op.dy.reshape(*x.shape)]  # It raises, because a shape is needed.
    return [op.dy.reshape(*(-1 if extent is None else extent for extent in known))]


def _transpose(op: AppliedOp) -> list[TensorExpr | None]:
    axes = op.options.ints("axes")
    return [op.dy.transpose(*(axes.index(axis) for axis in range(len(axes))))] if axes else [op.dy]


SHAPING: dict[str, Rule] = {
    "reshape": _reshape,
    "transpose": _transpose,
    "expand_dims": lambda op: [operator("squeeze", op.dy, axes=op.options.ints("axes"))],
    "squeeze": lambda op: [operator("expand_dims", op.dy, axes=op.options.ints("axes"))],
    "broadcast_to": lambda op: [summed_to(op.dy, op.args[0])],
}
