"""atan and atan2 of f64.

atan(x) is moved to a slope of at most tan(pi/8): by -1 / x above tan(3/8 * pi), and by
(x - 1) / (x + 1) between.
"""

from irkit.ir.expr import Expr
from irkit.ir.math.lane_arithmetic import LaneArithmetic

_PI = 3.14159265358979324
# What f64 drops of pi/2.
_REST = 6.123233995736766e-17
# atan(x) = x + x**3 * p(x**2) for abs(x) <= tan(pi/8), within 2**-57.
_ATAN = (
    -0.019175404711104935, 0.03923044778479309, -0.050854078345894844, 0.05858140904866328,
    -0.06664510525508936, 0.07692183125376892, -0.0909090457530649, 0.11111111015187018,
    -0.14285714284665682, 0.19999999999995516, -0.3333333333333333,
)  # fmt: skip
_FLAT, _STEEP = 0.41421356237309505, 2.414213562373095


def atan(f: LaneArithmetic, x: Expr) -> Expr:
    size = f.abs(x)
    steep, slanted = f.compare("ogt", size, _STEEP), f.compare("ogt", size, _FLAT)
    above = f.choose(steep, -1.0, f.choose(slanted, f.sub(size, 1.0), size))
    below = f.choose(steep, size, f.choose(slanted, f.add(size, 1.0), 1.0))
    turn = f.choose(steep, _PI / 2, f.choose(slanted, _PI / 4, 0.0))
    rest = f.choose(steep, _REST, f.choose(slanted, _REST / 2, 0.0))
    return f.with_sign_of(f.add(turn, f.add(_arc(f, f.div(above, below)), rest)), x)


def atan2(f: LaneArithmetic, y: Expr, x: Expr) -> Expr:
    """Compute atan of the smaller over the larger magnitude, and move it to the right octant."""
    up, along = f.abs(y), f.abs(x)
    steep = f.compare("ogt", up, along)
    low, high = f.choose(steep, along, up), f.choose(steep, up, along)
    # In C, two infinities give the diagonal and two zeros the angle 0.
    slope = f.div(low, f.choose(f.compare("oeq", high, 0.0), 1.0, high))
    slope = f.choose(f.compare("oeq", low, float("inf")), f.at_most(high, 1.0), slope)
    slanted = f.compare("ogt", slope, _FLAT)
    moved = f.div(f.sub(slope, 1.0), f.add(slope, 1.0))
    near = _arc(f, f.choose(slanted, moved, slope))
    arc = f.choose(slanted, f.add(_PI / 4, f.add(near, _REST / 2)), near)
    arc = f.choose(steep, f.sub(_PI / 2, f.sub(arc, _REST)), arc)
    arc = f.choose(f.is_negative(x), f.sub(_PI, f.sub(arc, 2 * _REST)), arc)
    return f.with_sign_of(arc, y)


def _arc(f: LaneArithmetic, x: Expr) -> Expr:
    square = f.mul(x, x)
    return f.fma(f.polynomial(square, _ATAN), f.mul(square, x), x)
