"""Normalisations, as functions of all their arguments."""

from irkit.graph.differentiation.applied import AppliedOp, Rule
from irkit.graph.tensor import TensorExpr, operator


def _softmax(op: AppliedOp) -> list[TensorExpr | None]:
    total = (op.dy * op.y).sum(op.options.int("axis"), keepdims=True)
    return [op.y * (op.dy - total)]


def _log_softmax(op: AppliedOp) -> list[TensorExpr | None]:
    total = op.dy.sum(op.options.int("axis"), keepdims=True)
    return [op.dy - operator("exp", op.y) * total]


def _batch_norm(op: AppliedOp) -> list[TensorExpr | None]:
    """The statistics are arguments like the others."""
    x, scale, _, mean, var = op.args
    others = (0, *range(2, x.rank))

    def column(each: TensorExpr) -> TensorExpr:
        return operator("expand_dims", each, axes=tuple(range(1, x.rank - 1)))

    inverse = operator("rsqrt", var + op.options.float("epsilon"))
    centred = x - column(mean)
    dscale = (op.dy * centred).sum(*others) * inverse
    dbias = op.dy.sum(*others)
    return [
        op.dy * column(scale * inverse),
        dscale,
        dbias,
        -(dbias * scale * inverse),
        dscale * scale * inverse * inverse * -0.5,
    ]


def _neighbours(x: TensorExpr, before: int, after: int) -> TensorExpr:
    """Sum each channel with those so far before and after it."""
    rest = (0,) * (x.rank - 2)
    wide = operator("pad", x, pads=(0, before, *rest, 0, after, *rest))
    size, total = x.shape[1], None
    for at in range(before + after + 1):
        part = wide[:, at : at + size]
        total = part if total is None else total + part
    assert total is not None
    return total


def _lrn(op: AppliedOp) -> list[TensorExpr | None]:
    """Each element scales the channels whose windows it is in."""
    (x,), size = op.args, op.options.int("size")
    alpha, beta = op.options.float("alpha") / size, op.options.float("beta")
    before, after = (size - 1) // 2, size // 2
    scale = _neighbours(x * x, before, after) * alpha + op.options.float("bias")
    direct = op.dy * scale**-beta
    through = _neighbours(op.dy * x * scale ** (-beta - 1.0), after, before)
    return [direct - x * through * (2.0 * alpha * beta)]


NORMALIZATION: dict[str, Rule] = {
    "softmax": _softmax,
    "log_softmax": _log_softmax,
    "batch_norm": _batch_norm,
    "lrn": _lrn,
}
