"""asin and acos of f32 and f64, atan and atan2 of f32.

atan is computed in f64, where no quotient of f32 numbers overflows or loses digits (that of f64 is
in doubles/arcs); asin near 1 as asin(x) = pi/2 - 2 * asin(sqrt((1 - x) / 2)).
"""

from irkit.ir.expr import Expr
from irkit.ir.math.lane_arithmetic import LaneArithmetic

_PI = 3.14159265358979324
# asin(x) = x + x**3 * p(x**2) for abs(x) <= 1/2, within 2**-31 (each rounded to f32) and 2**-54.
_ASIN = {
    23: (0.0376731232, 0.0143291894, 0.0318360552, 0.0445136353, 0.0750052109, 0.166666597),
    52: (0.028187667142318098, -0.010773195325585556, 0.01604912458494932, 0.0077986264075622334,
         0.011876344296279416, 0.013929545950485803, 0.01735526856395352, 0.022372047201808885,
         0.030381947379559158, 0.04464285710323956, 0.07500000000020869, 0.1666666666666665),
}  # fmt: skip
# pi/2 less what each type makes of it.
_REST_OF_RIGHT_ANGLE = {23: -4.37113883e-8, 52: 6.123233995736766e-17}
# atan(x) = x * p(x**2) for abs(x) <= 1, within 2**-31.
_ATAN = (
    0.0011120827491522052, -0.0073041233864717149, 0.022496637511325298, -0.04461861753954003,
    0.067346401358089697, -0.088069103477637967, 0.11056676109872821, -0.14279493327889381,
    0.19999630622541989, -0.3333332471972284, 0.99999999966731945,
)  # fmt: skip


def asin(f: LaneArithmetic, x: Expr) -> Expr:
    far, arc = _sine_arc(f, x)
    value = f.choose(far, f.sub(_PI / 2, f.add(arc, arc)), arc)
    return f.with_sign_of(value, x)


def acos(f: LaneArithmetic, x: Expr) -> Expr:
    """Compute pi/2 - asin(x), without the cancellation near 1."""
    far, arc = _sine_arc(f, x)
    double = f.add(arc, arc)
    ends = f.choose(f.compare("olt", x, 0.0), f.sub(_PI, double), double)
    # f32 drops a part of pi/2 that is a third of an ulp of the result.
    rest = _REST_OF_RIGHT_ANGLE[f.mantissa]
    middle = f.sub(_PI / 2, f.sub(f.with_sign_of(arc, x), rest))
    return f.choose(far, ends, middle)


def _sine_arc(f: LaneArithmetic, x: Expr) -> tuple[Expr, Expr]:
    """Return whether abs(x) > 1/2, and asin of abs(x) or, if so, of sqrt((1 - abs(x)) / 2)."""
    size = f.abs(x)
    far = f.compare("ogt", size, 0.5)
    square = f.choose(far, f.fma(size, -0.5, 0.5), f.mul(size, size))
    root = f.sqrt(square)
    base = f.choose(far, root, size)
    return far, f.fma(f.polynomial(square, _ASIN[f.mantissa]), f.mul(square, base), base)


def atan(f: LaneArithmetic, x: Expr) -> Expr:
    d, x = f.widened(x)
    size = d.abs(x)
    steep = d.compare("ogt", size, 1.0)
    arc = _tangent_arc(d, d.choose(steep, d.div(1.0, size), size))
    value = d.choose(steep, d.sub(_PI / 2, arc), arc)
    return f.narrowed(d.with_sign_of(value, x))


def atan2(f: LaneArithmetic, y: Expr, x: Expr) -> Expr:
    """Compute atan of the smaller over the larger magnitude, and move it to the right octant."""
    (d, y), (_, x) = f.widened(y), f.widened(x)
    # In C, two infinities give the diagonal and two zeros the angle 0.
    up, along = (d.at_most(d.abs(each), 2.0**400) for each in (y, x))
    steep = d.compare("ogt", up, along)
    low, high = d.choose(steep, along, up), d.choose(steep, up, along)
    arc = _tangent_arc(d, d.div(low, d.at_least(high, 2.0**-200)))
    arc = d.choose(steep, d.sub(_PI / 2, arc), arc)
    behind = d.is_negative(x)  # -0.0 too.
    arc = d.choose(behind, d.sub(_PI, arc), arc)
    return f.narrowed(d.with_sign_of(arc, y))


def _tangent_arc(d: LaneArithmetic, x: Expr) -> Expr:
    return d.mul(x, d.polynomial_by_halves(d.mul(x, x), _ATAN))
