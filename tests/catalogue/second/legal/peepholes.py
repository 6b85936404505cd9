"""Legal peephole rules on narrow and unsigned integers."""

from irkit.ir import (
    ANY_INTEGER,
    I8,
    I16,
    I32,
    U8,
    U32,
    call,
    cast,
    hole,
    le,
    logical_not,
    lt,
    maximum,
    minimum,
    select,
)
from tests.catalogue.entries import Entries
from tests.catalogue.programs import each

entry = Entries("peepholes", legal=True)
a, b = hole("a", ANY_INTEGER), hole("b", ANY_INTEGER)

entry.rule(
    "mask instead of a floored remainder",
    "The remainder has the sign of the divisor, and so do the low bits.",
    each("i32", "i32", "A[i] % i32(16)"),
    a % 16,
    a & 15,
)
entry.rule(
    "join the bits of and and or",
    "The bits that both have are counted twice on either side.",
    each("i16 i16", "i16", "(A[i] & B[i]) + (A[i] | B[i])"),
    (a & b) + (a | b),
    a + b,
)
entry.rule(
    "a wide distance as maximum less minimum",
    "Differences of numbers of 8 bits fit into 16.",
    each("i8 i8", "i16", "abs(cast(A[i], i16) - cast(B[i], i16))"),
    call("abs", cast(hole("x", I8), I16) - cast(hole("y", I8), I16)),
    lambda x, y: cast(maximum(x, y), I16) - cast(minimum(x, y), I16),
)
entry.rule(
    "a choice of the smaller integer",
    "Integers have no NaN.",
    each("u16 u16", "u16", "select(A[i] < B[i], A[i], B[i])"),
    select(lt(a, b), a, b),
    minimum(a, b),
)
entry.rule(
    "shift instead of a floored quotient",
    "Both round towards minus infinity.",
    each("i32", "i32", "A[i] // i32(16)"),
    a // 16,
    a >> 4,
)
entry.rule(
    "leading zeros of a byte in place of a word",
    "A byte in a word has 24 zeros more, also the byte 0.",
    each("u8", "u32", "clz(cast(A[i], u32)) - 24"),
    call("clz", cast(hole("x", U8), U32)) - 24,
    lambda x: cast(call("clz", x), U32),
)
entry.rule(
    "turn a comparison round",
    "Integers are ordered.",
    each("i64 i64", "bool", "not (A[i] < B[i])"),
    logical_not(lt(a, b)),
    le(b, a),
)
entry.rule(
    "exclusive or as a difference",
    "The bits of and are among those of or, so nothing is borrowed.",
    each("u8 u8", "u8", "A[i] ^ B[i]"),
    a ^ b,
    (a | b) - (a & b),
)
entry.rule(
    "a mask that leaves the sign alone",
    "0 to 127 are not negative in i8.",
    each("i32", "i32", "cast(cast(A[i] & 127, i8), i32) + 1"),
    cast(cast(hole("x", I32) & 127, I8), I32),
    lambda x: x & 127,
)
entry.rule(
    "halve towards zero by a shift",
    "One is added to negative numbers before the shift rounds down.",
    each("i32", "i32", "truncdiv(A[i], i32(2))"),
    call("truncdiv", a, 2),
    lambda a: a + cast(lt(a, 0), a.dtype) >> 1,
)
