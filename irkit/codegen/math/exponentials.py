"""exp and functions based on it, for f32: exp2, expm1, sigmoid, sinh, cosh, tanh and erf.

e**x = 2**n * e**r, where n is an integer and r is at most half of ln 2. The coefficients are
minimax fits, each rounded to f32 before the next was fitted. Ranges are clamped by comparisons that
are false for NaN, so NaN passes through.
"""

from irkit.codegen.math.lane_arithmetic import LaneArithmetic

_LOG2E = 1.44269504088896341
_LN2 = 0.693147180559945309
# ln 2 in two parts; the first has 9 bits, so its product with a small integer is exact.
_LN2_PARTS = (0.693359375, -2.12194440e-4)
# e**r = 1 + r + r**2 * p(r) for |r| <= ln(2) / 2, within 2**-28.
_EXP = (0.00138201087, 0.00836868491, 0.0416682735, 0.166665211, 0.49999994)
# The same for e**r - 1, within 2**-31.
_EXPM1 = (0.000199442555, 0.00139326858, 0.00833320804, 0.0416664891, 0.166666672, 0.5)
# erf(x) = x + x * p(x**2) for |x| <= 0.9375.
_ERF_NEAR = (8.13851875e-05, -0.000808232231, 0.00519506121, -0.026856631, 0.112836361,
             -0.376126289, 0.128379166)  # fmt: skip
# erf(x) = 1 - e**-(x + x * p(x)) for 0.9375 < x <= 4.
_ERF_FAR = (9.77424588e-06, -0.00030966397, 0.0035943801, -0.0236706361, 0.1061415, 0.635203123,
            0.128637031)  # fmt: skip


def exp(f: LaneArithmetic, x: str) -> str:
    return _exp(f, f.at_most(f.at_least(x, -104.0), 89.0))


def exp2(f: LaneArithmetic, x: str) -> str:
    x = f.at_most(f.at_least(x, -151.0), 129.0)
    whole, held = f.nearest(x)
    return _scaled(f, _near_one(f, f.mul(f.sub(x, whole), _LN2)), held)


def expm1(f: LaneArithmetic, x: str) -> str:
    """Compute 2 * (2**(n-1) * (e**r - 1) + 2**(n-1) - 1/2), since 2**128 would be infinite."""
    rest, held = _reduced(f, f.at_most(f.at_least(x, -18.0), 89.0))
    half = f.power_of_two(f.integer("sub", held, 1))
    value = f.fma(half, _minus_one(f, rest), f.sub(half, 0.5))
    return f.with_sign_of(f.add(value, value), x)


def sigmoid(f: LaneArithmetic, x: str) -> str:
    """Compute 1 / (1 + e**-x) for x >= 0, else e**x / (1 + e**x).

    Neither overflows or loses digits.
    """
    minus_size = f.neg(f.abs(x))
    small = _exp(f, f.at_least(minus_size, -104.0))
    above = f.choose(f.compare("olt", x, 0.0), small, 1.0)
    return f.div(above, f.add(small, 1.0))


def cosh(f: LaneArithmetic, x: str) -> str:
    """Compute h + 1 / (4 * h) with h = e**abs(x) / 2."""
    rest, held = _reduced(f, f.at_most(f.abs(x), 90.0))
    half = _scaled(f, _near_one(f, rest), f.integer("sub", held, 1))
    return f.add(half, f.div(0.25, half))


def sinh(f: LaneArithmetic, x: str) -> str:
    """Compute 2 * q + q / (2 * q + 1/2) with q = (e**abs(x) - 1) / 4; keep a small x as is."""
    size = f.abs(x)
    rest, held = _reduced(f, f.at_most(size, 89.5))
    scale = f.power_of_two(f.integer("sub", held, 2))
    quarter = f.fma(scale, _minus_one(f, rest), f.sub(scale, 0.25))
    half = f.add(quarter, quarter)
    value = f.add(half, f.div(quarter, f.add(half, 0.5)))
    small = f.compare("olt", size, 2.0**-12)
    return f.choose(small, x, f.with_sign_of(value, x))


def tanh(f: LaneArithmetic, x: str) -> str:
    """Compute t / (t + 2) with t = e**(2 * abs(x)) - 1."""
    size = f.at_most(f.abs(x), 9.125)  # From here on it rounds to 1.
    rest, held = _reduced(f, f.add(size, size))
    scale = f.power_of_two(held)
    grown = f.fma(scale, _minus_one(f, rest), f.sub(scale, 1.0))
    return f.with_sign_of(f.div(grown, f.add(grown, 2.0)), x)


def erf(f: LaneArithmetic, x: str) -> str:
    near = f.fma(f.polynomial(f.mul(x, x), _ERF_NEAR), x, x)
    size = f.at_most(f.abs(x), 4.0)  # From here on it rounds to 1.
    power = f.fma(f.polynomial(size, _ERF_FAR), size, size)
    far = f.sub(1.0, _exp(f, f.neg(power)))
    return f.choose(f.compare("ogt", size, 0.9375), f.with_sign_of(far, x), near)


def _exp(f: LaneArithmetic, x: str) -> str:
    rest, held = _reduced(f, x)
    return _scaled(f, _near_one(f, rest), held)


def _reduced(f: LaneArithmetic, x: str) -> tuple[str, str]:
    """Return r, and an integer with n in its low bits."""
    whole, held = f.nearest(x, _LOG2E)
    for part in _LN2_PARTS:
        x = f.fma(whole, -part, x)
    return x, held


def _near_one(f: LaneArithmetic, r: str) -> str:
    return f.add(f.fma(f.polynomial(r, _EXP), f.mul(r, r), r), 1.0)


def _minus_one(f: LaneArithmetic, r: str) -> str:
    return f.fma(f.polynomial(r, _EXPM1), f.mul(r, r), r)


def _scaled(f: LaneArithmetic, value: str, held: str) -> str:
    """Multiply by 2**n: one instruction in AVX-512, else in two halves, to avoid overflow."""
    exponent = f.integer("sub", held, 0x4B400000)
    if f.scales:
        return f.ldexp(value, exponent)
    half = f.integer("ashr", exponent, 1)
    rest = f.integer("sub", exponent, half)
    return f.mul(f.mul(value, f.power_of_two(half)), f.power_of_two(rest))
