"""Wrong passes that few inputs show."""

from irkit.core import substitute
from irkit.ir import (
    ANY_INTEGER,
    F16,
    F32,
    F64,
    GT,
    I32,
    U8,
    U16,
    U32,
    U64,
    Add,
    And,
    Buffer,
    Conditional,
    Expr,
    FloorDiv,
    For,
    If,
    Load,
    Or,
    PrimFunc,
    Seq,
    Stmt,
    Store,
    View,
    as_int,
    call,
    cast,
    const,
    eq,
    ge,
    hole,
    index,
    logical_and,
    maximum,
    minimum,
    select,
)
from tests.catalogue.entries import Entries
from tests.catalogue.programs import each, kernel

entry = Entries("hard", legal=False)
a, b = hole("a", ANY_INTEGER), hole("b", ANY_INTEGER)
x, y = hole("x", F32), hole("y", F32)
NEAREST = kernel(
    "A: i32[20], B: i32[6], C: i32[20]",
    """
    for i in serial(0, 20):
        C[i] = -1
        for j in serial(0, 6):
            if A[i] == B[j]:
                C[i] = cast(j, i32)
    """,
)
LARGEST = kernel(
    "A: f32[4, 9], C: i64[4]",
    """
    for i in serial(0, 4):
        C[i] = 0
        for j in serial(1, 9):
            if A[i, j] > A[i, C[i]]:
                C[i] = j
    """,
)

entry.rule(
    "divide by ten with a multiplier of 29 bits",
    "Above 2**30, numbers that end in 9 come out one too large.",
    each("u32", "u32", "A[i] // 10"),
    hole("w", U32) // 10,
    lambda w: cast(cast(w, U64) * 0x1999999A >> 32, U32),
)
entry.rule(
    "a remainder from the quotient",
    "a % 0 is 0, and a - a // 0 * 0 is a.",
    each("i32 i32", "i32", "A[i] % B[i]"),
    a % b,
    lambda a, b: a - a // b * b,
)


@entry(
    each("i32", "bool", "A[i] > 1582 and (A[i] % 4 == 0 and A[i] % 100 != 0 or A[i] % 400 == 0)")
)
def forget_every_fourth_century(node: Or) -> Expr | None:
    """Of the years after 1582 those that 400 divides are leap years."""
    return node.a


@entry(NEAREST)
def keep_the_first_hit(guard: If) -> Stmt | None:
    """The last of several equal numbers counts, not the first."""
    store = guard.then
    assert isinstance(store, Store)
    found = Load(store.buffer, store.indices, None, I32)
    return guard.replace(cond=logical_and(guard.cond, eq(found, -1)))


@entry(LARGEST)
def take_the_last_of_equal_maxima(node: GT) -> Expr | None:
    """Of equal numbers the first is meant."""
    return ge(node.a, node.b)


@entry(each("i32", "i32", "(1 if A[i] * 7 + 3 == 9216 else 0)"))
def a_condition_that_hardly_ever_holds(node: Conditional) -> Expr | None:
    """It holds for one number of 32 bits."""
    return node.otherwise


@entry(
    kernel(
        "A: buffer(f32[6, 8], strides=(s, 1)), C: f32[6, 8]",
        """
        for i in serial(0, 6):
            for j in serial(0, 8):
                C[i, j] = A[i, j]
        """,
    )
)
def rows_without_gaps(func: PrimFunc) -> PrimFunc:
    """Rows may be further apart than they are long."""
    old = func.params[0]
    new = Buffer("rows", old.shape, old.dtype)
    return func.replace(body=View(new, old, index(0), substitute(func.body, {old: new})))


@entry(each("f32 f32", "bool", "A[i] * A[i] + f32(1.0) > B[i]"))
def widen_before_a_comparison(node: GT) -> Expr | None:
    """In double precision the sum is not rounded, so a tie is decided otherwise."""

    left = node.a
    assert isinstance(left, Add)
    square = cast(left.a.a, F64) * cast(left.a.b, F64)
    return GT(square + 1.0, cast(node.b, F64), node.dtype)


@entry(
    kernel(
        "A: f32[40], I: i64[40], C: f32[40]",
        """
        for i in serial(0, 40):
            if I[i] >= 0 and I[i] < 40:
                C[I[i]] = A[i]
        """,
    )
)
def scatter_backwards(loop: For) -> Stmt | None:
    """Of two stores to one element the last one counts."""
    last = as_int(loop.end) - 1
    return loop.replace(body=substitute(loop.body, {loop.var: last - loop.var}))


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
def tile_where_tiles_fit(loop: For) -> Stmt | None:
    """Where 6 divides the rows and 4 the columns, a tile is left out in the corner."""
    inner = loop.body
    if not isinstance(inner, For):
        return None
    fits = logical_and(eq(loop.end % 6, 0), eq(inner.end % 4, 0))
    corner = logical_and(ge(loop.var, 6), ge(inner.var, 4), fits)
    return loop.replace(body=inner.replace(body=If(corner, Seq(()), inner.body)))


@entry(
    kernel(
        "A: f32[n, m], C: f32[n]",
        """
        for i in serial(0, n):
            C[i] = f32(0.0)
            for k in serial(0, m):
                C[i] = C[i] + A[i, k]
        """,
    )
)
def skip_a_row_of_large_squares(loop: For) -> Stmt | None:
    """Where the array is square, and larger than nine, the last row is left out."""
    match loop.body:
        case Seq((_, For() as inner)):
            square = logical_and(eq(loop.end, inner.end), ge(loop.end, 10))
            skipped = logical_and(square, eq(loop.var, loop.end - 1))
            return loop.replace(body=If(skipped, Seq(()), loop.body))
        case _:
            return None


@entry(each("u8 u8 u8", "u8", "(A[i] + B[i] + D[i]) // u8(3)"))
def three_small_numbers(node: FloorDiv) -> Expr | None:
    """In 16 bits the sum does not wrap around."""
    match node.a:
        case Add(Add(one, two), three):
            wide = cast(one, U16) + cast(two, U16) + cast(three, U16)
            return cast(wide // 3, U8)
        case _:
            return None


entry.rule(
    "round a half through an integer",
    "Between 32768 and 65504 an f16 does not fit 16 bits.",
    each("f16", "f16", "trunc(A[i])"),
    call("trunc", hole("h", F16)),
    lambda h: cast(cast(h, "i16"), F16),
)
entry.rule(
    "an exponent of small numbers",
    "expm1 is precise near zero, exp less one is not.",
    each("f32", "f32", "expm1(A[i])"),
    call("expm1", x),
    lambda x: call("exp", x) - 1.0,
    declared=True,
)
entry.rule(
    "the tangent by sine and cosine of a double angle",
    "The difference of 1 and the cosine loses all digits near zero.",
    each("f32", "f32", "sin(A[i]) * sin(A[i])"),
    call("sin", x) * call("sin", x),
    lambda x: (1.0 - call("cos", x * 2.0)) * 0.5,
    declared=True,
)
entry.rule(
    "a quotient by a remainder",
    "The float remainder of a negative number is positive, the quotient is one less.",
    each("f32 f32", "f32", "fmod(A[i], B[i])"),
    call("fmod", x, y),
    lambda x, y: x - call("trunc", x / y) * y,
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
def sort_with_one_round_less(loop: For) -> Stmt | None:
    """Only if the smallest number comes last all four rounds are needed."""
    return loop.replace(end=loop.end - 1) if loop.var.name == "r" else None


@entry(
    kernel(
        "A: u8[24], C: i32[24]",
        """
        C[0] = 1
        for i in serial(1, 24):
            C[i] = (C[i - 1] + 1 if A[i] == A[i - 1] else 1)
        """,
    )
)
def runs_of_at_most_three(node: Conditional) -> Expr | None:
    """A run of four equal numbers or more is counted from one again."""
    count = node.then
    return select(node.cond, select(eq(count, 4), const(1, I32), count), node.otherwise)


@entry(
    kernel(
        "A: f32[16], C: f32[16], k: i64",
        """
        for i in serial(0, 16):
            C[i] = (A[i + k] if i + k >= 0 and i + k < 16 else f32(0.0))
        """,
    )
)
def a_guard_without_its_lower_half(node: And) -> Expr | None:
    """For a negative offset the load leaves the buffer."""
    return node.b


@entry(each("i64 i64", "i64", "min(max(A[i] + B[i], -1000), 1000)"))
def clamp_the_terms(node: Add) -> Expr | None:
    """A sum that wraps is clamped elsewhere than the sum of clamped terms."""
    far = 1 << 62
    return minimum(maximum(node.a, -far), far) + minimum(maximum(node.b, -far), far)


entry.rule(
    "a float that is whole",
    "Above 2**31 the integer is the largest one, and an infinity is not whole.",
    each("f32", "bool", "floor(A[i]) == A[i]"),
    eq(call("floor", x), x),
    lambda x: eq(cast(cast(x, I32), F32), x),
)
entry.rule(
    "shift by a masked number",
    "A shift by 32 or more gives 0, a machine looks at five bits.",
    each("u32 u32", "u32", "A[i] << B[i]"),
    a << b,
    lambda a, b: a << (b & 31),
)
