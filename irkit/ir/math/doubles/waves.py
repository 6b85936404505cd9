"""sin, cos and tan of f64, for all its numbers, without branches.

An angle is a whole number of quarter turns and the rest, which is a sum of two numbers and lies
between -pi/4 and pi/4. Up to 2**20 whole multiples of pi/2 are subtracted (Cody and Waite); for
larger angles see quarter_turns.
"""

from typing import Literal

from irkit.ir.expr import Expr
from irkit.ir.math.doubles.quarter_turns import of_large
from irkit.ir.math.doubles.sums_of_two import Sum, exact_product, exact_sum, normalised
from irkit.ir.math.lane_arithmetic import LaneArithmetic

# pi/2 as a sum. The products of the first three with numbers below 2**20 are exact.
HALF_PI = tuple(
    float.fromhex(part)
    for part in (
        "0x1.921fb54400000p+0",
        "0x1.0b4611a600000p-34",
        "0x1.3198a2e000000p-69",
        "0x1.b839a252049c1p-104",
    )
)
_LARGE = 2.0**20
_SMALL = 2.0**-27
"""Below, sin(x) and tan(x) are x."""
# sin(x) = x + x**3 * p(x**2), within 2**-58, and cos(x) = 1 - x**2 / 2 + x**4 * p(x**2), within
# 2**-64, for abs(x) <= pi/4.
_SIN = (1.5896794445884153e-10, -2.505075809206867e-08, 2.755731369174883e-06,
        -0.0001984126982980723, 0.008333333333322413, -0.16666666666666632)  # fmt: skip
_COS = (-1.1359647678960797e-11, 2.0875723270634326e-09, -2.7557314352311716e-07,
        2.4801587289482103e-05, -0.0013888888888874125, 0.0416666666666666)  # fmt: skip


def sin(f: LaneArithmetic, x: Expr) -> Expr:
    value = _wave(f, x, 0)
    return f.choose(f.compare("olt", f.abs(x), _SMALL), x, value)


def cos(f: LaneArithmetic, x: Expr) -> Expr:
    return _wave(f, x, 1)


def tan(f: LaneArithmetic, x: Expr) -> Expr:
    """Compute sine over cosine; after an odd number of quarter turns, minus cosine over sine."""
    turned, rest = _reduced(f, x)
    odd = f.is_odd(turned)
    sine, cosine = (normalised(f, *each) for each in _both(f, rest))
    above, more = (f.choose(odd, b, a) for a, b in zip(sine, cosine, strict=True))
    below, rounded = (f.choose(odd, a, b) for a, b in zip(sine, cosine, strict=True))
    ratio = f.div(above, below)
    product, error = exact_product(f, ratio, below)
    missing = f.sub(f.sub(f.sub(above, product), error), f.sub(f.mul(ratio, rounded), more))
    value = _negated_if(f, f.add(ratio, f.div(missing, below)), turned)
    return f.choose(f.compare("olt", f.abs(x), _SMALL), x, _finite(f, x, value))


def _wave(f: LaneArithmetic, x: Expr, ahead: Literal[0, 1]) -> Expr:
    """Compute the sine of x plus ``ahead`` quarter turns."""
    turned, rest = _reduced(f, x)
    if ahead:
        turned = f.integer("add", turned, ahead)
    sine, cosine = (f.add(*each) for each in _both(f, rest))
    value = f.choose(f.is_odd(turned), cosine, sine)
    return _finite(f, x, _negated_if(f, value, f.integer("lshr", turned, 1)))


def _finite(f: LaneArithmetic, x: Expr, value: Expr) -> Expr:
    """Return NaN where x is no finite number."""
    return f.choose(f.compare("olt", f.abs(x), float("inf")), value, float("nan"))


def _negated_if(f: LaneArithmetic, value: Expr, whole: Expr) -> Expr:
    """Flip the sign if a whole number is odd."""
    return f.from_bits(f.integer("xor", f.as_bits(value), f.integer("shl", whole, 63)))


def _both(f: LaneArithmetic, rest: Sum) -> tuple[Sum, Sum]:
    """Return sine and cosine, each as a sum of a number and a much smaller one."""
    x, low = rest
    square = f.mul(x, x)
    half = f.mul(square, 0.5)
    near = f.sub(1.0, half)
    lost = f.sub(f.sub(1.0, near), half)
    sine = f.fma(f.mul(square, x), f.polynomial(square, _SIN), f.mul(low, near))
    cosine = f.fma(f.mul(square, square), f.polynomial(square, _COS), f.sub(lost, f.mul(x, low)))
    return (x, sine), (near, cosine)


def _reduced(f: LaneArithmetic, x: Expr) -> tuple[Expr, Sum]:
    """Return quarter turns in the low bits of an integer, and the rest in radians."""
    whole, turned = f.nearest(x, 0.6366197723675814)
    first, second, third, fourth = (f.mul(whole, part) for part in HALF_PI)
    high, lost = exact_sum(f, f.sub(x, first), f.neg(second))
    high, lost_too = exact_sum(f, high, f.neg(third))
    near = normalised(f, high, f.sub(f.add(lost, lost_too), fourth))
    far_turned, far = of_large(f, x)
    large = f.compare("oge", f.abs(x), _LARGE)
    high, low = (f.choose(large, b, a) for a, b in zip(near, far, strict=True))
    return f.choose_bits(large, far_turned, turned), (high, low)
