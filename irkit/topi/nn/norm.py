"""Normalisation."""

from irkit import ir, te
from irkit.ir import Expr
from irkit.te import IterVar, Tensor, compute, elementwise, reduce_axis
from irkit.topi.extents import check_equal, check_rank, extents
from irkit.topi.shape import pad


def batch_norm(
    x: Tensor,
    scale: Tensor,
    bias: Tensor,
    mean: Tensor,
    variance: Tensor,
    *,
    epsilon: float = 1e-5,
    axis: int = 1,
) -> Tensor:
    """Normalise each channel with given statistics, as in inference.

    Shapes: x [N, C, D...], the others [C] -> [N, C, D...].
    Raises: ShapeError if one of them does not have C elements.
    Source: ONNX BatchNormalization-15, training_mode = 0.
    """
    for each in (scale, bias, mean, variance):
        check_rank(each, 1, "batch_norm")
        check_equal(
            extents(each)[0],
            extents(x)[axis],
            f"batch_norm: {each.name!r} needs one value for each channel of {x.name!r}",
        )
    factor = elementwise(
        lambda s, v: s / ir.call("sqrt", v + epsilon), scale, variance, name="norm_factor"
    )

    def at(*i: IterVar) -> Expr:
        c = i[axis]
        return (x(*i) - mean(c)) * factor(c) + bias(c)

    return compute(x.shape, at, "batch_norm", tag="broadcast")


def lrn(
    x: Tensor, size: int, *, alpha: float = 1e-4, beta: float = 0.75, bias: float = 1.0
) -> Tensor:
    """Divide each element by a power of the sum of squares over ``size`` neighbouring channels.

    Shapes: x [N, C, D...] -> [N, C, D...].
    Source: ONNX LRN-13.
    """
    check_rank(x, 2, "lrn", at_least=True)
    channels = extents(x)[1]
    # Beyond the channels there are only zeros, so a window need not be larger than their number.
    most = channels if isinstance(channels, int) else size
    before, after = min((size - 1) // 2, most), min(size // 2, most)
    rest = (0,) * (x.ndim - 2)
    around = pad(x, (0, before, *rest), (0, after, *rest))
    k = reduce_axis((0, before + after + 1), name="rc")

    def squares(*i: IterVar) -> Expr:
        value = around(i[0], i[1] + k, *i[2:])
        return te.sum(value * value, axis=k)

    total = compute(x.shape, squares, "square_sum", tag="reduction")

    def scaled(value: Expr, sum_of_squares: Expr) -> Expr:
        return value / ir.call("pow", sum_of_squares * (alpha / size) + bias, beta)

    return elementwise(scaled, x, total, name="lrn")
