"""asin, acos, atan and atan2 of f32.

atan is computed in f64, where no quotient of f32 numbers overflows or loses digits; asin in f32,
near 1 as asin(x) = pi/2 - 2 * asin(sqrt((1 - x) / 2)).
"""

from irkit.codegen.math.lane_arithmetic import LaneArithmetic

_PI = 3.14159265358979324
# asin(x) = x + x**3 * p(x**2) for abs(x) <= 1/2, within 2**-31; each rounded to f32.
_ASIN = (0.0376731232, 0.0143291894, 0.0318360552, 0.0445136353, 0.0750052109, 0.166666597)
# atan(x) = x * p(x**2) for abs(x) <= 1, within 2**-31.
_ATAN = (
    0.0011120827491522052, -0.0073041233864717149, 0.022496637511325298, -0.04461861753954003,
    0.067346401358089697, -0.088069103477637967, 0.11056676109872821, -0.14279493327889381,
    0.19999630622541989, -0.3333332471972284, 0.99999999966731945,
)  # fmt: skip


def asin(f: LaneArithmetic, x: str) -> str:
    far, arc = _sine_arc(f, x)
    value = f.choose(far, f.sub(_PI / 2, f.add(arc, arc)), arc)
    return f.with_sign_of(value, x)


def acos(f: LaneArithmetic, x: str) -> str:
    """Compute pi/2 - asin(x), without the cancellation near 1."""
    far, arc = _sine_arc(f, x)
    double = f.add(arc, arc)
    ends = f.choose(f.compare("olt", x, 0.0), f.sub(_PI, double), double)
    # f32 drops a part of pi/2 that is a third of an ulp of the result.
    middle = f.sub(_PI / 2, f.sub(f.with_sign_of(arc, x), -4.37113883e-8))
    return f.choose(far, ends, middle)


def _sine_arc(f: LaneArithmetic, x: str) -> tuple[str, str]:
    """Return whether abs(x) > 1/2, and asin of abs(x) or, if so, of sqrt((1 - abs(x)) / 2)."""
    size = f.abs(x)
    far = f.compare("ogt", size, 0.5)
    square = f.choose(far, f.fma(size, -0.5, 0.5), f.mul(size, size))
    root = f.sqrt(square)
    base = f.choose(far, root, size)
    return far, f.fma(f.polynomial(square, _ASIN), f.mul(square, base), base)


def atan(f: LaneArithmetic, x: str) -> str:
    d, x = f.widened(x)
    size = d.abs(x)
    steep = d.compare("ogt", size, 1.0)
    arc = _tangent_arc(d, d.choose(steep, d.div(1.0, size), size))
    value = d.choose(steep, d.sub(_PI / 2, arc), arc)
    return f.narrowed(d, d.with_sign_of(value, x))


def atan2(f: LaneArithmetic, y: str, x: str) -> str:
    """Compute atan of the smaller over the larger magnitude, and move it to the right octant."""
    (d, y), (_, x) = f.widened(y), f.widened(x)
    # In C, two infinities give the diagonal and two zeros the angle 0.
    up, along = (d.at_most(d.abs(each), 2.0**400) for each in (y, x))
    steep = d.compare("ogt", up, along)
    low, high = d.choose(steep, along, up), d.choose(steep, up, along)
    arc = _tangent_arc(d, d.div(low, d.at_least(high, 2.0**-200)))
    arc = d.choose(steep, d.sub(_PI / 2, arc), arc)
    behind = d.compare_bits("slt", d.as_bits(x), 0)  # -0.0 too.
    arc = d.choose(behind, d.sub(_PI, arc), arc)
    return f.narrowed(d, d.with_sign_of(arc, y))


def _tangent_arc(d: LaneArithmetic, x: str) -> str:
    return d.mul(x, d.polynomial_by_halves(d.mul(x, x), _ATAN))
