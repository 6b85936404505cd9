"""Normalisation."""

from irkit import ir, te
from irkit.core import ShapeError
from irkit.ir import Expr
from irkit.te import IterVar, Tensor, define_stage, elementwise, reduce_axis
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

    return define_stage(x.shape, at, "batch_norm", tag="broadcast")


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

    total = define_stage(x.shape, squares, "square_sum", tag="reduction")

    return _divided(x, total, size, alpha, beta, bias)


def lrn_blocked(
    x: Tensor, size: int, *, alpha: float = 1e-4, beta: float = 0.75, bias: float = 1.0
) -> Tensor:
    """Normalize as ``lrn`` does, all lanes of all blocks being channels.

    Squares are laid out with the blocks of a place side by side and zeros around them, so that the
    lanes of a window's element are consecutive in memory.

    Shapes: x [N, B, D..., c], B and c constant -> [N, B, D..., c].
    """
    check_rank(x, 3, "lrn_blocked", at_least=True)
    blocks, lanes = extents(x)[1], extents(x)[-1]
    if not isinstance(blocks, int) or not isinstance(lanes, int):
        raise ShapeError("lrn_blocked: blocks and lanes must be constants")
    before = min((size - 1) // 2, blocks * lanes)
    after = min(size // 2, blocks * lanes)
    # Whole blocks of zeros on both sides.
    first, last = -(-before // max(lanes, 1)), -(-after // max(lanes, 1))
    k = reduce_axis((0, before + after + 1), name="rc")

    def square(n: IterVar, *rest: IterVar) -> Expr:
        *place, block, lane = rest
        inside = ir.minimum(ir.maximum(block - first, 0), blocks - 1)
        value = x(n, inside, *place, lane)
        known = ir.logical_and(ir.ge(block, first), ir.lt(block, first + blocks))
        return ir.if_then_else(known, value * value, ir.const(0, x.dtype))

    wide = (x.shape[0], *x.shape[2:-1], first + blocks + last, lanes)
    squares = define_stage(wide, square, "squares", tag="injective")

    def summed(n: IterVar, block: IterVar, *rest: IterVar) -> Expr:
        *place, lane = rest
        at = (block + first) * lanes + lane + k - before
        return te.sum(squares(n, *place, at // lanes, at % lanes), axis=k)

    total = define_stage(x.shape, summed, "square_sum", tag="reduction")
    return _divided(x, total, size, alpha, beta, bias)


def _divided(x: Tensor, total: Tensor, size: int, alpha: float, beta: float, bias: float) -> Tensor:
    def scaled(value: Expr, sum_of_squares: Expr) -> Expr:
        return value / _power(sum_of_squares * (alpha / size) + bias, beta, bias)

    return elementwise(scaled, x, total, name="lrn")


def _power(value: Expr, beta: float, bias: float) -> Expr:
    """Return a power, by roots where there are few: they take a quarter of the time.

    A sum with a bias above zero is no -0.0, whose roots differ from its powers.
    """
    if beta == 1:
        return value
    if bias > 0 and beta in (0.5, 0.75):
        root = ir.call("sqrt", value)
        return root if beta == 0.5 else root * ir.call("sqrt", root)
    return ir.call("pow", value, beta)
