"""Numbers as sums of two, of which the second holds what the first rounds away."""

from irkit.ir.expr import Expr
from irkit.ir.math.lane_arithmetic import LaneArithmetic

Sum = tuple[Expr, Expr]


def exact_product(f: LaneArithmetic, a: Expr, b: Expr) -> Sum:
    """Return a product, and exactly what its rounding lost."""
    product = f.mul(a, b)
    if f.features.fuses:
        return product, f.fused(a, b, f.neg(product))
    (a_high, a_low), (b_high, b_low) = _halves(f, a), _halves(f, b)
    error = f.sub(f.mul(a_high, b_high), product)
    error = f.add(f.add(error, f.mul(a_high, b_low)), f.mul(a_low, b_high))
    return product, f.add(error, f.mul(a_low, b_low))


def _halves(f: LaneArithmetic, x: Expr) -> Sum:
    """Split a number into two of half the digits (Veltkamp)."""
    large = f.mul(x, 2.0**27 + 1)
    high = f.sub(large, f.sub(large, x))
    return high, f.sub(x, high)


def exact_sum(f: LaneArithmetic, a: Expr, b: Expr) -> Sum:
    """Return a sum, and exactly what its rounding lost (Knuth)."""
    total = f.add(a, b)
    of_b = f.sub(total, a)
    return total, f.add(f.sub(a, f.sub(total, of_b)), f.sub(b, of_b))


def normalised(f: LaneArithmetic, high: Expr, low: Expr) -> Sum:
    """Return the same sum, the first part rounded, where it is 0 or not below the second."""
    total = f.add(high, low)
    return total, f.add(f.sub(high, total), low)
