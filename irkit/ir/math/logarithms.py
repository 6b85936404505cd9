"""log, log2, log10 and log1p of f32 and f64; pow, asinh, acosh and atanh of f32.

x = 2**k * (1 + t) with 1 + t between sqrt(1/2) and sqrt(2), and log(1 + t) is a polynomial.
pow of f32 is computed in f64, because its exponent multiplies errors; the inverse hyperbolic
functions in f64 too, because they take logarithms of sums near 1. For f64 they have forms of their
own (doubles/powers).
"""

from irkit.ir.expr import Expr
from irkit.ir.math.lane_arithmetic import LaneArithmetic

# log(1 + t) = t - t**2 / 2 + t**3 * p(t), within 2**-30.
_LOG = (0.067491293, -0.11672435, 0.118847661, -0.124060042, 0.142202079, -0.166679934,
        0.20002076, -0.250000089, 0.333333135)  # fmt: skip
# log(1 + t) = 2 * s + s**3 * p(s**2) with s = t / (2 + t), within 2**-56.
_LOG_DOUBLE = (0.14616585424888623, 0.15331710618210773, 0.18182889455674947, 0.22222211130259878,
               0.2857142862600327, 0.39999999999899444, 0.666666666666667)  # fmt: skip
# log2(1 + t) = t * p(t), within 2**-35.
_LOG2 = (
    0.077370538211396112, -0.14284509696557021, 0.14475220699934629, -0.14315581293864033,
    0.15876904296820582, -0.18030059324875164, 0.20617541322147048, -0.24045316833952612,
    0.28853729190193139, -0.36067367474901157, 0.48089836141169223, -0.72134752086923459,
    1.4426950408686778,
)  # fmt: skip
# 2**r = 1 + r * p(r) for |r| <= 1/2, within 2**-34.
_EXP2 = (
    1.5314949357397816e-05, 0.00015467110146138245, 0.0013333430776601579,
    0.0096180369115836471, 0.055504109625832042, 0.24022651075847015, 0.69314718054165247,
)  # fmt: skip
# log(2) in the base, in two parts, the first with few bits; and 1 / log(base).
_BASES = {
    ("e", 23): ((0.693359375, -2.12194440e-4), 1.0),
    ("2", 23): ((1.0, 0.0), 1.44269504088896341),
    ("10", 23): ((0.301025390625, 4.6050389811952137e-06), 0.43429448190325183),
    ("e", 52): ((0.6931471804855391, 7.440617110012397e-11), 1.0),
    ("2", 52): ((1.0, 0.0), 1.44269504088896341),
    ("10", 52): ((0.30102999560767785, 5.630334806675098e-11), 0.43429448190325183),
}
_LEAST_NORMAL = {23: 2.0**-126, 52: 2.0**-1022}
_LN2 = 0.693147180559945309
_ROOT_HALF = {23: 0x3F3504F3, 52: 0x3FE6A09E667F3BCD}


def log(f: LaneArithmetic, x: Expr) -> Expr:
    return _logarithm(f, x, "e")


def log2(f: LaneArithmetic, x: Expr) -> Expr:
    return _logarithm(f, x, "2")


def log10(f: LaneArithmetic, x: Expr) -> Expr:
    return _logarithm(f, x, "10")


def log1p(f: LaneArithmetic, x: Expr) -> Expr:
    """Compute log(u) with u = 1 + x, whose rounding error is added to t."""
    u = f.add(x, 1.0)
    grown = f.sub(u, 1.0)
    lost = f.add(f.sub(1.0, f.sub(u, grown)), f.sub(x, grown))
    k, t, exponent = split(f, u)
    unscale = f.from_bits(f.integer("shl", f.integer("sub", f.bias, exponent), f.mantissa))
    # Beyond 2**30 (2**59) the correction is negligible, and 2**-k would underflow.
    t = f.choose(f.compare("olt", u, 2.0 ** (f.mantissa + 7)), f.fma(lost, unscale, t), t)
    value = f.choose(f.compare("oeq", x, 0.0), x, _of_parts(f, k, t, "e"))
    return _with_ends(f, u, value)


def _logarithm(f: LaneArithmetic, x: Expr, base: str) -> Expr:
    k, t = split_any(f, x)
    return _with_ends(f, x, _of_parts(f, k, t, base))


def split_any(f: LaneArithmetic, x: Expr) -> tuple[Expr, Expr]:
    """Return k and t for a positive number, which may be denormal."""
    tiny = f.compare("olt", x, _LEAST_NORMAL[f.mantissa])
    k, t, _ = split(f, f.choose(tiny, f.mul(x, 2.0**f.mantissa), x))
    return f.choose(tiny, f.sub(k, float(f.mantissa)), k), t


def split(f: LaneArithmetic, x: Expr) -> tuple[Expr, Expr, Expr]:
    """Return k as a float, t, and k as an integer, for a positive normal number."""
    root = _ROOT_HALF[f.mantissa]
    one = f.bias << f.mantissa
    moved = f.integer("add", f.as_bits(x), one - root)
    biased = f.integer("lshr", moved, f.mantissa)
    rest = f.integer("and", moved, (1 << f.mantissa) - 1)
    t = f.sub(f.from_bits(f.integer("add", rest, root)), 1.0)
    # The low bits of 2**23 (or 2**52) plus k are k: AVX2 cannot convert 64-bit integers.
    held = f.from_bits(f.integer("or", biased, (f.bias + f.mantissa) << f.mantissa))
    return f.sub(held, 2.0**f.mantissa + f.bias), t, f.integer("sub", biased, f.bias)


def _of_parts(f: LaneArithmetic, k: Expr, t: Expr, base: str) -> Expr:
    (high, low), factor = _BASES[base, f.mantissa]
    tail = _tail(f, t)
    tail = tail if factor == 1.0 else f.mul(tail, factor)
    tail = f.fma(k, low, tail) if low else tail
    value = f.add(t, tail) if factor == 1.0 else f.fma(t, factor, tail)
    return f.fma(k, high, value)


def _tail(f: LaneArithmetic, t: Expr) -> Expr:
    """Return log(1 + t) - t."""
    square = f.mul(t, t)
    if f.mantissa == 23:
        return f.fma(square, -0.5, f.mul(f.polynomial(t, _LOG), f.mul(square, t)))
    half = f.mul(square, 0.5)
    s = f.div(t, f.add(t, 2.0))
    z = f.mul(s, s)
    return f.sub(f.mul(s, f.fma(f.polynomial(z, _LOG_DOUBLE), z, half)), half)


def _with_ends(f: LaneArithmetic, x: Expr, value: Expr) -> Expr:
    """Correct the result where x is not positive and finite: -inf for 0, NaN below, else x."""
    inside = f.compare("olt", x, float("inf"))
    value = f.choose(inside, value, x)
    value = f.choose(f.compare("olt", x, 0.0), float("nan"), value)
    return f.choose(f.compare("oeq", x, 0.0), float("-inf"), value)


def power(f: LaneArithmetic, x: Expr, y: Expr) -> Expr:
    """Compute 2**(y * log2(abs(x))) in f64, then signs and the special cases of C's pow."""
    (d, x), (_, y) = f.widened(x), f.widened(y)
    # So large a y is even and gives 0 or infinity for every base but 1; so does any larger one.
    y = d.at_most(d.at_least(y, -(2.0**40)), 2.0**40)
    size = _exp2_in_double(d, d.mul(y, _log2_in_double(d, d.abs(x))))
    near, held = d.nearest(y)
    whole = d.compare("oeq", near, y)
    odd = d.choose_bits(whole, d.integer("shl", held, 63), 0)
    sign = d.integer("and", d.as_bits(x), odd)
    value = d.from_bits(d.integer("xor", d.as_bits(size), sign))
    # A negative number, except -inf, has only integer powers. Two selects: LLVM turns combined
    # conditions into slow bit tests.
    real = d.choose(d.compare("olt", x, 0.0), float("nan"), value)
    real = d.choose(d.compare("oeq", x, float("-inf")), value, real)
    value = d.choose(whole, value, real)
    value = d.choose(d.compare("oeq", y, 0.0), 1.0, value)
    return f.narrowed(d.choose(d.compare("oeq", x, 1.0), 1.0, value))


def _log2_in_double(d: LaneArithmetic, x: Expr) -> Expr:
    """Return log2 of an f32 number without its sign; denormals of f32 are normal in f64."""
    k, t, _ = split(d, x)
    value = d.fma(t, d.polynomial_by_halves(t, _LOG2), k)
    value = d.choose(d.compare("olt", x, float("inf")), value, x)
    return d.choose(d.compare("oeq", x, 0.0), float("-inf"), value)


def _exp2_in_double(d: LaneArithmetic, x: Expr) -> Expr:
    x = d.at_most(d.at_least(x, -200.0), 200.0)
    whole, held = d.nearest(x)
    rest = d.sub(x, whole)
    return d.mul(d.fma(rest, d.polynomial_by_halves(rest, _EXP2), 1.0), d.power_of_two(held))


def asinh(f: LaneArithmetic, x: Expr) -> Expr:
    """Compute log(x + sqrt(x**2 + 1)) of abs(x); a small x is returned as is."""
    d, wide = f.widened(f.abs(x))
    root = d.sqrt(d.fma(wide, wide, 1.0))
    return _odd(f, x, d, d.mul(_log2_in_double(d, d.add(wide, root)), _LN2))


def acosh(f: LaneArithmetic, x: Expr) -> Expr:
    """Compute log(x + sqrt(x**2 - 1)) of x >= 1."""
    d, wide = f.widened(x)
    root = d.sqrt(d.fma(wide, wide, -1.0))
    value = d.mul(_log2_in_double(d, d.add(wide, root)), _LN2)
    return f.narrowed(d.choose(d.compare("olt", wide, 1.0), float("nan"), value))


def atanh(f: LaneArithmetic, x: Expr) -> Expr:
    """Compute log((1 + x) / (1 - x)) / 2 of abs(x) <= 1; a small x is returned as is."""
    d, wide = f.widened(f.abs(x))
    ratio = d.div(d.add(wide, 1.0), d.sub(1.0, wide))
    value = d.mul(_log2_in_double(d, ratio), _LN2 / 2)
    return _odd(f, x, d, d.choose(d.compare("ogt", wide, 1.0), float("nan"), value))


def _odd(f: LaneArithmetic, x: Expr, d: LaneArithmetic, value: Expr) -> Expr:
    """Copy the sign of x to a result; below 2**-13 return x, which is within half an ulp."""
    small = f.compare("olt", f.abs(x), 2.0**-13)
    return f.choose(small, x, f.with_sign_of(f.narrowed(value), x))
