"""Legal passes that look wrong at first."""

from irkit.core import fresh, substitute
from irkit.ir import (
    ANY_INTEGER,
    F16,
    F32,
    F64,
    U8,
    U16,
    U32,
    U64,
    For,
    If,
    Seq,
    Stmt,
    cast,
    eq,
    hole,
    logical_and,
    lt,
    ne,
    select,
    seq,
)
from tests.catalogue.entries import Entries
from tests.catalogue.programs import each, kernel

entry = Entries("hard", legal=True)
a, b = hole("a", ANY_INTEGER), hole("b", ANY_INTEGER)
x, y = hole("x", F32), hole("y", F32)

entry.rule(
    "divide by ten with a multiplier",
    "The multiplier of 32 bits for ten is exact for all numbers of 32 bits.",
    each("u32", "u32", "A[i] // 10"),
    hole("w", U32) // 10,
    lambda w: cast(cast(w, U64) * 0xCCCCCCCD >> 35, U32),
)
entry.rule(
    "divide without asking for zero",
    "a // 0 is 0.",
    each("i32 i32", "i32", "select(B[i] != 0, A[i] // B[i], i32(0))"),
    select(ne(b, 0), a // b, 0),
    lambda a, b: a // b,
)
entry.rule(
    "a double to a half by way of a single",
    "Conversion to 16 bits goes through f32 anyway.",
    each("f64", "f16", "cast(A[i], f16)"),
    cast(hole("d", F64), F16),
    lambda d: cast(cast(d, F32), F16),
)
entry.rule(
    "a remainder from the quotient with a guard",
    "a % 0 is 0.",
    each("i32 i32", "i32", "A[i] % B[i]"),
    a % b,
    lambda a, b: select(eq(b, 0), 0, a - a // b * b),
)
entry.rule(
    "divide in double precision",
    "53 bits are more than twice 24 and two, so rounding twice is rounding once.",
    each("f32 f32", "f32", "A[i] / B[i]"),
    x / y,
    lambda x, y: cast(cast(x, F64) / cast(y, F64), F32),
)
entry.rule(
    "a half rounded in single precision",
    "f16 is computed in f32 and rounded after each operation.",
    each("f16 f16", "f16", "A[i] * B[i]"),
    hole("g", F16) * hole("h", F16),
    lambda g, h: cast(cast(g, F32) * cast(h, F32), F16),
)
entry.rule(
    "shift by a masked number with a guard",
    "A shift by 32 or more gives 0.",
    each("u32 u32", "u32", "A[i] << B[i]"),
    a << b,
    lambda a, b: select(lt(b, 32), a << (b & 31), 0),
)
entry.rule(
    "average of bytes without wider numbers",
    "What both share, and half of what differs.",
    each("u8 u8", "u8", "cast(cast(A[i], u16) + cast(B[i], u16) >> 1, u8)"),
    cast(cast(hole("p", U8), U16) + cast(hole("q", U8), U16) >> 1, U8),
    lambda p, q: (p & q) + ((p ^ q) >> 1),
)


@entry(
    kernel(
        "A: i64[5], C: i64[5]",
        """
        for i in serial(0, 5):
            C[i] = A[i]
        for r in serial(0, 4):
            for i in serial(0, 4):
                if C[i] > C[i + 1]:
                    T = alloc(i64[1])
                    T[0] = C[i]
                    C[i] = C[i + 1]
                    C[i + 1] = T[0]
        """,
    )
)
def sort_without_what_is_in_place(loop: For) -> Stmt | None:
    """After r rounds the r largest numbers are in place."""
    match loop.body:
        case For() as inner if loop.var.name == "r":
            return loop.replace(body=inner.replace(end=inner.end - loop.var))
        case _:
            return None


@entry(
    kernel(
        "A: f32[6, 9], C: f32[6], V: f32[6]",
        """
        for i in serial(0, 6):
            C[i] = f32(0.0)
            for k in serial(0, 9):
                C[i] = C[i] + A[i, k]
        for i in serial(0, 6):
            V[i] = f32(0.0)
            for k in serial(0, 9):
                V[i] = V[i] + A[i, k] * A[i, k]
        """,
    )
)
def sum_and_squares_in_one_loop(stmt: Seq) -> Stmt | None:
    """The two loops have nothing to do with each other."""
    match stmt.stmts:
        case (For(body=Seq()) as first, For(body=Seq()) as second):
            body = substitute(second.body, {second.var: first.var})
            return first.replace(body=seq(first.body, body))
        case _:
            return None


@entry(
    kernel(
        "A: f32[n, m], C: f32[n, m]",
        """
        for i in serial(0, n):
            for j in serial(0, m):
                C[i, j] = A[i, j] + f32(1.0)
        """,
    )
)
def another_order_where_tiles_fit(loop: For) -> Stmt | None:
    """Columns before rows where 6 divides the rows and 4 the columns."""
    inner = loop.body
    if not isinstance(inner, For) or loop.var.name != "i":
        return None
    fits = logical_and(eq(loop.end % 6, 0), eq(inner.end % 4, 0))
    turned = fresh(inner.replace(body=loop.replace(body=inner.body)))
    return If(fits, turned, loop)
