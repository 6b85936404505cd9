"""Wrong passes about widths, overflow, casts and signs of integers."""

from irkit.core import rewrite, substitute
from irkit.ir import (
    ANY_INTEGER,
    GT,
    I8,
    I16,
    I32,
    I64,
    LT,
    U8,
    Add,
    Allocate,
    BitAnd,
    Call,
    Cast,
    Const,
    Expr,
    FloorDiv,
    Max,
    Mul,
    PrimFunc,
    Shl,
    Shr,
    Stmt,
    Store,
    Sub,
    as_int,
    call,
    cast,
    const,
    ge,
    gt,
    hole,
    is_const,
    logical_or,
    lt,
    select,
)
from tests.catalogue.entries import Entries
from tests.catalogue.programs import each, kernel

entry = Entries("integers", legal=False)
a, b = hole("a", ANY_INTEGER), hole("b", ANY_INTEGER)
k = hole("k", ANY_INTEGER, on=Const)


@entry(each("i8 i8", "i32", "cast(A[i] + B[i], i32) * 3"))
def widen_before_adding(node: Cast) -> Expr | None:
    """The sum wraps around in 8 bits; widening the operands first keeps the carry."""
    if isinstance(node.value, Add) and node.value.dtype == I8:
        return node.value.a.astype(node.dtype) + node.value.b.astype(node.dtype)
    return None


@entry(each("u8 u8", "i16", "cast(A[i] * B[i] >> 4, i16)"))
def widen_through_a_shift(node: Cast) -> Expr | None:
    """A shift to the right looks at high bits, which the 8-bit product has lost."""
    if isinstance(node.value, Shr) and isinstance(node.value.a, Mul):
        product = node.value.a
        wide = product.a.astype(node.dtype) * product.b.astype(node.dtype)
        return wide >> node.value.b.astype(node.dtype)
    return None


entry.rule(
    "compare without the narrowing casts",
    "The casts to i8 drop the high bits, so different numbers can be equal in 8 bits.",
    each("i32 i32", "bool", "cast(A[i], i8) < cast(B[i], i8)"),
    lt(cast(x := hole("x", I32), I8), cast(y := hole("y", I32), I8)),
    lambda x, y: lt(x, y),
)
entry.rule(
    "compare without the casts to unsigned",
    "A negative number is large as unsigned, so the order of -1 and 1 changes.",
    each("i8 i8", "bool", "cast(A[i], u8) < cast(B[i], u8)"),
    lt(cast(x := hole("x", I8), U8), cast(y := hole("y", I8), U8)),
    lambda x, y: lt(x, y),
)
entry.rule(
    "a number is less than its successor",
    "For the largest number of the type the successor wraps around to the smallest.",
    each("i16", "bool", "A[i] < A[i] + 1"),
    lt(a, a + 1),
    lambda a: ge(a, a),
)
entry.rule(
    "mean by half of the difference",
    "(a + b) >> 1 wraps where a + b does; a + ((b - a) >> 1) does so elsewhere.",
    each("i8 i8", "i8", "(A[i] + B[i]) >> 1"),
    (a + b) >> 1,
    a + ((b - a) >> 1),
)
entry.rule(
    "drop a cast through an unsigned type",
    "The cast to u8 makes i32 extend by zeros; without it, by the sign.",
    each("i8", "i32", "cast(cast(A[i], u8), i32) + 1"),
    cast(cast(x := hole("x", I8), U8), I32),
    lambda x: cast(x, I32),
)
entry.rule(
    "a magnitude is never negative",
    "abs of the smallest number is that number itself, which is negative.",
    each("i16", "i32", "(1 if abs(A[i]) >= 0 else cast(A[i], i32))"),
    ge(call("abs", a), 0),
    lambda a: ge(a, a),
)


@entry(each("i32", "bool", "abs(A[i]) > 100"))
def a_magnitude_by_two_comparisons(node: GT) -> Expr | None:
    """abs(INT_MIN) is INT_MIN, which is not above 100, but INT_MIN is below -100."""
    match node:
        case GT(Call("abs", (value,)), Const(int() as limit)) if limit >= 0:
            return logical_or(gt(value, limit), lt(value, -limit))
        case _:
            return None


entry.rule(
    "the sign of a difference as a comparison",
    "a - b wraps around for a large a and a negative b, so its sign says nothing.",
    each("i32 i32", "i32", "select(A[i] - B[i] < 0, A[i], B[i])"),
    lt(a - b, 0),
    lambda a, b: lt(a, b),
)
entry.rule(
    "halve what was doubled",
    "The doubling wraps around: x * 2 // 2 loses the high bit.",
    each("i16", "i16", "A[i] * 2 // 2 + 1"),
    a * 2 // 2,
    a,
)


@entry(each("u16", "u16", "A[i] << 3 >> 3"))
def shift_there_and_back(node: Shr) -> Expr | None:
    """The shift to the left loses three bits, which the shift back fills with zeros."""
    match node:
        case Shr(Shl(value, Const(there)), Const(back)) if there == back:
            return value
        case _:
            return None


@entry(each("u8 u8", "u8", "max(A[i] - B[i], 0)"))
def positive_part_of_an_unsigned_difference(node: Max) -> Expr | None:
    """An unsigned difference wraps around and is never negative, so max(a - b, 0) is a - b."""
    match node:
        case Max(Sub(p, q), Const(0)) if node.dtype.kind == "u":
            return select(gt(p, q), p - q, const(0, node.dtype))
        case _:
            return None


@entry(each("u8 u8", "i32", "cast(A[i], i32) * cast(B[i], i32)"))
def multiply_in_sixteen_bits(node: Mul) -> Expr | None:
    """255 * 255 does not fit into i16: the pass looks at the width of u8, not at its range."""
    match node:
        case Mul(Cast(p), Cast(q)) if p.dtype.bits == 8 and q.dtype.bits == 8:
            return (p.astype(I16) * q.astype(I16)).astype(node.dtype)
        case _:
            return None


@entry(each("i8", "i32", "(cast(A[i], i32) & 255) + 7"))
def drop_the_mask_of_a_byte(node: BitAnd) -> Expr | None:
    """Of a signed byte, the mask removes the copies of the sign."""
    match node:
        case BitAnd(Cast(value), Const(255)) if value.dtype.bits == 8:
            return node.a
        case _:
            return None


@entry(each("i16", "i32", "popcount(cast(A[i], i32))"))
def count_bits_before_widening(node: Call) -> Expr | None:
    """Widening a negative number copies its sign into sixteen more bits, all set."""
    match node:
        case Call("popcount", (Cast(value),)) if value.dtype.bits < node.dtype.bits:
            return call("popcount", value).astype(node.dtype)
        case _:
            return None


@entry(each("i8", "i32", "clz(cast(A[i], i32))"))
def count_leading_zeros_before_widening(node: Call) -> Expr | None:
    """A negative number has no leading zeros after widening either, not 24."""
    match node:
        case Call("clz", (Cast(value),)) if value.dtype.bits < node.dtype.bits:
            gap = node.dtype.bits - value.dtype.bits
            return call("clz", value).astype(node.dtype) + gap
        case _:
            return None


@entry(each("u32", "u32", "(A[i] ^ 2166136261) * 16777619 >> 15"))
def hash_in_sixty_four_bits(node: Shr) -> Expr | None:
    """The product must wrap in 32 bits before the shift; in 64 bits its high part comes down."""
    if isinstance(node.a, Mul) and node.dtype.bits == 32:
        product = node.a
        wide = product.a.astype("u64") * product.b.astype("u64")
        return (wide >> node.b.astype("u64")).astype(node.dtype)
    return None


@entry(each("f32", "u8", "cast(A[i] * 16.0, u8)"))
def convert_to_a_byte_by_way_of_i32(node: Cast) -> Expr | None:
    """A float becomes u8 with saturation; i32 to u8 wraps around."""
    if node.dtype == U8 and node.value.dtype.is_float:
        return cast(cast(node.value, I32), U8)
    return None


@entry(each("i32 i32", "bool", "cast(A[i], f32) < cast(B[i], f32)"))
def compare_integers_instead_of_floats(node: LT) -> Expr | None:
    """Above 2**24 neighbours become the same float, so one is not less than the other."""
    match node:
        case LT(Cast(p), Cast(q)) if p.dtype.is_integer and q.dtype.is_integer:
            return lt(p, q)
        case _:
            return None


@entry(
    kernel(
        "A: i8[6, 40], C: i32[6]",
        """
        for r in serial(0, 6):
            S = alloc(i32[1])
            S[0] = 0
            for k in serial(0, 40):
                S[0] = S[0] + cast(A[r, k], i32) * cast(A[r, k], i32)
            C[r] = S[0]
        """,
    )
)
def accumulate_squares_of_bytes_in_sixteen_bits(func: PrimFunc) -> PrimFunc:
    """Forty squares of bytes go far beyond the range of i16."""

    def narrow(stmt: Allocate) -> Stmt | None:
        if stmt.buffer.dtype != I32:
            return None
        old, new = stmt.buffer, stmt.buffer.replace(dtype=I16)

        def stored(store: Store) -> Stmt | None:
            if store.buffer is old and store.value.dtype == I32:
                return store.replace(value=store.value.astype(I16))
            return None

        def loaded(node: Expr) -> Expr | None:
            if getattr(node, "buffer", None) is old:
                return new[node.indices].astype(I32)
            return None

        body = rewrite(rewrite(stmt.body, stored), loaded, on=Expr)
        return stmt.replace(buffer=new, body=substitute(body, {old: new}))

    return rewrite(func, narrow)


@entry(each("i64", "i32", "cast(A[i] // 1000, i32)"))
def divide_after_narrowing(node: Cast) -> Expr | None:
    """Only sums and products may be narrowed early; a quotient depends on the high bits."""
    if isinstance(node.value, FloorDiv) and is_const(node.value.b) and node.dtype == I32:
        return node.value.a.astype(I32) // node.value.b.astype(I32)
    return None


@entry(each("i32 i32", "i64", "cast(A[i], i64) + cast(B[i], i64)"))
def add_before_widening(node: Add) -> Expr | None:
    """The sum of two i32 needs 33 bits."""
    match node:
        case Add(Cast(p), Cast(q)) if node.dtype == I64 and p.dtype == I32 == q.dtype:
            return (p + q).astype(I64)
        case _:
            return None


@entry(each("i16", "i16", "(A[i] * 5 + 3) * 7"))
def multiply_constants_in_the_wrong_width(node: Mul) -> Expr | None:
    """Distributes the factor, but clamps the new constant to i8 as if it had to fit there."""
    match node:
        case Mul(Add(Mul(value, c), d), e):
            numbers = [as_int(x) for x in (c, d, e)]
            if None in numbers:
                return None
            p, q, r = (n for n in numbers if n is not None)
            return value * min(p * r, 32) + q * r
        case _:
            return None


@entry(each("u8 u8", "i16", "cast(A[i], i16) - cast(B[i], i16)"))
def subtract_before_widening_unsigned(node: Sub) -> Expr | None:
    """The difference of two bytes can be negative, which u8 cannot be."""
    match node:
        case Sub(Cast(p), Cast(q)) if p.dtype == q.dtype == U8:
            return (p - q).astype(node.dtype)
        case _:
            return None
