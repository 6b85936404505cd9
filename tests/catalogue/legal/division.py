"""Legal passes about division, remainders, shifts, comparisons and ranges of integers."""

from irkit.core import equal, rewrite
from irkit.ir import (
    ANY_INTEGER,
    GE,
    I32,
    LT,
    Add,
    And,
    BitOr,
    Call,
    Const,
    Expr,
    FloorDiv,
    FloorMod,
    Mul,
    Not,
    PrimFunc,
    Shl,
    Shr,
    Sub,
    Var,
    as_int,
    call,
    cast,
    const,
    eq,
    ge,
    gt,
    hole,
    is_const,
    le,
    loop_ranges,
    lt,
    select,
)
from tests.catalogue.entries import Entries
from tests.catalogue.programs import each, kernel

entry = Entries("division", legal=True)
a, b, c = (hole(name, ANY_INTEGER) for name in "abc")


def _power(expr: Expr) -> int | None:
    value = as_int(expr)
    return value.bit_length() - 1 if value and value > 0 and value.bit_count() == 1 else None


@entry(each("i32", "i32", "A[i] // 8 + 1"))
def floor_division_by_a_shift(node: FloorDiv) -> Expr | None:
    """A shift to the right rounds towards minus infinity, as // does."""
    by = _power(node.b)
    return node.a >> by if by is not None else None


@entry(each("i16", "i16", "A[i] % 16"))
def remainder_by_a_mask(node: FloorMod) -> Expr | None:
    """The low bits are the remainder with the sign of the divisor, in two's complement."""
    by = _power(node.b)
    return node.a & ((1 << by) - 1) if by is not None else None


@entry(each("i32", "i32", "A[i] // 4 // 6"))
def join_two_divisions_by_constants(node: FloorDiv) -> Expr | None:
    """x // 4 // 6 is x // 24 for positive divisors whose product fits."""
    match node:
        case FloorDiv(FloorDiv(value, Const(p)), Const(q)) if p > 0 and q > 0 and p * q < 100:
            return value // (p * q)
        case _:
            return None


@entry(each("i32", "i32", "A[i] % 12 % 4"))
def drop_a_remainder_by_a_multiple(node: FloorMod) -> Expr | None:
    """4 divides 12, so the outer remainder sees nothing of the inner one."""
    match node:
        case FloorMod(FloorMod(value, Const(inner)), Const(outer)) if inner % outer == 0:
            return value % outer
        case _:
            return None


@entry(each("i32", "i32", "truncdiv(A[i], 8)"))
def truncated_division_by_a_shift_with_a_bias(node: Call) -> Expr | None:
    """Adding 7 to a negative number makes the shift round towards zero; it cannot wrap."""
    by = _power(node.args[1]) if node.name == "truncdiv" else None
    if by is None:
        return None
    value = node.args[0]
    return select(lt(value, 0), value + ((1 << by) - 1), value) >> by


@entry(each("i8 i8", "i8", "truncmod(A[i], B[i])"))
def truncated_remainder_of_magnitudes(node: Call) -> Expr | None:
    """The remainder of a divisor and of its negative are the same, and -1 and 0 both give 0."""
    if node.name != "truncmod" or isinstance(node.args[1], Call):
        return None
    return call("truncmod", node.args[0], call("abs", node.args[1]))


entry.rule(
    "a number modulo itself",
    "x % x is 0, and 0 % 0 is 0 too.",
    each("i32", "i32", "A[i] % A[i] + A[i]"),
    a % a,
    lambda a: const(0, a.dtype),
)
entry.rule(
    "divide by one",
    "x // 1 is x.",
    each("i8", "i8", "A[i] // 1 + 3"),
    a // 1,
    a,
)
entry.rule(
    "divide by minus one",
    "-x wraps around for the smallest number, as the division does.",
    each("i16", "i16", "A[i] // -1"),
    a // -1,
    lambda a: -a,
)
entry.rule(
    "remainder by minus one",
    "x % -1 is 0, also for the smallest number.",
    each("i8", "i8", "A[i] % -1 + A[i]"),
    a % -1,
    lambda a: const(0, a.dtype),
)


@entry(each("i32", "i32", "A[i] - A[i] // 10 * 10"))
def remainder_from_the_quotient(node: Sub) -> Expr | None:
    """For a constant divisor that is not 0 this is the definition of the remainder."""
    match node:
        case Sub(x, Mul(FloorDiv(y, Const(p)), Const(q))) if equal(x, y) and p == q != 0:
            return x % p
        case _:
            return None


@entry(each("u8", "u8", "A[i] // 10"))
def divide_a_byte_by_ten_with_a_reciprocal(node: FloorDiv) -> Expr | None:
    """205 / 2048 is close enough to a tenth for every byte."""
    if node.dtype.bits == 8 and is_const(node.b, 10):
        return cast(cast(node.a, I32) * 205 >> 11, node.dtype)
    return None


@entry(each("u32", "u32", "A[i] // 7"))
def divide_by_seven_in_sixty_four_bits(node: FloorDiv) -> Expr | None:
    """With the 33-bit multiplier in parts: t = x * m >> 32, then (((x - t) >> 1) + t) >> 2."""
    if str(node.dtype) == "u32" and is_const(node.b, 7):
        x = node.a
        t = cast(cast(x, "u64") * 0x24924925 >> 32, node.dtype)
        return ((x - t >> 1) + t) >> 2
    return None


@entry(each("i32", "i32", "(A[i] if not A[i] < 5 else 5 - A[i])"))
def negate_a_comparison(node: Not) -> Expr | None:
    """Integers are ordered totally: not x < y is x >= y."""
    if isinstance(node.a, LT) and node.a.a.dtype.is_integer:
        return ge(node.a.a, node.a.b)
    return None


@entry(each("i32", "bool", "A[i] // 3 < 5"))
def compare_a_quotient_by_the_product(node: LT) -> Expr | None:
    """x // 3 < 5 exactly if x < 15, since 15 fits."""
    match node:
        case LT(FloorDiv(value, Const(by)), Const(limit)) if by > 0 and abs(by * limit) < 1000:
            return lt(value, by * limit)
        case _:
            return None


entry.rule(
    "shift left as a multiplication",
    "A distance that is negative or too far gives 0 on both sides.",
    each("i8 i8", "i8", "A[i] << B[i]"),
    a << b,
    lambda a, b: a * (const(1, a.dtype) << b),
)


@entry(each("i32", "i32", "A[i] >> 20 >> 20"))
def join_two_shifts(node: Shr) -> Expr | None:
    """The distances add up; beyond the width an arithmetic shift leaves the sign."""
    match node:
        case Shr(Shr(value, Const(p)), Const(q)) if p >= 0 and q >= 0:
            return value >> min(p + q, node.dtype.bits - 1)
        case _:
            return None


@entry(each("u32", "u32", "A[i] << 7 | A[i] >> 25"))
def rotate_as_a_sum(node: BitOr) -> Expr | None:
    """The two parts of a rotation have no bit in common, so or is a sum."""
    match node:
        case BitOr(Shl(x, Const(p)), Shr(y, Const(q))) if equal(x, y) and p + q == node.dtype.bits:
            return node.a + node.b
        case _:
            return None


@entry(each("i32", "i32", "(A[i] if A[i] >= 0 and A[i] < 8 else -1)"))
def check_a_range_with_one_comparison(node: And) -> Expr | None:
    """For a constant limit that is positive, a negative number is too large as unsigned."""
    match node:
        case And(GE(x, Const(0)), LT(y, Const(limit))) if equal(x, y) and limit > 0:
            return lt(cast(x, "u32"), const(limit, "u32"))
        case _:
            return None


@entry(
    kernel(
        "A: f32[8, 4], C: f32[32]",
        """
        for i in serial(0, 8):
            for j in serial(0, 4):
                C[(i * 4 + j) // 4 * 4 + (i * 4 + j) % 4] = A[(i * 4 + j) // 4, (i * 4 + j) % 4]
        """,
    )
)
def resolve_the_digits_of_an_index(func: PrimFunc) -> PrimFunc:
    """j lies in 0 … 3, so i is the quotient and j the remainder of i * 4 + j by 4."""
    ranges = loop_ranges(func)

    def digit(node: FloorDiv | FloorMod) -> Expr | None:
        match node.a:
            case Add(Mul(Var() as high, Const(p)), Var() as low):
                found = ranges.get(low)
                if p == as_int(node.b) and found is not None and 0 <= found.low <= found.high < p:
                    return high if isinstance(node, FloorDiv) else low
            case _:
                pass
        return None

    return rewrite(func, digit, on=(FloorDiv, FloorMod))


@entry(
    kernel(
        "A: f32[n], C: f32[n]",
        """
        for i in serial(0, n):
            C[i] = A[(i + 1) % n] - A[i]
        """,
    )
)
def wrap_an_index_that_is_at_most_once_too_large(node: FloorMod) -> Expr | None:
    """0 <= i + 1 <= n inside the loop, so one subtraction is the remainder."""
    if isinstance(node.a, Add) and isinstance(node.b, Var):
        return select(ge(node.a, node.b), node.a - node.b, node.a)
    return None


@entry(each("i32 i32", "i32", "A[i] + cast(A[i] < B[i], i32)"))
def turn_a_comparison_around(node: LT) -> Expr | None:
    """a < b is b > a."""
    return gt(node.b, node.a)


@entry(each("i64 i64", "bool", "A[i] < B[i] or A[i] == B[i]"))
def join_less_and_equal(node: Expr) -> Expr | None:
    """a < b or a == b is a <= b."""
    if type(node).__name__ == "Or" and isinstance(node.a, LT):
        return le(node.a.a, node.a.b)
    return None


@entry(each("i16", "bool", "A[i] % 2 == 1"))
def odd_by_the_low_bit(node: Expr) -> Expr | None:
    """The low bit is the remainder by 2, also of a negative number."""
    if type(node).__name__ == "EQ" and isinstance(node.a, FloorMod) and is_const(node.a.b, 2):
        return eq(node.a.a & 1, 1)
    return None


@entry(each("i16 i16", "i16", "A[i] // B[i] * B[i] + A[i] % B[i]"))
def dividend_unless_the_divisor_is_zero(node: Add) -> Expr | None:
    """The division identity with its exception for a zero divisor."""
    match node:
        case Add(Mul(FloorDiv(x, y), _), FloorMod()):
            return select(eq(y, 0), const(0, node.dtype), x)
        case _:
            return None
