"""Quarter turns of large angles in f64, by integers (Payne and Hanek).

Of 2/pi only the bits matter whose product with the number is below four quarter turns. 192 of them,
from a place that the exponent gives, times the mantissa, are a fraction of a whole turn; its first
two bits, rounded, are the quarter turns.
"""

from itertools import pairwise

from irkit.ir.expr import Cast, Expr
from irkit.ir.math.doubles.sums_of_two import Sum, exact_product, normalised
from irkit.ir.math.lane_arithmetic import LaneArithmetic

WORDS = 19
ZEROS = 35
"""How many zero bits stand before those of 2/pi, so that 2**20 begins at the first word."""
TWO_OVER_PI = int(
    "145f306dc9c882a53f84eafa3ea69bb81b6c52b3278872083fca2c757bd778ac36e48dc74849ba5c00c925dd413a"
    "32439fc3bd63962534e7dd1046bea5d768909d338e04d68befc827323ac7306a673e93908bf177bf250763ff12ff"
    "fbc0b301fde5e2316b414da3eda6cfd9e4f96136e9e8c7ecd3cbfd45aea4f758fd7cbe2f67a0e73ef14a525d4d7f"
    "6bf623f1aba10ac06608",
    16,
)
HALF_PI = (float.fromhex("0x1.921fb54442d18p+0"), float.fromhex("0x1.1a62633145c07p-54"))
_LOW = (1 << 32) - 1


def of_large(f: LaneArithmetic, x: Expr) -> tuple[Expr, Sum]:
    """Return quarter turns in the low bits of an integer, and the rest in radians, as a sum, for
    numbers of at least 2**20; of smaller ones it is some number."""
    bits = f.as_bits(f.abs(x))
    exponent = f.integer("lshr", bits, 52)
    mantissa = f.integer("or", f.integer("and", bits, (1 << 52) - 1), 1 << 52)
    place = f.integer("sub", exponent, f.bias + 52 + 2 - ZEROS)
    top, bottom = _fraction(f, mantissa, _window(f, place))
    quarters = f.integer("lshr", f.integer("add", top, 1 << 61), 62)
    # From here on quarter turns, from -1/2 to 1/2: their size, and a mask for the sign.
    top = f.integer("or", f.integer("shl", top, 2), f.integer("lshr", bottom, 62))
    negative = f.integer("ashr", top, 63)
    top = f.integer("xor", top, negative)
    bottom = f.integer("xor", f.integer("shl", bottom, 2), negative)
    size = _as_sum(f, top, bottom)
    below_zero = f.integer("ashr", f.as_bits(x), 63)
    sign = f.integer("and", f.integer("xor", negative, below_zero), 1 << 63)
    high, low = (
        f.from_bits(f.integer("xor", f.as_bits(part), sign)) for part in _in_radians(f, size)
    )
    turned = f.integer("sub", f.integer("xor", quarters, below_zero), below_zero)
    return turned, (high, low)


def _as_sum(f: LaneArithmetic, top: Expr, bottom: Expr) -> Sum:
    """Convert a fraction: its first 53 bits, of which most can be 0, the next 53, and 22 more."""
    low = f.integer("shl", f.integer("and", top, (1 << 11) - 1), 42)
    middle = f.integer("or", low, f.integer("lshr", bottom, 22))
    rest = f.mul(_number(f, f.integer("and", bottom, (1 << 22) - 1)), 2.0**-128)
    first = f.mul(_number(f, f.integer("and", top, -1 << 11)), 2.0**-64)
    high, lost = normalised(f, first, f.mul(_number(f, middle), 2.0**-106))
    return high, f.add(lost, rest)


def _number(f: LaneArithmetic, bits: Expr) -> Expr:
    """Convert an integer of less than 64 bits."""
    return Cast(Cast(bits, f.signed), f.dtype)


def _in_radians(f: LaneArithmetic, turned: Sum) -> Sum:
    high, low = turned
    product, error = exact_product(f, high, f.value(HALF_PI[0]))
    error = f.add(error, f.add(f.mul(high, HALF_PI[1]), f.mul(low, HALF_PI[0])))
    return normalised(f, product, error)


def _window(f: LaneArithmetic, place: Expr) -> list[Expr]:
    """Return the three words that begin at a bit of the digits, by halving the words to choose
    from."""
    low = (1 << 64) - 1
    words = [f.bits(TWO_OVER_PI >> 64 * (WORDS - 1 - at) & low) for at in range(WORDS)]
    for step in (8, 4, 2, 1):
        ahead = f.is_odd(f.integer("lshr", place, 5 + step.bit_length()))
        pairs = zip(words[step:], words, strict=False)
        words = [f.choose_bits(ahead, later, word) for later, word in pairs][: step + 3]
    left = f.integer("and", place, 63)
    right = f.integer("xor", left, 63)
    shifted = list[Expr]()
    for word, following in pairwise(words):
        more = f.integer("lshr", f.integer("lshr", following, 1), right)
        shifted.append(f.integer("or", f.integer("shl", word, left), more))
    return shifted


def _fraction(f: LaneArithmetic, mantissa: Expr, words: list[Expr]) -> tuple[Expr, Expr]:
    """Multiply three words by a number of 53 bits; return the upper two words of the three, by
    digits of 32 bits."""
    low, high = f.integer("and", mantissa, _LOW), f.integer("lshr", mantissa, 32)
    digits = list[Expr]()
    for word in reversed(words):
        digits += [f.integer("and", word, _LOW), f.integer("lshr", word, 32)]
    sums = list[Expr]()
    carry = f.bits(0)
    for digit in digits:
        both = f.integer("add", f.integer("mul", low, digit), carry)
        sums.append(f.integer("and", both, _LOW))
        carry = f.integer("lshr", both, 32)
    carry = f.bits(0)
    for at, digit in enumerate(digits[:-1], 1):
        both = f.integer("add", f.integer("mul", high, digit), f.integer("add", sums[at], carry))
        sums[at] = f.integer("and", both, _LOW)
        carry = f.integer("lshr", both, 32)
    return _word(f, sums[5], sums[4]), _word(f, sums[3], sums[2])


def _word(f: LaneArithmetic, high: Expr, low: Expr) -> Expr:
    return f.integer("or", f.integer("shl", high, 32), low)
