"""Bitwise operations and shifts of sums by constants."""

from irkit.ir.arith.interval import wrap
from irkit.ir.arith.sums import Sum
from irkit.ir.expr import Binary, BitAnd, BitOr, BitXor, Shl


def bits_of_equal(node: Binary, x: Sum) -> Sum | None:
    """Simplify an operation on two equal operands; None if no rule applies."""
    if isinstance(node, BitXor):
        return Sum({})
    return x if isinstance(node, (BitAnd, BitOr)) else None


def bits_by(node: Binary, x: Sum, by: int) -> Sum | None:
    """Simplify an operation on a sum and a constant; None if no rule applies."""
    full = wrap(-1, node.dtype)
    if isinstance(node, BitAnd):
        return Sum({}) if by == 0 else x if by == full else None
    if isinstance(node, BitOr):
        return x if by == 0 else Sum({}, full) if by == full else None
    if isinstance(node, Shl):
        return x.scaled(1 << by if 0 <= by < node.dtype.bits else 0)
    return x if by == 0 else None
