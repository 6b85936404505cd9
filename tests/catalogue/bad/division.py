"""Wrong passes about division, remainders, shifts, comparisons and ranges of integers."""

from irkit.core import equal, rewrite
from irkit.ir import (
    ANY_INTEGER,
    EQ,
    GT,
    I32,
    LE,
    LT,
    Add,
    And,
    BitOr,
    Call,
    Cast,
    Const,
    Expr,
    FloorDiv,
    FloorMod,
    For,
    Load,
    PrimFunc,
    Rewriter,
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
    logical_not,
    lt,
    select,
    trip_count,
)
from tests.catalogue.entries import Entries
from tests.catalogue.programs import each, kernel

entry = Entries("division", legal=False)
a, b, c = (hole(name, ANY_INTEGER) for name in "abc")


@entry(each("i32", "i32", "truncdiv(A[i], 8) + 1"))
def truncated_division_by_a_shift(node: Call) -> Expr | None:
    """A shift rounds towards minus infinity: truncdiv(-1, 8) is 0, -1 >> 3 is -1."""
    if node.name != "truncdiv":
        return None
    by = as_int(node.args[1])
    return node.args[0] >> by.bit_length() - 1 if by and by.bit_count() == 1 else None


@entry(each("i16", "i16", "A[i] % 8 * 3"))
def floor_remainder_as_truncated(node: FloorMod) -> Expr | None:
    """The remainder takes the sign of the divisor; truncmod takes that of the dividend."""
    return call("truncmod", node.a, node.b) if is_const(node.b) else None


@entry(each("i32 i32", "i32", "A[i] // B[i]"))
def floor_division_as_truncated(node: FloorDiv) -> Expr | None:
    """-7 // 2 is -4; truncdiv gives -3."""
    return call("truncdiv", node.a, node.b)


entry.rule(
    "join two divisions by variables",
    "The product of the divisors wraps around in 8 bits.",
    each("i8 i8 i8", "i8", "A[i] // B[i] // D[i]"),
    a // b // c,
    a // (b * c),
)
entry.rule(
    "quotient times divisor plus remainder",
    "For a zero divisor quotient and remainder are 0, so the sum is 0 and not the dividend.",
    each("i32 i32", "i32", "A[i] // B[i] * B[i] + A[i] % B[i]"),
    a // b * b + a % b,
    a,
)
entry.rule(
    "remainder by the definition",
    "For a zero divisor a % b is 0, but a - (a // b) * b is a.",
    each("i16 i16", "i16", "A[i] % B[i] + 1"),
    a % b,
    a - a // b * b,
)
entry.rule(
    "a number divided by itself",
    "0 // 0 is 0.",
    each("i32", "i32", "A[i] // A[i]"),
    a // a,
    lambda a: const(1, a.dtype),
)


@entry(each("i32", "bool", "A[i] % 2 == 1"))
def odd_by_truncated_remainder(node: EQ) -> Expr | None:
    """truncmod(-3, 2) is -1, so a negative odd number is taken for even."""
    match node:
        case EQ(FloorMod(value, by), Const(1)):
            return eq(call("truncmod", value, by), 1)
        case _:
            return None


@entry(each("u8", "u8", "A[i] // 10"))
def divide_a_byte_by_ten_with_a_short_reciprocal(node: FloorDiv) -> Expr | None:
    """103 / 1024 is too large a reciprocal: from 179 on some quotients are one too high."""
    if node.dtype.bits == 8 and is_const(node.b, 10):
        return cast(cast(node.a, I32) * 103 >> 10, node.dtype)
    return None


@entry(each("u32", "u32", "A[i] // 7"))
def divide_by_seven_with_a_multiplier_of_32_bits(node: FloorDiv) -> Expr | None:
    """The multiplier for 7 needs 33 bits; the one rounded to 32 fails for large numbers."""
    if str(node.dtype) == "u32" and is_const(node.b, 7):
        wide = cast(node.a, "u64") * 0x92492493
        return cast(wide >> 34, node.dtype)
    return None


@entry(each("i8", "i8", "(A[i] + 8) // 8"))
def take_a_multiple_out_of_a_quotient(node: FloorDiv) -> Expr | None:
    """The sum wraps around above 119; only a range of A could rule that out."""
    match node:
        case FloorDiv(Add(value, Const(extra)), Const(by)) if by > 0 and extra % by == 0:
            return value // by + extra // by
        case _:
            return None


@entry(each("i32", "bool", "A[i] // 3 <= 5"))
def compare_a_quotient_by_its_product(node: LE) -> Expr | None:
    """x // 3 <= 5 holds up to 17, not up to 15."""
    match node:
        case LE(FloorDiv(value, Const(by)), Const(limit)) if by > 0:
            return le(value, by * limit)
        case _:
            return None


entry.rule(
    "shift right as a division",
    "1 << 7 is -128 in i8, and 1 << 8 is 0, so the division gives another sign, or 0 for -1.",
    each("i8 i8", "i8", "A[i] >> B[i]"),
    a >> b,
    lambda a, b: a // (const(1, a.dtype) << b),
)


@entry(each("u32 u32", "u32", "A[i] << B[i]"))
def mask_the_distance_of_a_shift(node: Shl) -> Expr | None:
    """Processors take the distance modulo the width; here a shift by the width gives 0."""
    return None if is_const(node.b) else node.a << (node.b & node.dtype.bits - 1)


@entry(each("i32", "i32", "A[i] << 7 | A[i] >> 25"))
def rotate_a_signed_number(node: BitOr) -> Expr | None:
    """The shift to the right copies the sign; a rotation as unsigned brings in the high bits."""
    match node:
        case BitOr(Shl(x, Const(left)), Shr(y, Const(right))) if (
            equal(x, y) and left + right == node.dtype.bits
        ):
            wide = cast(x, "u32")
            return cast(wide << left | wide >> right, node.dtype)
        case _:
            return None


@entry(each("i32 i32", "i32", "(A[i] if A[i] >= 0 and A[i] < B[i] else 0)"))
def check_a_range_with_one_unsigned_comparison(node: And) -> Expr | None:
    """Right only for a limit that is not negative: as unsigned, -1 is a very large limit."""
    match node:
        case And(first, LT(x, limit)) if type(first).__name__ == "GE" and equal(first.a, x):
            return lt(cast(x, "u32"), cast(limit, "u32"))
        case _:
            return None


@entry(each("i32", "i32", "A[i] % 6 % 4"))
def drop_the_inner_remainder(node: FloorMod) -> Expr | None:
    """Only a divisor of the inner modulus can go through it; 4 does not divide 6."""
    match node:
        case FloorMod(FloorMod(value, Const(inner)), Const(outer)) if inner > outer:
            return value % node.b
        case _:
            return None


class _Divide(Rewriter):
    def expr(self, expr: Expr) -> Expr:
        return self._rewritten(super().expr(expr))

    def _rewritten(self, expr: Expr) -> Expr:
        loops = {stmt.var: trip_count(stmt) for stmt in self.around if isinstance(stmt, For)}

        def divide(node: FloorDiv) -> Expr | None:
            match node:
                case FloorDiv(Add(value, Var() as small), Const(by)):
                    extent = loops.get(small)
                    if extent is not None and extent <= by + 1 and as_int(node.b):
                        return value // by
                case _:
                    pass
            return None

        return rewrite(expr, divide)


@entry(
    kernel(
        "A: f32[16], C: f32[8, 5]",
        """
        for i in serial(0, 8):
            for j in serial(0, 5):
                C[i, j] = A[(i * 4 + j) // 4]
        """,
    )
)
def drop_an_offset_that_is_as_large_as_the_divisor(func: PrimFunc) -> PrimFunc:
    """j reaches 4, which is the divisor: the test of the extent is off by one."""
    return _Divide(func).run()


@entry(
    kernel(
        "A: f32[n], C: f32[n]",
        """
        for i in serial(0, n):
            C[i] = A[(i - 1) % n] + A[(i + 1) % n]
        """,
    )
)
def wrap_an_index_by_a_comparison(node: FloorMod) -> Expr | None:
    """i - 1 is -1 for the first element, which the comparison with n does not catch."""
    return select(ge(node.a, node.b), node.a - node.b, node.a) if not is_const(node.b) else None


@entry(
    kernel(
        "A: f32[12], C: f32[12]",
        """
        for i in serial(0, 12):
            C[i] = A[max((i - 3) // 2, -1) + 1]
        """,
    )
)
def floor_an_index_below_zero_by_truncation(node: FloorDiv) -> Expr | None:
    """(i - 3) // 2 is -1 for i = 2; truncated it is 0."""
    return call("truncdiv", node.a, node.b) if isinstance(node.a, Sub) else None


entry.rule(
    "a zero quotient means that the divisor is larger",
    "A zero divisor gives 0 as well, and no unsigned number is below 0.",
    each("u16 u16", "bool", "A[i] // B[i] == 0"),
    eq(a // b, 0),
    lambda a, b: lt(a, b),
)
entry.rule(
    "at most as below the successor",
    "b + 1 wraps around for the largest number.",
    each("i8 i8", "bool", "A[i] <= B[i]"),
    le(a, b),
    lambda a, b: lt(a, b + 1),
)


@entry(each("i32", "bool", "-A[i] > 5"))
def negate_both_sides_of_a_comparison(node: GT) -> Expr | None:
    """-INT_MIN is INT_MIN: not above 5, while INT_MIN itself is below -5."""
    match node:
        case GT(value, Const(limit)) if type(value).__name__ == "Neg":
            return lt(value.a, -limit)
        case _:
            return None


@entry(each("i32 i32 i32", "bool", "A[i] * D[i] < B[i] * D[i]"))
def cancel_a_factor_in_a_comparison(node: LT) -> Expr | None:
    """The factor can be negative or 0, and the products wrap around."""
    x, y = node.a, node.b
    if isinstance(getattr(x, "b", None), Load) and equal(x.b, y.b):
        return lt(x.a, y.a)
    return None


@entry(each("i16", "i16", "select(A[i] >= 0, A[i] // 4, -(-A[i] // 4))"))
def division_towards_zero_as_floor_plus_sign(node: Expr) -> Expr | None:
    """Adds 1 for every negative number, also where the division leaves no remainder."""
    if type(node).__name__ != "Select":
        return None
    value = node.then.a
    return select(lt(value, 0), value // 4 + 1, value // 4)


@entry(each("i64", "bool", "not (A[i] > 3 and A[i] < 9)"))
def negate_a_conjunction(node: Expr) -> Expr | None:
    """The negation of x < 9 is x >= 9; the pass writes x > 9."""
    if type(node).__name__ != "Not" or not isinstance(node.a, And):
        return None
    left, right = node.a.a, node.a.b
    return logical_not(left) | gt(right.a, right.b)


@entry(each("i32", "i32", "A[i] % 100 - A[i] % 10"))
def remainder_of_a_remainder_by_subtraction(node: Sub) -> Expr | None:
    """x % 100 - x % 10 is x // 10 % 10 * 10; the pass takes // before % with truncation."""
    match node:
        case Sub(FloorMod(x, Const(100)), FloorMod(y, Const(10))) if equal(x, y):
            return call("truncmod", call("truncdiv", x, 10), 10) * 10
        case _:
            return None


@entry(each("i32", "i32", "cast(A[i], i32) // 16"))
def shift_with_a_rounded_logarithm(node: FloorDiv) -> Expr | None:
    """Takes every divisor's bit length, and shifts logically: the sign is lost."""
    by = as_int(node.b)
    if by and by.bit_count() == 1:
        return Cast(cast(node.a, "u32") >> by.bit_length() - 1, I32)
    return None
