"""Matrix products. 16-bit floats accumulate in f32 by default."""

from irkit import ir, te
from irkit.core import ShapeError, user_span
from irkit.ir import DType, Expr, as_dtype
from irkit.te import (
    IterVar,
    Tensor,
    broadcast_read,
    broadcast_shape,
    define_stage,
    reduce_axis,
)
from irkit.topi.broadcast import add, multiply
from irkit.topi.elementwise import cast
from irkit.topi.extents import accumulator, check_equal, check_rank, extents


def matmul(
    a: Tensor,
    b: Tensor,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    out_dtype: DType | str | None = None,
) -> Tensor:
    """Multiply matrices over the last two axes, broadcasting the others; vectors as NumPy does.

    Shapes: a [..., M, K], b [..., K, N] -> [..., M, N]; a vector is one row of ``a`` or one column
    of ``b``, without that axis in the result. A transposed side has its last two axes swapped.
    Raises: ShapeError if the two disagree about K.
    Source: ONNX MatMul-13; numpy.matmul.
    """
    if a.ndim == 0 or b.ndim == 0:
        raise ShapeError("matmul: a scalar has no rows or columns", span=user_span("matmul"))
    flip_a, flip_b = transpose_a and a.ndim > 1, transpose_b and b.ndim > 1
    inner_a = a.ndim - (2 if flip_a else 1)
    inner_b = b.ndim - (2 if b.ndim > 1 and not flip_b else 1)
    check_equal(
        extents(a)[inner_a],
        extents(b)[inner_b],
        f"matmul: axis {inner_a} of {a.name!r} and axis {inner_b} of {b.name!r} must agree",
    )
    k = reduce_axis((0, a.shape[inner_a]), name="k")
    batch = broadcast_shape([a.shape[:-2], b.shape[:-2]], "matmul")
    rows = () if a.ndim == 1 else (a.shape[-1 if flip_a else -2],)
    columns = () if b.ndim == 1 else (b.shape[-2 if flip_b else -1],)
    narrow = as_dtype(out_dtype) if out_dtype is not None else ir.common(a.dtype, b.dtype)
    wide = narrow if out_dtype is not None else accumulator(narrow)

    def read(x: Tensor, lead: tuple[IterVar, ...], row: Expr | None, column: Expr | None) -> Expr:
        last = [each for each in (row, column) if each is not None]
        return ir.cast(broadcast_matrix(x, batch, lead, last), wide)

    def at(*i: IterVar) -> Expr:
        lead, tail = i[: len(batch)], list(i[len(batch) :])
        row = tail.pop(0) if rows else None
        column = tail.pop(0) if columns else None
        left = (k, row) if flip_a else (row, k)
        right = (column, k) if flip_b else (k, column)
        return te.sum(read(a, lead, *left) * read(b, lead, *right), axis=k)

    product = define_stage((*batch, *rows, *columns), at, "matmul", tag="complex")
    return product if wide == narrow else cast(product, narrow)


def broadcast_matrix(
    x: Tensor, batch: tuple[Expr, ...], lead: tuple[Expr, ...], last: list[Expr]
) -> Expr:
    """Read an element of one matrix of a batch that broadcasts to a larger one."""
    own = x.ndim - len(last)
    shape = (*batch[len(batch) - own :], *x.shape[own:]) if own else x.shape
    return broadcast_read(x, shape, (*lead[len(lead) - own :], *last))


def dense(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Apply a fully connected layer.

    Shapes: x [..., C], weight [K, C], bias [K] -> [..., K].
    Raises: ShapeError if x and weight disagree about C.
    """
    check_rank(weight, 2, "dense")
    product = matmul(x, weight, transpose_b=True)
    return product if bias is None else add(product, bias)


def gemm(
    a: Tensor,
    b: Tensor,
    c: Tensor | None = None,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    transpose_a: bool = False,
    transpose_b: bool = False,
) -> Tensor:
    """Compute alpha * a @ b + beta * c, with c broadcast.

    Shapes: a [M, K], b [K, N] -> [M, N].
    Source: ONNX Gemm-13.
    """
    check_rank(a, 2, "gemm")
    check_rank(b, 2, "gemm")
    product = matmul(a, b, transpose_a=transpose_a, transpose_b=transpose_b)
    if alpha != 1.0:
        product = multiply(product, alpha)
    if c is None or beta == 0.0:
        return product
    return add(product, c if beta == 1.0 else multiply(c, beta))
