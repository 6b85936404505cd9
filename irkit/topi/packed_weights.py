"""Products with weights of 4 bits, two in a byte, and of 8."""

from irkit import ir, te
from irkit.ir import F32, Expr
from irkit.te import IterVar, Tensor, define_stage, reduce_axis
from irkit.topi.elementwise import cast
from irkit.topi.extents import accumulator, check_equal, check_rank, extents

_MIDDLE = 8


def matmul_4bit(
    a: Tensor, b: Tensor, scales: Tensor, zeros: Tensor | None = None, *, block: int
) -> Tensor:
    """Multiply by a matrix of 4-bit weights, each less a zero point and times a scale.

    Byte [p, n] of ``b`` holds row 2p of the matrix in its low half and row 2p + 1 in its high half.
    ``scales`` and ``zeros`` have one row for each ``block`` rows; without ``zeros``, they are 8.

    Shapes: a [..., K], b [(K + 1) // 2, N], scales and zeros [(K + block - 1) // block, N]
    -> [..., N].
    Raises: ShapeError if they disagree about K or N.
    Source: MatMulNBits-1 of com.microsoft, with the weights transposed.
    """
    check_rank(b, 2, "matmul_4bit")
    inner, columns = extents(a)[-1], extents(b)[1]
    check_equal(extents(scales)[1], columns, "matmul_4bit: each column needs scales")
    wide = accumulator(a.dtype)
    axes = _axes(inner, block)

    def place() -> tuple[Expr, Expr, Expr, Expr]:
        """Return the row, its byte, its half and its block."""
        if len(axes) == 1:
            (k,) = axes
            return k, k // 2, k % 2, k // block
        group, pair, half = axes
        byte = group * (block // 2) + pair
        return byte * 2 + half, byte, half, group

    def at(*i: IterVar) -> Expr:
        (*lead, n), (row, byte, half, group) = i, place()
        number = (b(byte, n) >> ir.cast(half * 4, b.dtype)) & 15
        zero: Expr | float = _MIDDLE if zeros is None else ir.cast(zeros(group, n), F32)
        weight = ir.cast(ir.cast(number, F32) - zero, wide) * ir.cast(scales(group, n), wide)
        return te.sum(ir.cast(a(*lead, row), wide) * weight, axis=axes)

    product = define_stage((*a.shape[:-1], b.shape[1]), at, "matmul_4bit", tag="complex")
    return product if wide == a.dtype else cast(product, a.dtype)


def matmul_8bit(
    a: Tensor, b: Tensor, scales: Tensor, zeros: Tensor | None = None, *, block: int
) -> Tensor:
    """Multiply by a matrix of numbers of 8 bits, each less a zero point and times a scale.

    ``scales`` and ``zeros`` have one row for each ``block`` rows; without ``zeros``, they are 0.

    Shapes: a [..., K], b [K, N], scales and zeros [(K + block - 1) // block, N] -> [..., N].
    Raises: ShapeError if they disagree about K or N.
    """
    check_rank(b, 2, "matmul_8bit")
    inner, columns = extents(b)
    check_equal(extents(a)[-1], inner, "matmul_8bit: the last axis of a and axis 0 of b")
    check_equal(extents(scales)[1], columns, "matmul_8bit: each column needs scales")
    wide = accumulator(a.dtype)
    row = reduce_axis((0, inner), name="k")

    def at(*i: IterVar) -> Expr:
        *lead, n = i
        number = ir.cast(b(row, n), F32)
        if zeros is not None:
            number = number - ir.cast(zeros(row // block, n), F32)
        weight = ir.cast(number, wide) * ir.cast(scales(row // block, n), wide)
        return te.sum(ir.cast(a(*lead, row), wide) * weight, axis=row)

    product = define_stage((*a.shape[:-1], b.shape[1]), at, "matmul_8bit", tag="complex")
    return product if wide == a.dtype else cast(product, a.dtype)


def _axes(inner: "int | Expr", block: int) -> tuple[IterVar, ...]:
    """Return the axes of the sum: blocks, pairs and halves where they divide the rows evenly."""
    if block % 2 or not isinstance(inner, int) or inner % block:
        return (reduce_axis((0, inner), name="k"),)
    return (
        reduce_axis((0, inner // block), name="group"),
        reduce_axis((0, block // 2), name="pair"),
        reduce_axis((0, 2), name="half"),
    )
