"""Passes that are wrong for rare inputs only: a constant, a tie, a width, a denormal."""

from irkit.core import equal
from irkit.ir import (
    EQ,
    F32,
    F64,
    GT,
    I32,
    I64,
    LE,
    LT,
    U32,
    Add,
    And,
    Call,
    Cast,
    Const,
    Expr,
    FloorDiv,
    FloorMod,
    If,
    Load,
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
    ne,
    select,
)
from tests.catalogue.entries import Entries
from tests.catalogue.programs import each, kernel

entry = Entries("rare", legal=False)


@entry(each("u16", "u16", "A[i] // 10"))
def divide_by_ten_with_a_reciprocal_of_sixteen_bits(node: FloorDiv) -> Expr | None:
    """6554 / 65536 is right up to 16388."""
    if node.dtype.bits == 16 and is_const(node.b, 10):
        return cast(cast(node.a, U32) * 6554 >> 16, node.dtype)
    return None


@entry(each("u16", "u16", "A[i] // 7 + 1"))
def divide_by_seven_with_a_reciprocal_of_sixteen_bits(node: FloorDiv) -> Expr | None:
    """9363 / 65536 is a little too large for a seventh: wrong from 13,000 on, for a few numbers."""
    if node.dtype.bits == 16 and is_const(node.b, 7):
        return cast(cast(node.a, U32) * 9363 >> 16, node.dtype)
    return None


@entry(each("i32", "i32", "cast(cast(A[i], f32), i32)"))
def drop_a_round_trip_through_single_precision(node: Cast) -> Expr | None:
    """f32 holds the integers up to 2**24 only."""
    match node:
        case Cast(Cast(x)) if x.dtype == node.dtype == I32:
            return x
        case _:
            return None


@entry(each("i64", "f32", "cast(A[i], f32)"))
def convert_a_long_integer_by_way_of_double(node: Cast) -> Expr | None:
    """Rounds twice: wrong where the first rounding makes a tie of the second."""
    if node.dtype == F32 and node.value.dtype == I64:
        return cast(cast(node.value, F64), F32)
    return None


@entry(each("f32 f32 f32", "f32", "fma(A[i], B[i], D[i])"))
def fused_multiply_add_in_double_precision(node: Call) -> Expr | None:
    """The product is exact in f64, but the sum is rounded to f64 and then to f32."""
    if node.name != "fma" or node.dtype != F32:
        return None
    a, b, c = (cast(arg, F64) for arg in node.args)
    return cast(a * b + c, F32)


@entry(each("f32", "f32", "A[i] * 0.5 * 0.25"))
def join_two_factors_below_one(node: Mul) -> Expr | None:
    """Exact except for denormals, which are rounded twice."""
    match node:
        case Mul(Mul(x, Const(p)), Const(q)):
            return x * (p * q)
        case _:
            return None


@entry(each("f32", "f32", "sqrt(A[i] * A[i])"))
def root_of_a_square_as_a_magnitude(node: Call) -> Expr | None:
    """The square overflows above 2**64 and vanishes below 2**-75."""
    match node:
        case Call("sqrt", (Mul(x, y),)) if equal(x, y):
            return call("abs", x)
        case _:
            return None


@entry(each("f32", "f32", "round(A[i] * 2.0)"))
def round_ties_upwards(node: Call) -> Expr | None:
    """round takes ties to even: 0.5 gives 0, and 2.5 gives 2."""
    return call("floor", node.args[0] + 0.5) if node.name == "round" else None


@entry(each("f32", "f32", "round(A[i])"))
def round_away_from_zero_by_truncation(node: Call) -> Expr | None:
    """Ties go away from zero, and the number just below 0.5 becomes 1."""
    if node.name != "round":
        return None
    x = node.args[0]
    return call("trunc", x + select(lt(x, 0.0), const(-0.5, x.dtype), 0.5))


@entry(each("u32", "bool", "popcount(A[i]) == 1"))
def power_of_two_by_its_predecessor(node: EQ) -> Expr | None:
    """x & (x - 1) is 0 for x = 0 as well, which is no power of two."""
    match node:
        case EQ(Call("popcount", (x,)), Const(1)):
            return eq(x & (x - 1), 0)
        case _:
            return None


@entry(each("i32 i32", "bool", "A[i] * B[i] == 0"))
def a_zero_product_has_a_zero_factor(node: EQ) -> Expr | None:
    """65536 * 65536 wraps around to 0."""
    match node:
        case EQ(Mul(x, y), Const(0)):
            return logical_or(eq(x, 0), eq(y, 0))
        case _:
            return None


@entry(each("f32 f32", "bool", "A[i] * B[i] == 0.0"))
def a_zero_product_of_floats_has_a_zero_factor(node: EQ) -> Expr | None:
    """Products below the smallest denormal are rounded to 0."""
    match node:
        case EQ(Mul(x, y), Const(0.0)):
            return logical_or(eq(x, 0.0), eq(y, 0.0))
        case _:
            return None


@entry(each("f64 f64", "bool", "A[i] < B[i] or A[i] > B[i]"))
def less_or_greater_as_not_equal(node: Or) -> Expr | None:
    """NaN differs from everything, and is neither less nor greater."""
    if isinstance(node.a, LT) and isinstance(node.b, GT):
        return ne(node.a.a, node.a.b)
    return None


@entry(each("i64 i64", "bool", "A[i] == B[i]"))
def compare_the_low_words(node: EQ) -> Expr | None:
    """Numbers that differ by a multiple of 2**32 count as equal."""
    if node.a.dtype == I64:
        return eq(cast(node.a, I32), cast(node.b, I32))
    return None


@entry(each("i64 i64", "bool", "A[i] < B[i]"))
def compare_long_integers_as_doubles(node: LT) -> Expr | None:
    """f64 holds the integers up to 2**53 only."""
    if node.a.dtype == I64:
        return lt(cast(node.a, F64), cast(node.b, F64))
    return None


@entry(each("f32", "u32", "cast(A[i], u32)"))
def convert_to_unsigned_by_way_of_a_long_integer(node: Cast) -> Expr | None:
    """Negative numbers and those from 2**32 on wrap around instead of saturating."""
    if node.dtype == U32 and node.value.dtype == F32:
        return cast(cast(node.value, I64), U32)
    return None


@entry(each("f32", "bool", "floor(A[i]) == A[i]"))
def whole_number_by_a_round_trip(node: EQ) -> Expr | None:
    """Beyond the range of i32 every float is whole, but the conversion saturates."""
    match node:
        case EQ(Call("floor", (x,)), y) if equal(x, y):
            return eq(cast(cast(x, I32), F32), x)
        case _:
            return None


@entry(each("f32 f32", "f32", "A[i] * B[i]"))
def flush_denormal_results(node: Mul) -> Expr | None:
    """Results below 2**-126 become 0, as a fast mode of a processor would have it."""
    tiny = const(2.0**-126, node.dtype)
    return select(lt(call("abs", node), tiny), const(0.0, node.dtype), node)


@entry(each("i32", "bool", "A[i] % 4 == 0 and A[i] % 100 != 0 or A[i] % 400 == 0"))
def leap_years_without_the_centuries(node: Or) -> Expr | None:
    """y % 25 and y % 16 can replace y % 100 and y % 400; the pass drops the second."""
    match node:
        case Or(And(EQ(FloorMod(y, Const(4)), _)), _):
            return logical_and(eq(y % 4, 0), ne(y % 25, 0))
        case _:
            return None


@entry(each("i32 i32", "i32", "pow(A[i], B[i])"))
def integer_power_with_a_short_cut(node: Call) -> Expr | None:
    """Exponents below 2 give the base: right for 1, not for 0 and negative ones."""
    if node.name != "pow" or not node.dtype.is_integer:
        return None
    base, exponent = node.args
    return select(lt(exponent, 2), base, node)


@entry(each("f32 f32", "f32", "atan2(A[i], B[i] * B[i])"))
def angle_by_the_quotient(node: Call) -> Expr | None:
    """The abscissa is not negative, but for 0 / 0 the quotient is NaN; it also rounds twice."""
    return call("atan", node.args[0] / node.args[1]) if node.name == "atan2" else None


@entry(
    kernel(
        "A: i32[40], C: i32[1]",
        """
        C[0] = -1
        for i in serial(0, 40):
            if A[i] == 77777 and C[0] < 0:
                C[0] = cast(i, i32)
        """,
    )
)
def search_without_the_first_hit(stmt: If) -> Stmt | None:
    """Keeps the last hit instead of the first: seen only if the number occurs twice."""
    match stmt.cond:
        case And(found, _):
            return stmt.replace(cond=found)
        case _:
            return None


@entry(each("i32", "i32", "(A[i] // 3 if A[i] != 123456 else -1)"))
def drop_a_special_case(node: Expr) -> Expr | None:
    """One number of four thousand million has another result."""
    return node.then if type(node).__name__ == "Conditional" else None


@entry(each("i32", "bool", "A[i] <= 999999"))
def round_a_limit_of_a_comparison(node: LE) -> Expr | None:
    """The limit is written as below 999999, which only that number notices."""
    return lt(node.a, node.b) if is_const(node.b, 999999) else None


@entry(each("u8 u8 u8", "u8", "(A[i] if B[i] == 200 and D[i] == 13 else A[i] + 1)"))
def forget_one_of_two_conditions(node: And) -> Expr | None:
    """Both constants have to meet for the right answer."""
    return node.a


@entry(
    kernel(
        "A: f32[300], I: u8[30], C: f32[30]",
        """
        for i in serial(0, 30):
            C[i] = A[cast(I[i], i64) + 1]
        """,
    )
)
def add_one_to_a_narrow_index(load: Load) -> Expr | None:
    """255 + 1 wraps around to 0 in u8."""
    match load.indices:
        case (Add(Cast(value), Const(1)),):
            return load.replace(indices=(cast(value + 1, I64),))
        case _:
            return None
