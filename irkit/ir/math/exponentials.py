"""exp and functions based on it, for f32 and f64: exp2, expm1, sigmoid, sinh, cosh, tanh and erf.

e**x = 2**n * e**r, where n is an integer and r is at most half of ln 2. The coefficients are
minimax fits, those of f32 each rounded before the next was fitted. Ranges are clamped by
comparisons that are false for NaN, so NaN passes through. Tables are by the digits of a mantissa.
"""

from irkit.ir.expr import Expr
from irkit.ir.math.lane_arithmetic import LaneArithmetic

_LOG2E = 1.44269504088896341
_LN2 = 0.693147180559945309
# ln 2 in two parts; the first has few bits, so its product with a small integer is exact.
_LN2_PARTS = {23: (0.693359375, -2.12194440e-4), 52: (0.6931471804855391, 7.440617110012397e-11)}
# e**r = 1 + r + r**2 * p(r) for |r| <= ln(2) / 2, within 2**-28 and 2**-62.
_EXP = {
    23: (0.00138201087, 0.00836868491, 0.0416682735, 0.166665211, 0.49999994),
    52: (2.0914686968086876e-09, 2.5105217004720745e-08, 2.75572736431103e-07,
         2.7557255400206422e-06, 2.4801587325547743e-05, 0.00019841269874820627,
         0.0013888888888883748, 0.008333333333326136, 0.04166666666666667, 0.1666666666666667, 0.5),
}  # fmt: skip
# The same for e**r - 1; of f32 within 2**-31.
_EXPM1 = {
    23: (0.000199442555, 0.00139326858, 0.00833320804, 0.0416664891, 0.166666672, 0.5),
    52: _EXP[52],
}
# erf(x) = x + x * p(x**2) for |x| <= 0.9375; of f64 within 2**-59.
_ERF_NEAR = {
    23: (8.13851875e-05, -0.000808232231, 0.00519506121, -0.026856631, 0.112836361,
         -0.376126289, 0.128379166),
    52: (-8.233551170498576e-10, 1.3935959482578172e-08, -1.625443618410487e-07,
         1.645294611968375e-06, -1.4925148308491612e-05, 0.00012055314563830252,
         -0.0008548326577474217, 0.005223977618583903, -0.026866170644508157,
         0.11283791670952198, -0.376126389031837, 0.12837916709551256),
}  # fmt: skip
# Of f32: erf(x) = 1 - e**-(x + x * p(x)) for 0.9375 < x <= 4.
# Of f64: erf(x) = 1 - e**-(x**2) * p((3 - x) / (3 + x)) for 0.9375 < x <= 6, within 2**-61.
_ERF_FAR = {
    23: (9.77424588e-06, -0.00030966397, 0.0035943801, -0.0236706361, 0.1061415, 0.635203123,
         0.128637031),
    52: (-1.9559876560778362e-07, 2.596296497413122e-07, 1.2457913228604437e-06,
         -2.1085872339054767e-06, -7.978450680095892e-06, 1.2858719760675676e-05,
         6.405674656079903e-05, -4.525514852584388e-05, -0.0005970619688526901,
         -0.0007077464460374543, 0.004269136333788831, 0.024392499318854403, 0.0716658371979583,
         0.150115936500775, 0.24560380171233104, 0.3262335600430372, 0.17900115118138996),
}  # fmt: skip
# From where on results overflow, vanish or round to 1.
_EXP_RANGE = {23: (-104.0, 89.0), 52: (-746.0, 710.0)}
_EXP2_RANGE = {23: (-151.0, 129.0), 52: (-1076.0, 1025.0)}
_EXPM1_RANGE = {23: (-18.0, 89.0), 52: (-40.0, 710.0)}
_COSH_END = {23: 90.0, 52: 711.0}
_SINH_END = {23: 89.5, 52: 710.6}
_SINH_LINEAR = {23: 2.0**-12, 52: 2.0**-26}
_TANH_END = {23: 9.125, 52: 19.1}
_ERF_END = {23: 4.0, 52: 6.0}


def exp(f: LaneArithmetic, x: Expr) -> Expr:
    """Compute e**x; 0 far below without computing it, since a result that vanishes takes processors
    as long as ten others. Masked scores of attention are there."""
    low, high = _EXP_RANGE[f.mantissa]
    vanishes = f.compare("olt", x, low)
    value = _exp(f, f.choose(vanishes, 0.0, f.at_most(x, high)))
    return f.choose(vanishes, 0.0, value)


def exp2(f: LaneArithmetic, x: Expr) -> Expr:
    x = _within(f, x, _EXP2_RANGE)
    whole, held = f.nearest(x)
    return _scaled(f, _near_one(f, f.mul(f.sub(x, whole), _LN2)), whole, held)


def expm1(f: LaneArithmetic, x: Expr) -> Expr:
    """Compute 2 * (2**(n-1) * (e**r - 1) + 2**(n-1) - 1/2), since 2**128 would be infinite."""
    rest, _, held = _reduced(f, _within(f, x, _EXPM1_RANGE))
    half = f.power_of_two(f.integer("sub", held, 1))
    value = f.fma(half, _minus_one(f, rest), f.sub(half, 0.5))
    return f.with_sign_of(f.add(value, value), x)


def sigmoid(f: LaneArithmetic, x: Expr) -> Expr:
    """Compute 1 / (1 + e**-x) for x >= 0, else e**x / (1 + e**x).

    Neither overflows or loses digits.
    """
    minus_size = f.neg(f.abs(x))
    small = _exp(f, f.at_least(minus_size, _EXP_RANGE[f.mantissa][0]))
    above = f.choose(f.compare("olt", x, 0.0), small, 1.0)
    return f.div(above, f.add(small, 1.0))


def cosh(f: LaneArithmetic, x: Expr) -> Expr:
    """Compute h + 1 / (4 * h) with h = e**abs(x) / 2."""
    rest, whole, held = _reduced(f, f.at_most(f.abs(x), _COSH_END[f.mantissa]))
    half = _scaled(f, _near_one(f, rest), f.sub(whole, 1.0), f.integer("sub", held, 1))
    return f.add(half, f.div(0.25, half))


def sinh(f: LaneArithmetic, x: Expr) -> Expr:
    """Compute 2 * q + q / (2 * q + 1/2) with q = (e**abs(x) - 1) / 4; keep a small x as is."""
    size = f.abs(x)
    rest, _, held = _reduced(f, f.at_most(size, _SINH_END[f.mantissa]))
    scale = f.power_of_two(f.integer("sub", held, 2))
    quarter = f.fma(scale, _minus_one(f, rest), f.sub(scale, 0.25))
    half = f.add(quarter, quarter)
    value = f.add(half, f.div(quarter, f.add(half, 0.5)))
    small = f.compare("olt", size, _SINH_LINEAR[f.mantissa])
    return f.choose(small, x, f.with_sign_of(value, x))


def tanh(f: LaneArithmetic, x: Expr) -> Expr:
    """Compute t / (t + 2) with t = e**(2 * abs(x)) - 1."""
    size = f.at_most(f.abs(x), _TANH_END[f.mantissa])
    rest, _, held = _reduced(f, f.add(size, size))
    scale = f.power_of_two(held)
    grown = f.fma(scale, _minus_one(f, rest), f.sub(scale, 1.0))
    return f.with_sign_of(f.div(grown, f.add(grown, 2.0)), x)


def erf(f: LaneArithmetic, x: Expr) -> Expr:
    near = f.fma(f.polynomial(f.mul(x, x), _ERF_NEAR[f.mantissa]), x, x)
    size = f.at_most(f.abs(x), _ERF_END[f.mantissa])
    rest = _erfc(f, size) if f.mantissa == 52 else _exp(f, f.neg(_erf_power(f, size)))
    far = f.sub(1.0, rest)
    return f.choose(f.compare("ogt", size, 0.9375), f.with_sign_of(far, x), near)


def _erf_power(f: LaneArithmetic, size: Expr) -> Expr:
    return f.fma(f.polynomial(size, _ERF_FAR[23]), size, size)


def _erfc(f: LaneArithmetic, size: Expr) -> Expr:
    ratio = f.div(f.sub(3.0, size), f.add(size, 3.0))
    return f.mul(_exp(f, f.neg(f.mul(size, size))), f.polynomial(ratio, _ERF_FAR[52]))


def _within(f: LaneArithmetic, x: Expr, ends: dict[int, tuple[float, float]]) -> Expr:
    low, high = ends[f.mantissa]
    return f.at_most(f.at_least(x, low), high)


def _exp(f: LaneArithmetic, x: Expr) -> Expr:
    rest, whole, held = _reduced(f, x)
    return _scaled(f, _near_one(f, rest), whole, held)


def _reduced(f: LaneArithmetic, x: Expr) -> tuple[Expr, Expr, Expr]:
    """Return r, and n as a float and in the low bits of an integer."""
    whole, held = f.nearest(x, _LOG2E)
    for part in _LN2_PARTS[f.mantissa]:
        x = f.fma(whole, -part, x)
    return x, whole, held


def _near_one(f: LaneArithmetic, r: Expr) -> Expr:
    return f.add(f.fma(f.polynomial(r, _EXP[f.mantissa]), f.mul(r, r), r), 1.0)


def _minus_one(f: LaneArithmetic, r: Expr) -> Expr:
    return f.fma(f.polynomial(r, _EXPM1[f.mantissa]), f.mul(r, r), r)


def power_of_e(f: LaneArithmetic, r: Expr, whole: Expr) -> Expr:
    """Compute 2**whole * e**r for a small r."""
    _, held = f.nearest(whole)
    return _scaled(f, _near_one(f, r), whole, held)


def _scaled(f: LaneArithmetic, value: Expr, whole: Expr, held: Expr) -> Expr:
    """Multiply by 2**n: one instruction in AVX-512, else in two halves, to avoid overflow."""
    if f.scales or f.mantissa == 23:
        exponent = f.integer("sub", held, 0x4B400000 if f.mantissa == 23 else 0x4338 << 48)
        if f.scales:
            return f.ldexp(value, exponent)
        half = f.integer("ashr", exponent, 1)
        rest = f.integer("sub", exponent, half)
    else:  # AVX2 cannot shift signed 64-bit integers.
        near, half = f.nearest(whole, 0.5)
        _, rest = f.nearest(f.sub(whole, near))
    return f.mul(f.mul(value, f.power_of_two(half)), f.power_of_two(rest))
