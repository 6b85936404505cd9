"""Activation functions."""

from irkit import ir, te
from irkit.ir import Expr
from irkit.te import IterVar, Tensor, define_stage, elementwise, reduce_axis
from irkit.topi.elementwise import cast
from irkit.topi.extents import accumulator, axis_of


def relu(x: Tensor) -> Tensor:
    """Replace negative elements by 0. Source: ONNX Relu-14."""
    return elementwise(lambda v: ir.maximum(v, 0), x, name="relu")


def leaky_relu(x: Tensor, alpha: float = 0.01) -> Tensor:
    """Multiply negative elements by ``alpha``. Source: ONNX LeakyRelu-16."""
    return elementwise(lambda v: ir.select(ir.lt(v, 0), v * alpha, v), x, name="leaky_relu")


def softmax(x: Tensor, axis: int = -1) -> Tensor:
    """Return the exponentials along an axis, normalised to a sum of 1.

    The maximum is subtracted first, so that nothing overflows. 16-bit floats are computed in f32.
    Source: ONNX Softmax-13.
    """
    wide = accumulator(x.dtype)
    if wide != x.dtype:
        return cast(softmax(cast(x, wide), axis), x.dtype)
    at_axis = axis_of(axis, x.ndim, "softmax")
    largest = _along(x, at_axis, te.max, "softmax_max")

    def exponential(*i: IterVar) -> Expr:
        return ir.call("exp", x(*i) - largest(*_without(i, at_axis)))

    exps = define_stage(x.shape, exponential, "softmax_exp", tag="broadcast")
    total = _along(exps, at_axis, te.sum, "softmax_sum")

    def normal(*i: IterVar) -> Expr:
        return exps(*i) / total(*_without(i, at_axis))

    return define_stage(x.shape, normal, "softmax", tag="broadcast")


def log_softmax(x: Tensor, axis: int = -1) -> Tensor:
    """Return the logarithm of softmax, without underflow of small values.

    Source: ONNX LogSoftmax-13.
    """
    wide = accumulator(x.dtype)
    if wide != x.dtype:
        return cast(log_softmax(cast(x, wide), axis), x.dtype)
    at_axis = axis_of(axis, x.ndim, "log_softmax")
    largest = _along(x, at_axis, te.max, "softmax_max")

    def shift(*i: IterVar) -> Expr:
        return x(*i) - largest(*_without(i, at_axis))

    shifted = define_stage(x.shape, shift, "softmax_shifted", tag="broadcast")
    exps = elementwise(lambda v: ir.call("exp", v), shifted, name="softmax_exp")
    total = _along(exps, at_axis, te.sum, "softmax_sum")

    def normal(*i: IterVar) -> Expr:
        return shifted(*i) - ir.call("log", total(*_without(i, at_axis)))

    return define_stage(x.shape, normal, "log_softmax", tag="broadcast")


def _without(i: tuple[IterVar, ...], axis: int) -> tuple[IterVar, ...]:
    return i[:axis] + i[axis + 1 :]


def _along(x: Tensor, axis: int, reduction: te.Reduction, name: str) -> Tensor:
    """Reduce along one axis, which is removed."""
    k = reduce_axis((0, x.shape[axis]), name="k")

    def at(*i: IterVar) -> Expr:
        return reduction(x(*i[:axis], k, *i[axis:]), axis=k)

    return define_stage(x.shape[:axis] + x.shape[axis + 1 :], at, name, tag="reduction")
