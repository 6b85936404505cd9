"""log, log2, log10, log1p, pow, asinh, acosh and atanh of f32.

x = 2**k * (1 + t) with 1 + t between sqrt(1/2) and sqrt(2), and log(1 + t) is a polynomial.
Logarithms are computed in f32; pow in f64, because its exponent multiplies errors; the inverse
hyperbolic functions in f64 too, because they take logarithms of sums near 1.
"""

from irkit.codegen.math.lane_arithmetic import LaneArithmetic

# log(1 + t) = t - t**2 / 2 + t**3 * p(t), within 2**-30.
_LOG = (0.067491293, -0.11672435, 0.118847661, -0.124060042, 0.142202079, -0.166679934,
        0.20002076, -0.250000089, 0.333333135)  # fmt: skip
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
    "e": ((0.693359375, -2.12194440e-4), 1.0),
    "2": ((1.0, 0.0), 1.44269504088896341),
    "10": ((0.301025390625, 4.6050389811952137e-06), 0.43429448190325183),
}
_LN2 = 0.693147180559945309
_ROOT_HALF = {23: 0x3F3504F3, 52: 0x3FE6A09E667F3BCD}


def log(f: LaneArithmetic, x: str) -> str:
    return _logarithm(f, x, "e")


def log2(f: LaneArithmetic, x: str) -> str:
    return _logarithm(f, x, "2")


def log10(f: LaneArithmetic, x: str) -> str:
    return _logarithm(f, x, "10")


def log1p(f: LaneArithmetic, x: str) -> str:
    """Compute log(u) with u = 1 + x, whose rounding error is added to t."""
    u = f.add(x, 1.0)
    grown = f.sub(u, 1.0)
    lost = f.add(f.sub(1.0, f.sub(u, grown)), f.sub(x, grown))
    k, t, exponent = _split(f, u)
    unscale = f.from_bits(f.integer("shl", f.integer("sub", f.bias, exponent), f.mantissa))
    # Beyond 2**30 the correction is negligible, and 2**-k would underflow.
    t = f.choose(f.compare("olt", u, 2.0**30), f.fma(lost, unscale, t), t)
    value = f.choose(f.compare("oeq", x, 0.0), x, _of_parts(f, k, t, "e"))
    return _with_ends(f, u, value)


def _logarithm(f: LaneArithmetic, x: str, base: str) -> str:
    tiny = f.compare("olt", x, 2.0**-126)
    normal = f.choose(tiny, f.mul(x, 2.0**23), x)
    k, t, _ = _split(f, normal)
    k = f.choose(tiny, f.sub(k, 23.0), k)
    return _with_ends(f, x, _of_parts(f, k, t, base))


def _split(f: LaneArithmetic, x: str) -> tuple[str, str, str]:
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


def _of_parts(f: LaneArithmetic, k: str, t: str, base: str) -> str:
    (high, low), factor = _BASES[base]
    square = f.mul(t, t)
    cube = f.mul(square, t)
    tail = f.fma(square, -0.5, f.mul(f.polynomial(t, _LOG), cube))
    tail = tail if factor == 1.0 else f.mul(tail, factor)
    tail = f.fma(k, low, tail) if low else tail
    value = f.add(t, tail) if factor == 1.0 else f.fma(t, factor, tail)
    return f.fma(k, high, value)


def _with_ends(f: LaneArithmetic, x: str, value: str) -> str:
    """Correct the result where x is not positive and finite: -inf for 0, NaN below, else x."""
    inside = f.compare("olt", x, float("inf"))
    value = f.choose(inside, value, x)
    value = f.choose(f.compare("olt", x, 0.0), float("nan"), value)
    return f.choose(f.compare("oeq", x, 0.0), float("-inf"), value)


def power(f: LaneArithmetic, x: str, y: str) -> str:
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
    return f.narrowed(d, d.choose(d.compare("oeq", x, 1.0), 1.0, value))


def _log2_in_double(d: LaneArithmetic, x: str) -> str:
    """Return log2 of an f32 number without its sign; denormals of f32 are normal in f64."""
    k, t, _ = _split(d, x)
    value = d.fma(t, d.polynomial_by_halves(t, _LOG2), k)
    value = d.choose(d.compare("olt", x, float("inf")), value, x)
    return d.choose(d.compare("oeq", x, 0.0), float("-inf"), value)


def _exp2_in_double(d: LaneArithmetic, x: str) -> str:
    x = d.at_most(d.at_least(x, -200.0), 200.0)
    whole, held = d.nearest(x)
    rest = d.sub(x, whole)
    return d.mul(d.fma(rest, d.polynomial_by_halves(rest, _EXP2), 1.0), d.power_of_two(held))


def asinh(f: LaneArithmetic, x: str) -> str:
    """Compute log(x + sqrt(x**2 + 1)) of abs(x); a small x is returned as is."""
    d, wide = f.widened(f.abs(x))
    root = d.sqrt(d.fma(wide, wide, 1.0))
    return _odd(f, x, d, d.mul(_log2_in_double(d, d.add(wide, root)), _LN2))


def acosh(f: LaneArithmetic, x: str) -> str:
    """Compute log(x + sqrt(x**2 - 1)) of x >= 1."""
    d, wide = f.widened(x)
    root = d.sqrt(d.fma(wide, wide, -1.0))
    value = d.mul(_log2_in_double(d, d.add(wide, root)), _LN2)
    return f.narrowed(d, d.choose(d.compare("olt", wide, 1.0), float("nan"), value))


def atanh(f: LaneArithmetic, x: str) -> str:
    """Compute log((1 + x) / (1 - x)) / 2 of abs(x) <= 1; a small x is returned as is."""
    d, wide = f.widened(f.abs(x))
    ratio = d.div(d.add(wide, 1.0), d.sub(1.0, wide))
    value = d.mul(_log2_in_double(d, ratio), _LN2 / 2)
    return _odd(f, x, d, d.choose(d.compare("ogt", wide, 1.0), float("nan"), value))


def _odd(f: LaneArithmetic, x: str, d: LaneArithmetic, value: str) -> str:
    """Copy the sign of x to a result; below 2**-13 return x, which is within half an ulp."""
    small = f.compare("olt", f.abs(x), 2.0**-13)
    return f.choose(small, x, f.with_sign_of(f.narrowed(d, value), x))
