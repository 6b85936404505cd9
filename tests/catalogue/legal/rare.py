"""Legal passes that look as if some rare input broke them."""

from irkit.core import equal, substitute
from irkit.ir import (
    EQ,
    F16,
    F32,
    F64,
    GE,
    I8,
    I16,
    I32,
    I64,
    LE,
    NE,
    U8,
    U32,
    Add,
    And,
    BitAnd,
    BitOr,
    Call,
    Cast,
    Conditional,
    Const,
    Expr,
    FloorDiv,
    FloorMod,
    For,
    Max,
    Min,
    Mul,
    Or,
    Stmt,
    call,
    cast,
    const,
    eq,
    is_const,
    logical_and,
    logical_or,
    lt,
    maximum,
    ne,
    select,
    trip_count,
)
from tests.catalogue.entries import Entries
from tests.catalogue.programs import each, kernel

entry = Entries("rare", legal=True)


@entry(each("u16", "u16", "A[i] // 10"))
def divide_by_ten_with_a_reciprocal_of_nineteen_bits(node: FloorDiv) -> Expr | None:
    """52429 / 2**19 is right for all of u16."""
    if node.dtype.bits == 16 and is_const(node.b, 10):
        return cast(cast(node.a, U32) * 52429 >> 19, node.dtype)
    return None


@entry(each("u16", "u16", "A[i] // 7"))
def divide_by_seven_with_a_reciprocal_of_nineteen_bits(node: FloorDiv) -> Expr | None:
    """74899 / 2**19 is right for all of u16; the product needs 33 bits, so it is made in 64."""
    if node.dtype.bits == 16 and is_const(node.b, 7):
        return cast(cast(node.a, "u64") * 74899 >> 19, node.dtype)
    return None


@entry(each("i16", "i16", "cast(cast(A[i], f32), i16)"))
def drop_a_round_trip_through_single_precision(node: Cast) -> Expr | None:
    """f32 holds all of i16."""
    match node:
        case Cast(Cast(x)) if x.dtype == node.dtype == I16:
            return x
        case _:
            return None


@entry(each("i32", "f32", "cast(A[i], f32)"))
def convert_an_integer_by_way_of_double(node: Cast) -> Expr | None:
    """f64 holds all of i32, so the number is rounded once."""
    if node.dtype == F32 and node.value.dtype == I32:
        return cast(cast(node.value, F64), F32)
    return None


@entry(each("f64", "f16", "cast(A[i], f16)"))
def convert_to_half_in_two_steps(node: Cast) -> Expr | None:
    """A conversion to f16 goes through f32 anyway."""
    if node.dtype == F16 and node.value.dtype == F64:
        return Cast(Cast(node.value, F32), F16)
    return None


@entry(each("u32", "bool", "popcount(A[i]) == 1"))
def power_of_two_by_its_predecessor(node: EQ) -> Expr | None:
    """Zero is excluded."""
    match node:
        case EQ(Call("popcount", (x,)), Const(1)):
            return logical_and(ne(x, 0), eq(x & (x - 1), 0))
        case _:
            return None


@entry(each("u32", "bool", "popcount(A[i]) <= 1"))
def at_most_one_bit(node: LE) -> Expr | None:
    """Zero has no bit, and is included."""
    match node:
        case LE(Call("popcount", (x,)), Const(1)):
            return eq(x & (x - 1), 0)
        case _:
            return None


@entry(each("i8 i8", "bool", "cast(A[i], i16) * cast(B[i], i16) == 0"))
def a_zero_product_has_a_zero_factor(node: EQ) -> Expr | None:
    """The product of two i8 does not wrap around in i16."""
    match node:
        case EQ(Mul(Cast(x), Cast(y)), Const(0)) if x.dtype == y.dtype == I8:
            return logical_or(eq(x, 0), eq(y, 0))
        case _:
            return None


@entry(each("i8", "i8", "abs(A[i]) * sign(A[i])"))
def magnitude_times_sign(node: Mul) -> Expr | None:
    """Also for -128, whose magnitude is -128 and sign is -1."""
    match node:
        case Mul(Call("abs", (x,)), Call("sign", (y,))) if equal(x, y):
            return x
        case _:
            return None


@entry(each("i32", "bool", "A[i] % 4 == 0 and A[i] % 100 != 0 or A[i] % 400 == 0"))
def leap_years_with_smaller_divisors(node: Or) -> Expr | None:
    """Of multiples of four, those of 25 are the centuries, and of these those of 16 count."""
    match node:
        case Or(And(EQ(FloorMod(y, Const(4)), _)), _):
            century = logical_or(ne(y % 25, 0), eq(y % 16, 0))
            return logical_and(eq(y % 4, 0), century)
        case _:
            return None


@entry(each("i32 i32", "i32", "pow(A[i], B[i])"))
def integer_power_with_a_short_cut(node: Call) -> Expr | None:
    """An exponent of 1 gives the base, one of 0 gives 1."""
    if node.name != "pow" or not node.dtype.is_integer:
        return None
    base, exponent = node.args
    one = const(1, node.dtype)
    return select(eq(exponent, 1), base, select(eq(exponent, 0), one, node))


@entry(
    kernel(
        "A: i32[40], C: i32[1]",
        """
        C[0] = -1
        for i in serial(0, 40):
            if A[i] == 77777:
                C[0] = cast(i, i32)
        """,
    )
)
def search_from_the_end_for_the_last_hit(loop: For) -> Stmt | None:
    """Backwards, the first hit is the last, and later ones must not replace it."""
    count = trip_count(loop)
    if count is None or loop.body.otherwise is not None:
        return None
    branch = loop.body
    target = branch.then.buffer[branch.then.indices]
    body = branch.replace(cond=logical_and(branch.cond, lt(target, 0)))
    return loop.replace(body=substitute(body, {loop.var: count - 1 - loop.var}))


@entry(each("i32", "i32", "(A[i] // 3 if A[i] != 123456 else 41152)"))
def drop_a_special_case_that_is_none(node: Conditional) -> Expr | None:
    """123456 // 3 is 41152, so the case is the rule."""
    match node:
        case Conditional(NE(x, Const(c)), FloorDiv(y, Const(d)) as rule, Const(r)):
            return rule if equal(x, y) and c // d == r else None
        case _:
            return None


@entry(each("i32", "bool", "A[i] <= 999999"))
def a_limit_of_the_next_number(node: LE) -> Expr | None:
    """At most c is below c + 1, unless c is the largest number."""
    match node.b:
        case Const(int() as c) if c < node.b.dtype.high:
            return lt(node.a, c + 1)
        case _:
            return None


@entry(
    kernel(
        "A: f32[300], I: u8[30], C: f32[30]",
        """
        for i in serial(0, 30):
            C[i] = A[cast(I[i], i64) + 1]
        """,
    )
)
def add_one_to_an_index_in_sixteen_bits(node: Add) -> Expr | None:
    """256 fits into i16."""
    match node:
        case Add(Cast(value), Const(1)) if value.dtype == U8:
            return cast(cast(value, I16) + 1, node.dtype)
        case _:
            return None


@entry(each("u8", "u8", "clz(A[i])"))
def leading_zeros_of_a_wider_number(node: Call) -> Expr | None:
    """Twenty-four more zeros, also of 0."""
    if node.name != "clz" or node.dtype != U8:
        return None
    return cast(call("clz", cast(node.args[0], U32)) - 24, U8)


@entry(each("u32 u32", "u32", "A[i] << (B[i] & 31) | A[i] >> (32 - (B[i] & 31))"))
def rotate_with_both_distances_masked(node: BitOr) -> Expr | None:
    """For a distance of 0, x >> 32 is 0 and x >> 0 is x; joined with x both give x."""
    left, right = node.a, node.b
    if type(left).__name__ != "Shl" or type(right).__name__ != "Shr":
        return None
    k = left.b
    return left.a << k | right.a >> ((32 - k) & 31)


@entry(each("i8 i8", "i8", "cast(min(max(cast(A[i], i16) + cast(B[i], i16), -128), 127), i8)"))
def saturate_by_the_sign_of_the_overflow(node: Cast) -> Expr | None:
    """The wrapped sum overflowed if its sign differs from those of both operands."""
    match node:
        case Cast(Min(Max(Add(Cast(x), Cast(y)), _), _)) if node.dtype == I8 == x.dtype:
            total = x + y
            over = lt((total ^ x) & (total ^ y), 0)
            limit = select(lt(x, 0), const(-128, I8), 127)
            return select(over, limit, total)
        case _:
            return None


@entry(each("u16", "u16", "popcount(A[i]) & 1"))
def parity_by_folding(node: BitAnd) -> Expr | None:
    """The exclusive or of all bits is the low bit of their number."""
    match node:
        case BitAnd(Call("popcount", (x,)), Const(1)) if x.dtype.bits == 16:
            for distance in (8, 4, 2, 1):
                x = x ^ (x >> distance)
            return x & 1
        case _:
            return None


@entry(each("i32 i32", "i32", "min(A[i], B[i])"))
def minimum_by_a_mask(node: Min) -> Expr | None:
    """In 64 bits the difference does not wrap, and its sign is a mask."""
    if node.dtype != I32:
        return None
    x, y = cast(node.a, I64), cast(node.b, I64)
    d = x - y
    return cast(y + (d & (d >> 63)), I32)


@entry(each("f32", "bool", "floor(A[i]) == A[i]"))
def whole_number_by_truncation(node: EQ) -> Expr | None:
    """A number is its floor exactly if it is its truncation; infinities are both, NaN neither."""
    match node:
        case EQ(Call("floor", (x,)), y) if equal(x, y):
            return eq(call("trunc", x), x)
        case _:
            return None


@entry(each("f32", "i32", "(cast(A[i], i32) if A[i] >= 0.0 else 0)"))
def convert_the_positive_part(node: Conditional) -> Expr | None:
    """NaN gives 0 either way, by the comparison or by the conversion."""
    match node:
        case Conditional(GE(x, Const(0.0)), Cast(y), Const(0)) if equal(x, y):
            return maximum(cast(x, I32), 0)
        case _:
            return None


@entry(each("f32", "f32", "A[i] * 0.5 * 4.0"))
def swap_an_exact_doubling_and_a_halving(node: Mul) -> Expr | None:
    """Both programs halve first; the factor 4 becomes two doublings."""
    match node:
        case Mul(x, Const(4.0)):
            return x * 2.0 * 2.0
        case _:
            return None


@entry(each("i64 i64", "bool", "A[i] == B[i]"))
def compare_in_two_words(node: EQ) -> Expr | None:
    """Equal if both halves are."""
    if node.a.dtype != I64:
        return None
    low = eq(cast(node.a, I32), cast(node.b, I32))
    return logical_and(low, eq(node.a >> 32, node.b >> 32))


@entry(each("u8 u8 u8", "u8", "(A[i] if B[i] == 200 and D[i] == 13 else A[i] + 1)"))
def two_conditions_as_one(node: And) -> Expr | None:
    """The bytes side by side in one word."""
    match node:
        case And(EQ(x, Const(p)), EQ(y, Const(q))) if x.dtype == y.dtype == U8:
            word = cast(x, U32) << 8 | cast(y, U32)
            return eq(word, p * 256 + q)
        case _:
            return None
