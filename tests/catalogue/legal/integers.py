"""Legal passes about widths, overflow, casts and signs of integers."""

from irkit.core import equal
from irkit.ir import (
    ANY_INTEGER,
    EQ,
    I8,
    I16,
    I32,
    LT,
    U8,
    U16,
    Add,
    BitAnd,
    Call,
    Cast,
    Const,
    Expr,
    FloorDiv,
    Max,
    Min,
    Mul,
    Neg,
    Not,
    Shr,
    Sub,
    as_int,
    call,
    cast,
    const,
    eq,
    hole,
    logical_not,
    lt,
)
from tests.catalogue.entries import Entries
from tests.catalogue.programs import each, reduce

entry = Entries("integers", legal=True)
a, b, c = (hole(name, ANY_INTEGER) for name in "abc")
k = hole("k", ANY_INTEGER, on=Const)

entry.rule(
    "swap the operands of a sum",
    "Sums wrap around, and commute.",
    each("i8 i8", "i8", "A[i] * 2 + B[i]"),
    a * 2 + b,
    b + a * 2,
)
entry.rule(
    "rearrange a sum of integers",
    "Sums that wrap around form a ring, so they may be rearranged.",
    each("i8 i8 i8", "i8", "A[i] + B[i] + D[i]"),
    a + b + c,
    a + (b + c),
)
entry.rule(
    "multiply by three with a shift",
    "x << 1 is 2 * x, also where it wraps around.",
    each("i16", "i16", "A[i] * 3"),
    a * 3,
    (a << 1) + a,
)
entry.rule(
    "subtract by adding the complement",
    "Two's complement: -b is ~b + 1.",
    each("i32 i32", "i32", "A[i] - B[i]"),
    a - b,
    lambda a, b: a + logical_not(b) + 1,
)


@entry(each("i8", "i8", "-A[i]"))
def negate_by_complement(node: Neg) -> Expr | None:
    """-x is ~x + 1, also for the smallest number."""
    return logical_not(node.a) + 1 if node.dtype.is_integer else None


@entry(each("u16", "u16", "~A[i]"))
def complement_by_exclusive_or(node: Not) -> Expr | None:
    """Every bit is flipped by an exclusive or with all ones."""
    return node.a ^ node.dtype.high if node.dtype.is_integer else None


entry.rule(
    "a number without itself",
    "x ^ x is 0 for every x.",
    each("u32", "u32", "(A[i] ^ A[i]) + 5"),
    a ^ a,
    lambda a: const(0, a.dtype),
)
entry.rule(
    "join two masks that are complements",
    "Every bit of x is under one of the two masks.",
    each("i16 i16", "i16", "A[i] & B[i] | A[i] & ~B[i]"),
    a & b | a & logical_not(b),
    a,
)
entry.rule(
    "a sum as exclusive or and carry",
    "a + b is the sum without carries plus twice the carries.",
    each("u8 u8", "u8", "A[i] + B[i]"),
    a + b,
    (a ^ b) + ((a & b) << 1),
)
entry.rule(
    "an or as a sum without the common bits",
    "a | b counts the common bits once, a + b twice.",
    each("i32 i32", "i32", "A[i] | B[i]"),
    a | b,
    a + b - (a & b),
)
entry.rule(
    "widen and narrow again",
    "i32 holds every i8, so the way back loses nothing.",
    each("i8", "i8", "cast(cast(A[i], i32), i8)"),
    cast(cast(x := hole("x", I8), I32), I8),
    lambda x: x,
)
entry.rule(
    "widen in one step",
    "Two extensions by the sign are one.",
    each("i8", "i32", "cast(cast(A[i], i16), i32)"),
    cast(cast(x := hole("x", I8), I16), I32),
    lambda x: cast(x, I32),
)


@entry(each("i8 i8", "i32", "cast(A[i], i32) * cast(B[i], i32)"))
def multiply_signed_bytes_in_sixteen_bits(node: Mul) -> Expr | None:
    """The largest product of two i8 is 16384, which fits into i16."""
    match node:
        case Mul(Cast(p), Cast(q)) if p.dtype == I8 == q.dtype:
            return (p.astype(I16) * q.astype(I16)).astype(node.dtype)
        case _:
            return None


@entry(each("i32 i32", "i8", "cast(A[i] * B[i] + 3, i8)"))
def narrow_a_sum_of_products_early(node: Cast) -> Expr | None:
    """The low bits of sums and products depend on the low bits of the operands alone."""
    inner = node.value
    if isinstance(inner, (Add, Mul, Sub)) and inner.dtype.is_integer and node.dtype == I8:
        return type(inner)(cast(inner.a, I8), cast(inner.b, I8), I8)
    return None


@entry(each("i8 i8", "i8", "cast((cast(A[i], i16) + cast(B[i], i16)) >> 1, i8)"))
def mean_without_a_wider_type(node: Cast) -> Expr | None:
    """(a & b) + ((a ^ b) >> 1) is the mean rounded down, and never wraps around."""
    match node:
        case Cast(Shr(Add(Cast(p), Cast(q)), Const(1))) if p.dtype == I8 == node.dtype:
            return (p & q) + ((p ^ q) >> 1)
        case _:
            return None


@entry(each("i16", "i16", "max(A[i], -A[i])"))
def magnitude_of_a_maximum(node: Max) -> Expr | None:
    """max(x, -x) is abs(x), also for the smallest number, where both are that number."""
    match node:
        case Max(value, Neg(other)) if value.dtype.is_integer and equal(value, other):
            return call("abs", value)
        case _:
            return None


entry.rule(
    "equality by exclusive or",
    "a ^ b is 0 exactly if they are equal.",
    each("i64 i64", "bool", "A[i] == B[i]"),
    eq(a, b),
    lambda a, b: eq(a ^ b, 0),
)
entry.rule(
    "equality by difference",
    "a - b wraps around, but is 0 exactly if a equals b.",
    each("i8 i8", "bool", "A[i] - B[i] == 0"),
    eq(a - b, 0),
    lambda a, b: eq(a, b),
)


@entry(each("u8 u8", "bool", "A[i] < B[i]"))
def compare_unsigned_as_signed_with_flipped_signs(node: LT) -> Expr | None:
    """Flipping the high bit maps the order of u8 to that of i8."""
    if node.a.dtype == U8:
        return lt(cast(node.a ^ 128, I8), cast(node.b ^ 128, I8))
    return None


@entry(each("u8", "u8", "popcount(A[i])"))
def count_bits_by_halves(node: Call) -> Expr | None:
    """The usual sums of bit pairs, nibbles and the byte."""
    if node.name != "popcount" or node.dtype != U8:
        return None
    x = node.args[0]
    x = x - ((x >> 1) & 0x55)
    x = (x & 0x33) + ((x >> 2) & 0x33)
    return (x + (x >> 4)) & 0x0F


@entry(each("f32", "i8", "cast(max(min(A[i], f32(127.0)), f32(-128.0)), i8)"))
def leave_the_clamp_to_the_conversion(node: Cast) -> Expr | None:
    """A conversion saturates by itself; NaN goes through min and max and gives 0 either way."""
    match node:
        case Cast(Max(Min(value, Const(127.0)), Const(-128.0))) if node.dtype == I8:
            return cast(value, I8)
        case _:
            return None


@entry(each("u8", "i32", "(cast(A[i], i32) & 255) * 3"))
def drop_the_mask_of_an_unsigned_byte(node: BitAnd) -> Expr | None:
    """An unsigned byte has no bits above the mask."""
    match node:
        case BitAnd(Cast(value), Const(255)) if value.dtype == U8:
            return node.a
        case _:
            return None


@entry(each("u16", "u16", "A[i] // 16"))
def divide_unsigned_by_a_shift(node: FloorDiv) -> Expr | None:
    """Division by a power of two is a shift."""
    by = as_int(node.b)
    if by and by > 0 and by.bit_count() == 1 and node.dtype.kind == "u":
        return node.a >> by.bit_length() - 1
    return None


@entry(reduce("i8", "0", "C[i] + A[i, k] * 3"))
def distribute_a_factor_in_eight_bits(node: Mul) -> Expr | None:
    """3 * x is x + 2 * x, modulo 256."""
    match node:
        case Mul(value, Const(3)) if node.dtype == I8:
            return value + value * 2
        case _:
            return None


@entry(each("i16 i16", "u16", "cast(A[i] + B[i], u16)"))
def add_as_unsigned(node: Cast) -> Expr | None:
    """Signed and unsigned sums have the same bits."""
    if node.dtype == U16 and isinstance(node.value, Add) and node.value.dtype == I16:
        return cast(node.value.a, U16) + cast(node.value.b, U16)
    return None


@entry(each("i8", "bool", "A[i] * 2 == 0"))
def test_the_low_bits_of_a_double(node: EQ) -> Expr | None:
    """x * 2 is 0 in eight bits exactly if the low seven bits of x are 0."""
    match node:
        case EQ(Mul(value, Const(2)), Const(0)) if value.dtype == I8:
            return eq(value & 127, 0)
        case _:
            return None
