"""Products by powers of 2, where the target has no instruction for them."""

from irkit.ir.conditional import Select
from irkit.ir.dtype import BOOL
from irkit.ir.expr import GT, LT, Add, Cast, Expr, Max, Min, Sub, const
from irkit.ir.math.lane_arithmetic import LaneArithmetic

_FAR = 4096
"""No float reaches so far that more would matter."""


def scaled(f: LaneArithmetic, x: Expr, exponent: Expr) -> Expr:
    """Compute ``x * 2**exponent`` by three products, of which only the last can round.

    Far below the normal numbers, the first two stop above them, so that what is lost is lost once.
    """
    n, bools = _near(f, exponent), BOOL.with_lanes(f.dtype.lanes)
    top, low = f.bias, 1 - f.bias
    down = low + f.mantissa + 1
    for _ in range(2):
        above, below = (cls(n, const(end, n.dtype), bools) for cls, end in ((GT, top), (LT, low)))
        x = f.choose(above, f.mul(x, 2.0**top), f.choose(below, f.mul(x, 2.0**down), x))
        less = Sub(n, const(top, n.dtype), n.dtype)
        more = Add(n, const(-down, n.dtype), n.dtype)
        n = Select(above, less, Select(below, more, n, n.dtype), n.dtype)
    n = Max(Min(n, const(top, n.dtype), n.dtype), const(low, n.dtype), n.dtype)
    return f.mul(x, f.power_of_two(Cast(n, f.whole)))


def _near(f: LaneArithmetic, exponent: Expr) -> Expr:
    """Return an exponent as an integer as wide as the floats, without what is too far."""
    kind = exponent.dtype
    if kind.low < -_FAR:
        exponent = Max(exponent, const(-_FAR, kind), kind)
    if kind.high > _FAR:
        exponent = Min(exponent, const(_FAR, kind), kind)
    return exponent if kind == f.signed else Cast(exponent, f.signed)
