"""Products with weights of 4 or 8 bits that lie in panels of columns."""

from irkit import ir, te
from irkit.core import ShapeError, user_span
from irkit.ir import F32, I32, Expr
from irkit.te import IterVar, Tensor, define_stage, reduce_axis
from irkit.topi.elementwise import cast
from irkit.topi.extents import accumulator, check_equal, check_rank, extents

_MIDDLE = 8
_WHOLE = 2.0**23
"""From here to twice as much, numbers of f32 are the integers."""
_BITS_OF_WHOLE = 0x4B000000


def matmul_quantized_panels(
    a: Tensor,
    b: Tensor,
    scales: Tensor,
    zeros: Tensor | None = None,
    *,
    columns: int,
    block: int,
    bits: int,
) -> Tensor:
    """Multiply by a matrix of numbers, each less a zero point and times a scale, whose column n
    lies in panel n // W at place n % W.

    With ``bits=8``, a signed byte is a number, and zero points are 0 without ``zeros``. With
    ``bits=4``, byte [p, r, w] holds row 2r in its low half and row 2r + 1 in its high half, and
    zero points are 8 without ``zeros``. ``scales`` and ``zeros`` have one row for each ``block``
    rows of the matrix; the sum over a block is scaled once.

    Shapes: a [..., K], b [P, K * bits / 8, W], scales and zeros [P, K / block, W], P * W >= columns
    -> [..., columns].
    Raises: ShapeError if they disagree about K or the number of columns.
    """
    check_rank(b, 3, "matmul_quantized_panels")
    count, _, width = extents(b)
    inner = extents(a)[-1]
    if not isinstance(width, int) or count != -(-columns // width):
        raise ShapeError(
            f"matmul_quantized_panels: expected panels for {columns} columns, "
            f"found {count} of {width}",
            span=user_span("matmul_quantized_panels"),
        )
    if not isinstance(inner, int) or bits not in (4, 8) or inner % block or block * bits % 8:
        raise ShapeError(
            f"matmul_quantized_panels: expected rows of whole blocks of 4 or 8 bits, found {inner} "
            f"rows, blocks of {block} and {bits} bits",
            span=user_span("matmul_quantized_panels"),
        )
    check_equal(extents(b)[1], inner * bits // 8, "matmul_quantized_panels: the bytes of a column")
    wide = accumulator(a.dtype)
    group = reduce_axis((0, inner // block), name="group")
    steps = _steps(block, bits)

    def of_block(*i: IterVar) -> Expr:
        *lead, g, n = i
        row, number = _number(b, g, n, steps, block)
        zero = None if zeros is None else zeros(n // width, g, n % width)
        weight = _shifted(number, zero, bits)
        return te.sum(ir.cast(a(*lead, row), wide) * ir.cast(weight, wide), axis=steps)

    lead = a.shape[:-1]
    sums = define_stage((*lead, inner // block, columns), of_block, "block_sums")

    def at(*i: IterVar) -> Expr:
        *lead, n = i
        scale = ir.cast(scales(n // width, group, n % width), wide)
        return te.sum(sums(*lead, group, n) * scale, axis=group)

    product = define_stage((*lead, columns), at, "matmul_quantized_panels", tag="complex")
    return product if wide == a.dtype else cast(product, a.dtype)


def _shifted(number: Expr, zero: Expr | None, bits: int) -> Expr:
    """Return a number less its zero point in f32; without one, numbers of 4 bits less 8.

    The bits of a number of 4 bits are those at the end of the fraction of 2**23 plus the number: a
    subtraction, which takes the zero point away too, replaces a conversion. All of it is exact.
    """
    if bits == 8:
        wide = ir.cast(number, F32)
        return wide if zero is None else wide - ir.cast(zero, F32)
    lifted = ir.reinterpret(number | _BITS_OF_WHOLE, F32)
    return lifted - (_WHOLE + _MIDDLE if zero is None else ir.cast(zero, F32) + _WHOLE)


def _steps(block: int, bits: int) -> tuple[IterVar, ...]:
    """Return the axes of a sum over a block: its rows, or pairs of rows and halves of a byte."""
    if bits == 8:
        return (reduce_axis((0, block), name="step"),)
    return reduce_axis((0, block // 2), name="pair"), reduce_axis((0, 2), name="half")


def _number(
    b: Tensor, group: Expr, column: Expr, steps: tuple[IterVar, ...], block: int
) -> tuple[Expr, Expr]:
    """Return the row that a step is about, and the number there."""
    width = extents(b)[-1]
    if len(steps) == 1:
        row = group * block + steps[0]
        return row, ir.cast(b(column // width, row, column % width), I32)
    pair, half = steps
    byte = ir.cast(b(column // width, group * (block // 2) + pair, column % width), I32)
    return group * block + pair * 2 + half, (byte >> ir.cast(half, I32) * 4) & 15
