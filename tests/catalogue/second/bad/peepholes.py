"""Wrong peephole rules on narrow and unsigned integers."""

from irkit.ir import (
    ANY_INTEGER,
    I8,
    I32,
    U16,
    U32,
    call,
    cast,
    eq,
    gt,
    hole,
    maximum,
    minimum,
)
from tests.catalogue.entries import Entries
from tests.catalogue.programs import each

entry = Entries("peepholes", legal=False)
a, b = hole("a", ANY_INTEGER), hole("b", ANY_INTEGER)

entry.rule(
    "halve both terms of a mean",
    "Where both numbers are odd, the two halves that are lost make one.",
    each("i16 i16", "i16", "A[i] + B[i] >> 1"),
    a + b >> 1,
    (a >> 1) + (b >> 1),
)
entry.rule(
    "cancel a factor of a byte",
    "The product wraps, so the quotient is another one; and a factor can be 0.",
    each("u8 u8", "u8", "A[i] * B[i] // B[i]"),
    a * b // b,
    a,
)
entry.rule(
    "a distance as maximum less minimum",
    "abs of a difference that wraps is not the difference of the larger and the smaller.",
    each("i8 i8", "i8", "abs(A[i] - B[i])"),
    call("abs", a - b),
    maximum(a, b) - minimum(a, b),
)
entry.rule(
    "mask instead of a truncated remainder",
    "The remainder of a negative number is negative, its low bits are not.",
    each("i32", "i32", "truncmod(A[i], i32(16))"),
    call("truncmod", a, hole("c", ANY_INTEGER)),
    lambda a, c: a & (c - 1),
)
entry.rule(
    "compare a difference of unsigned numbers with zero",
    "A difference that wraps is above zero too.",
    each("u16 u16", "bool", "A[i] - B[i] > 0"),
    gt(a - b, 0),
    gt(a, b),
)
entry.rule(
    "one bit set",
    "Zero has no bit set, and passes the test as well.",
    each("u32", "bool", "popcount(A[i]) == 1"),
    eq(call("popcount", a), 1),
    eq(a & (a - 1), 0),
)
entry.rule(
    "shift there and back",
    "The high bits are lost on the way, and the sign is another one.",
    each("i32", "i32", "A[i] << 9 >> 9"),
    a << 9 >> 9,
    a,
)
entry.rule(
    "negate under a quotient",
    "Rounding is towards minus infinity, so -(7 // 2) is -3 and -7 // 2 is -4.",
    each("i16 i16", "i16", "neg(A[i] // B[i])"),
    -(a // b),
    lambda a, b: -a // b,
)
entry.rule(
    "add outside of a minimum",
    "The larger number may wrap around when one is added, the minimum of both does not.",
    each("i8 i8", "i8", "min(A[i] + 1, B[i] + 1)"),
    minimum(a + 1, b + 1),
    minimum(a, b) + 1,
)


entry.rule(
    "multiply before widening",
    "The product of two numbers of 16 bits needs 32.",
    each("u16 u16", "u32", "cast(A[i], u32) * cast(B[i], u32) + u32(1)"),
    cast(hole("x", U16), U32) * cast(hole("y", U16), U32),
    lambda x, y: cast(x * y, U32),
)
entry.rule(
    "a mask that is too wide for the sign",
    "128 to 255 are negative in i8.",
    each("i32", "i32", "cast(cast(A[i] & 255, i8), i32) + 1"),
    cast(cast(hole("x", I32) & 255, I8), I32),
    lambda x: x & 255,
)
