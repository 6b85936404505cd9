"""sin, cos and tan of f32, for all its numbers: reduced and evaluated in f64, without branches.

x * 2/pi is a whole number of quarter turns and a fraction between -1/2 and 1/2; of the whole number
only the two lowest bits matter. The products with the first two parts of 2/pi are exact (24 + 29
bits), so nothing is lost when they cancel. For a large x the first bits of 2/pi give multiples of
four quarter turns, so each range of x has parts that leave these bits out (Payne and Hanek).
"""

from typing import Literal

from irkit.ir.expr import Expr
from irkit.ir.math.lane_arithmetic import LaneArithmetic

_QUARTERS = tuple(
    tuple(float.fromhex(part) for part in parts)
    for parts in (
        ("0x1.45f306dp-1", "0x1.9391054p-30", "0x1.4fe13abe8fa9ap-59"),
        ("0x1.727220ap-27", "0x1.29fc275p-56", "0x1.f47d4d377036ep-86"),
        ("0x1.4a7f09cp-54", "0x1.5f47d4dp-82", "0x1.bb81b6c52b328p-113"),
        ("0x1.abe8fa9p-79", "0x1.4ddc0dbp-108", "0x1.8a5664f10e410p-138"),
    )
)
# Lower bounds of the ranges of the later rows.
_FROM = (2.0**51, 2.0**77, 2.0**103)
# sin(pi/2 * t) = t * p(t**2), within 2**-36, and cos(pi/2 * t) = p(t**2), within 2**-33.
_SIN = (0.00015811712958618422, -0.0046812264902760499, 0.079692577298275696,
        -0.64596409591648951, 1.5707963267866387)  # fmt: skip
_COS = (0.00090341095503478454, -0.020860026813301343, 0.25366921088182282,
        -1.2337005421933263, 1.0)  # fmt: skip


def sin(f: LaneArithmetic, x: Expr) -> Expr:
    return _wave(f, x, 0)


def cos(f: LaneArithmetic, x: Expr) -> Expr:
    return _wave(f, x, 1)


def _wave(f: LaneArithmetic, x: Expr, ahead: Literal[0, 1]) -> Expr:
    """Compute the sine of x plus ``ahead`` quarter turns."""
    d, wide = f.widened(x)
    turned, fraction = _reduced(d, wide)
    if ahead:
        turned = d.integer("add", turned, ahead)
    sine, cosine = _both(d, fraction)
    value = d.choose(d.is_odd(turned), cosine, sine)
    return f.narrowed(_negated_if(d, value, d.integer("lshr", turned, 1)))


def tan(f: LaneArithmetic, x: Expr) -> Expr:
    """Compute sine over cosine; after an odd number of quarter turns, minus cosine over sine."""
    d, wide = f.widened(x)
    turned, fraction = _reduced(d, wide)
    sine, cosine = _both(d, fraction)
    odd = d.is_odd(turned)
    value = d.div(d.choose(odd, cosine, sine), d.choose(odd, sine, cosine))
    return f.narrowed(_negated_if(d, value, turned))


def _both(d: LaneArithmetic, fraction: Expr) -> tuple[Expr, Expr]:
    square = d.mul(fraction, fraction)
    return d.mul(fraction, d.polynomial(square, _SIN)), d.polynomial(square, _COS)


def _negated_if(d: LaneArithmetic, value: Expr, whole: Expr) -> Expr:
    """Flip the sign if a whole number is odd."""
    return d.from_bits(d.integer("xor", d.as_bits(value), d.integer("shl", whole, 63)))


def _reduced(d: LaneArithmetic, x: Expr) -> tuple[Expr, Expr]:
    """Return quarter turns in the low bits of an integer, and the remaining fraction."""
    size = d.abs(x)
    first, second, third = (d.value(part) for part in _QUARTERS[0])
    for start, parts in zip(_FROM, _QUARTERS[1:], strict=True):
        large = d.compare("oge", size, start)
        first, second, third = (
            d.choose(large, part, before)
            for part, before in zip(parts, (first, second, third), strict=True)
        )
    coarse = d.mul(x, first)
    whole, turned = d.nearest(coarse)
    middle = d.add(d.sub(coarse, whole), d.mul(x, second))
    more, turned_more = d.nearest(middle)
    fraction = d.fma(x, third, d.sub(middle, more))
    return d.integer("add", turned, turned_more), fraction
