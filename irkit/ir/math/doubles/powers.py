"""pow, asinh, acosh and atanh of f64.

The logarithm in pow is computed as a sum of two numbers, of which the second holds what the first
rounds away: its error is multiplied by the exponent.
"""

from irkit.ir.expr import Expr
from irkit.ir.math.doubles.sums_of_two import Sum, exact_product
from irkit.ir.math.exponentials import power_of_e
from irkit.ir.math.lane_arithmetic import LaneArithmetic
from irkit.ir.math.logarithms import log1p, split_any

_LN2 = 0.693147180559945309
# 1/3 and 2 / ln 2, each as a sum.
_THIRD = (0.3333333333333333, 1.850371707708594e-17)
_TWO_LOG2E = (2.8853900817779268, 4.0710547481862066e-17)
# atanh(s) = s + s**3 / 3 + s**5 * p(s**2) for s <= 3 - 2 * sqrt(2), within 2**-62 of s.
_ATANH = (0.06456808836091125, 0.06642978717596676, 0.07692787398231016, 0.09090904123772271,
          0.1111111113555117, 0.14285714285669254, 0.20000000000000012)  # fmt: skip
_LARGE = 2.0**28
"""From here on, sqrt(x**2 + 1) is x."""


def power(f: LaneArithmetic, x: Expr, y: Expr) -> Expr:
    """Compute 2**(y * log2(abs(x))), then signs and the special cases of C's pow."""
    # So large a y is even and gives 0 or infinity for every base but 1; so does any larger one.
    y = f.at_most(f.at_least(y, -(2.0**70)), 2.0**70)
    size = _exp2(f, *_times(f, y, *_log2(f, f.abs(x))))
    whole, even = _is_whole(f, y), _is_whole(f, f.mul(y, 0.5))
    # Only a whole number that is not even gives the sign of the base.
    odd = f.choose_bits(even, f.bits(0), 1 << 63)
    sign = f.integer("and", f.as_bits(x), f.choose_bits(whole, odd, 0))
    value = f.from_bits(f.integer("xor", f.as_bits(size), sign))
    # A negative number, except -inf, has only integer powers.
    real = f.choose(f.compare("olt", x, 0.0), float("nan"), value)
    real = f.choose(f.compare("oeq", x, float("-inf")), value, real)
    value = f.choose(whole, value, real)
    value = f.choose(f.compare("oeq", y, 0.0), 1.0, value)
    return f.choose(f.compare("oeq", x, 1.0), 1.0, value)


def _is_whole(f: LaneArithmetic, x: Expr) -> Expr:
    """Return whether adding and subtracting 2**52, which leave no bits for a fraction, change a
    number; from there on, every number is whole."""
    held = f.with_sign_of(f.value(2.0**52), x)
    near = f.sub(f.add(x, held), held)
    near = f.choose(f.compare("oge", f.abs(x), 2.0**52), x, near)
    return f.compare("oeq", near, x)


def _log2(f: LaneArithmetic, x: Expr) -> Sum:
    """Return log2 of a number without its sign, as a sum: k + atanh(s) * 2 / ln 2, where s is
    t / (2 + t)."""
    k, t = split_any(f, x)
    below = f.add(t, 2.0)
    inverse = f.div(1.0, below)
    s = f.mul(t, inverse)
    product, error = exact_product(f, s, below)
    rest = f.sub(f.sub(f.sub(t, product), error), f.mul(s, f.sub(t, f.sub(below, 2.0))))
    s_low = f.mul(rest, inverse)
    square = exact_product(f, s, s)
    square = square[0], f.add(square[1], f.mul(f.add(s, s), s_low))
    cube = _times_sum(f, (s, s_low), square)
    third = _times_sum(f, cube, (f.value(_THIRD[0]), f.value(_THIRD[1])))
    tail = f.mul(f.mul(cube[0], square[0]), f.polynomial(square[0], _ATANH))
    high = f.add(s, third[0])
    low = f.add(f.sub(s, high), third[0])
    low = f.add(low, f.add(s_low, f.add(third[1], tail)))
    high, low = _times_sum(f, (high, low), (f.value(_TWO_LOG2E[0]), f.value(_TWO_LOG2E[1])))
    both = f.add(k, high)
    low = f.add(f.add(f.sub(k, both), high), low)
    both = f.choose(f.compare("olt", x, float("inf")), both, x)
    return f.choose(f.compare("oeq", x, 0.0), float("-inf"), both), low


def _times(f: LaneArithmetic, y: Expr, high: Expr, low: Expr) -> Sum:
    product, error = exact_product(f, y, high)
    return product, f.add(error, f.mul(y, low))


def _exp2(f: LaneArithmetic, high: Expr, low: Expr) -> Expr:
    """Return 2**(high + low)."""
    near = f.at_most(f.at_least(high, -1100.0), 1100.0)
    low = f.choose(f.compare("olt", f.abs(high), 1100.0), low, 0.0)
    whole, _ = f.nearest(near)
    return power_of_e(f, f.mul(f.add(f.sub(near, whole), low), _LN2), whole)


def _times_sum(f: LaneArithmetic, a: Sum, b: Sum) -> Sum:
    product, error = exact_product(f, a[0], b[0])
    return product, f.add(error, f.add(f.mul(a[0], b[1]), f.mul(a[1], b[0])))


def asinh(f: LaneArithmetic, x: Expr) -> Expr:
    """Compute log(1 + a + a**2 / (1 + sqrt(a**2 + 1))) of a = abs(x)."""
    size = f.abs(x)
    square = f.mul(size, size)
    root = f.sqrt(f.add(square, 1.0))
    grown = f.add(size, f.div(square, f.add(root, 1.0)))
    return f.with_sign_of(_log_of_sum(f, size, grown), x)


def acosh(f: LaneArithmetic, x: Expr) -> Expr:
    """Compute log(1 + t + sqrt(2 * t + t**2)) of t = x - 1 >= 0."""
    t = f.sub(x, 1.0)
    value = _log_of_sum(f, x, f.add(t, f.sqrt(f.fma(t, t, f.add(t, t)))))
    return f.choose(f.compare("olt", x, 1.0), float("nan"), value)


def _log_of_sum(f: LaneArithmetic, x: Expr, grown: Expr) -> Expr:
    """Return log(1 + grown), or log(2 * x) for a large x."""
    large = f.compare("oge", x, _LARGE)
    value = log1p(f, f.choose(large, f.sub(x, 1.0), grown))
    return f.choose(large, f.add(value, _LN2), value)


def atanh(f: LaneArithmetic, x: Expr) -> Expr:
    """Compute log(1 + 2 * a / (1 - a)) / 2 of a = abs(x) <= 1."""
    size = f.abs(x)
    ratio = f.div(f.add(size, size), f.sub(1.0, size))
    return f.with_sign_of(f.mul(log1p(f, ratio), 0.5), x)
