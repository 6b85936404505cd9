"""Products with a matrix that lies in panels of columns."""

from irkit import ir, te
from irkit.core import ShapeError, user_span
from irkit.te import IterVar, Tensor, define_stage, reduce_axis
from irkit.topi.elementwise import cast
from irkit.topi.extents import accumulator, check_equal, check_rank, extents


def matmul_panels(a: Tensor, b: Tensor, *, columns: int) -> Tensor:
    """Multiply by a matrix whose column n lies in panel n // W at place n % W.

    Shapes: a [..., K], b [(columns + W - 1) // W, K, W] -> [..., columns].
    Raises: ShapeError if the two disagree about K or the number of columns.
    """
    check_rank(b, 3, "matmul_panels")
    count, inner, width = extents(b)
    check_equal(extents(a)[-1], inner, "matmul_panels: the last axis of a and axis 1 of b")
    if not isinstance(width, int) or count != -(-columns // width):
        raise ShapeError(
            f"matmul_panels: expected panels for {columns} columns, found {count} of {width}",
            span=user_span("matmul_panels"),
        )
    k = reduce_axis((0, b.shape[1]), name="k")
    wide = accumulator(a.dtype)

    def at(*i: IterVar) -> ir.Expr:
        *lead, n = i
        weight = b(n // width, k, n % width)
        return te.sum(ir.cast(a(*lead, k), wide) * ir.cast(weight, wide), axis=k)

    product = define_stage((*a.shape[:-1], columns), at, "matmul_panels", tag="complex")
    return product if wide == a.dtype else cast(product, a.dtype)
