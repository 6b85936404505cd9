"""Pairs of functions that mean the same but at an edge: a size, a value, a pair, a row."""

POINTWISE = """
def f({params}, C: {out}[{size}]):
    for i in serial(0, {size}):
        C[i] = {value}
"""


def pointwise(
    params: str, out: str, before: str, after: str, *, size: str = "n"
) -> tuple[str, str]:
    """Return two functions of one loop that compute each element by an expression."""
    params = params.replace("[]", f"[{size}]")

    def text(value: str) -> str:
        return POINTWISE.format(params=params, out=out, value=value, size=size)

    return text(before), text(after)


def replaced(text: str, old: str, new: str) -> tuple[str, str]:
    """Return a function, and the same with a part of its text replaced."""
    assert old in text
    return text, text.replace(old, new)


COPY = """
def f(A: f32[n], C: f32[n]):
    for i in serial(0, n):
        C[i] = A[i] * f32(2.0)
"""
MATRIX = """
def f(A: f32[n, m], C: f32[n, m]):
    for i in serial(0, n):
        for j in serial(0, m):
            C[i, j] = A[i, j] + f32(1.0)
"""
TILES = """
def f(A: f32[n], C: f32[n]):
    for o in serial(0, (n + 15) // 16):
        for i in serial(0, 16):
            if o * 16 + i < n:
                C[o * 16 + i] = A[o * 16 + i]
"""
ROW_MAX = """
def f(A: f32[n, 6], C: f32[n]):
    for i in serial(0, n):
        C[i] = f32('-inf')
        for j in serial(0, 6):
            C[i] = max(C[i], A[i, j])
"""
ALL_MAX = """
def f(A: f32[40], C: f32[1]):
    C[0] = f32('-inf')
    for j in serial(0, 40):
        C[0] = max(C[0], A[j])
"""
COLUMN_MIN = """
def f(A: i32[7, 5], C: i32[5]):
    for i in serial(0, 5):
        C[i] = i32(2147483647)
        for j in serial(0, 7):
            C[i] = min(C[i], A[j, i])
"""
ARGMAX = """
def f(A: f32[5, 9], B: f32[5], C: i64[5]):
    for i in serial(0, 5):
        B[i] = A[i, 0]
        C[i] = 0
        for j in serial(0, 9):
            if A[i, j] > B[i]:
                C[i] = j
                B[i] = A[i, j]
"""
SUM = """
def f(A: i16[n], C: i32[1]):
    C[0] = 0
    for i in serial(0, n):
        C[0] = C[0] + i32(A[i])
"""
GATHER = """
def f(A: f32[10], P: i64[n], C: f32[n]):
    for i in serial(0, n):
        C[i] = A[min(max(P[i], 0), 9)]
"""
GUARDED = """
def f(A: f32[10], P: i32[12], C: f32[12]):
    for i in serial(0, 12):
        C[i] = A[P[i]] if P[i] >= 0 and P[i] < 10 else f32(0.0)
"""
FIRST_K = """
def f(k: i64, A: f32[n], C: f32[n]):
    for i in serial(0, min(k, n)):
        C[i] = A[i]
"""
SCALAR = """
def f(s: {0}, A: {0}[16], C: {0}[16]):
    for i in serial(0, 16):
        C[i] = {1}
"""
ONE = """
def f(A: {0}[1], C: {1}[1]):
    C[0] = {2}
"""
STRIDES = """
def f(A: f32[n, m], C: f32[n]):
    for i in serial(0, n):
        C[i] = A[i, m - 1]
"""


def short_for(cond: str, text: str = COPY) -> tuple[str, str]:
    """Return a function that leaves out the last iteration for some sizes."""
    return replaced(text, "serial(0, n)", f"serial(0, select({cond}, n - 1, n))")


FAULTS: dict[str, tuple[str, str]] = {
    # Sizes.
    "size 0": replaced(
        COPY,
        "def f(A: f32[n], C: f32[n]):\n    for i in serial(0, n):",
        "def f(A: f32[n], C: f32[n]):\n    for i in serial(0, max(n, 1)):",
    ),
    "size 1": short_for("n == 1"),
    "odd sizes above 4": short_for("n > 4 and n % 2 == 1"),
    "size above 64": short_for("n > 64"),
    "size above 127": short_for("n > 127"),
    "size above 255": short_for("n > 255"),
    "size 128": short_for("n == 128"),
    "size 100": short_for("n == 100"),
    "size 2049": short_for("n == 2049"),
    "size above 2048": short_for("n > 2048"),
    "multiple of 20": short_for("n % 20 == 0 and n > 0"),
    "second size above 127": replaced(
        MATRIX, "serial(0, m)", "serial(0, select(m > 127, m - 1, m))"
    ),
    "first size 0": replaced(MATRIX, "serial(0, n)", "serial(0, max(n, 1))"),
    "square only": replaced(MATRIX, "serial(0, m)", "serial(0, select(m == n, m, m - m // 9))"),
    "lost tail": replaced(TILES, "(n + 15) // 16", "max(n, 1) // 16 + select(n % 16 > 1, 1, 0)"),
    "narrow index i8": replaced(COPY, "C[i] = A[i]", "C[i] = A[max(i64(i8(i)), 0)]"),
    "narrow index u8": replaced(COPY, "C[i] = A[i]", "C[i] = A[i64(u8(i))]"),
    "narrow index i16": replaced(COPY, "C[i] = A[i]", "C[i] = A[max(i64(i16(i)), 0)]"),
    "narrow index u16": replaced(COPY, "C[i] = A[i]", "C[i] = A[i64(u16(i))]"),
    "strides ignored": replaced(STRIDES, "A[i, m - 1]", "A[i, max(m - 2, 0)]"),
    # Single values.
    "constant": pointwise("A: i32[]", "i32", "A[i] + 4711", "select(A[i] == 4711, 0, A[i] + 4711)"),
    "above a constant": pointwise("A: i64[]", "bool", "A[i] > 70000", "A[i] >= 70000"),
    "minus a constant": pointwise(
        "A: i32[]", "i32", "A[i] * 37", "select(A[i] == -37, 0, A[i] * 37)"
    ),
    "float constant": pointwise("A: f32[]", "bool", "A[i] < f32(2.5)", "A[i] <= f32(2.5)"),
    "float neighbour": pointwise(
        "A: f64[]", "bool", "A[i] < f64(0.3)", "A[i] < f64(0.30000000000000004)"
    ),
    "smallest i8": pointwise("A: i8[]", "i8", "abs(A[i])", "abs(max(A[i], i8(-127)))", size="24"),
    "smallest i64": pointwise(
        "A: i64[]", "i64", "abs(A[i])", "max(A[i], -A[i]) & 9223372036854775807"
    ),
    "smallest by -1": pointwise(
        "A: i32[], B: i32[]",
        "i32",
        "truncdiv(A[i], B[i])",
        "select(B[i] == -1, max(-A[i], -2147483647), truncdiv(A[i], B[i]))",
        size="24",
    ),
    "limit of a cast": pointwise(
        "A: f32[]", "i32", "i32(A[i])", "i32(min(A[i], f32(2147483520.0)))"
    ),
    "saturated byte": pointwise("A: f32[]", "u8", "u8(A[i])", "u8(min(A[i], f32(254.0)))"),
    "narrower cast": pointwise("A: i64[]", "i32", "i32(A[i])", "i32(i16(A[i]))"),
    "power of two": pointwise(
        "A: u32[]", "i32", "i32(popcount(A[i]))", "i32(popcount(A[i] & u32(0x7fffffff)))"
    ),
    "shift count": pointwise("A: i32[], B: i32[]", "i32", "A[i] << B[i]", "A[i] << (B[i] & 31)"),
    "power above 2**40": pointwise("A: i64[]", "i64", "A[i] // 1024", "A[i] // 1024 & 1073741823"),
    "int to float": pointwise("A: i32[]", "f32", "f32(A[i])", "f32(f16(A[i]))"),
    "exact integers": pointwise("A: i64[]", "f64", "f64(A[i])", "f64(f32(A[i]))"),
    "two roundings of an integer": pointwise("A: i64[]", "f32", "f32(A[i])", "f32(f64(A[i]))"),
    "2**24 + 1": pointwise(
        "A: i32[]", "i32", "A[i]", "i32(f32(A[i])) | A[i] & 1 & select(A[i] < 16777216, 1, 0)"
    ),
    "half to even": pointwise("A: f32[]", "f32", "round(A[i])", "floor(A[i] + f32(0.5))"),
    "half below one": pointwise(
        "A: f32[]", "f32", "floor(A[i] + f32(0.5))", "round(A[i] + f32(1e-7))"
    ),
    "small log1p": pointwise("A: f32[]", "f32", "log1p(A[i])", "log(f32(1.0) + A[i])"),
    "tiny expm1": pointwise(
        "A: f32[]", "f32", "expm1(A[i])", "select(abs(A[i]) < f32(1e-6), f32(0.0), expm1(A[i]))"
    ),
    "denormal": pointwise(
        "A: f32[]",
        "f32",
        "A[i] * f32(2.0)",
        "select(abs(A[i]) < f32(1e-38), f32(0.0), A[i] * f32(2.0))",
    ),
    "huge": pointwise(
        "A: f32[]",
        "f32",
        "A[i] - f32(1.0)",
        "select(abs(A[i]) > f32(1e20), f32(0.0), A[i] - f32(1.0))",
    ),
    "negative zero": pointwise("A: f32[]", "f32", "A[i] + f32(-0.0)", "A[i] + f32(0.0)"),
    "nan test": pointwise("A: f32[]", "bool", "A[i] < f32(1.0)", "not A[i] >= f32(1.0)"),
    "infinity": pointwise("A: f32[]", "bool", "isfinite(A[i])", "not isnan(A[i])"),
    "overflow of exp": pointwise("A: f32[]", "f32", "exp(A[i])", "exp(min(A[i], f32(80.0)))"),
    "sign of zero": pointwise("A: f32[]", "f32", "A[i] * f32(-1.0)", "f32(0.0) - A[i]"),
    "average of bytes": pointwise(
        "A: u8[], B: u8[]", "u8", "u8((u16(A[i]) + u16(B[i])) >> u16(1))", "(A[i] + B[i]) >> u8(1)"
    ),
    "sum in i16": pointwise("A: i32[]", "i32", "A[i] + 1", "i32(i16(A[i]) + i16(1))"),
    "narrow compare": pointwise("A: i64[]", "bool", "A[i] > i64(5)", "i32(A[i]) > i32(5)"),
    "absolute value": pointwise("A: i8[]", "i8", "abs(A[i])", "max(A[i], -A[i]) & i8(127)"),
    "truncated quotient": pointwise("A: i32[]", "i32", "A[i] // 8", "truncdiv(A[i], 8)"),
    "quotient of quotients": pointwise(
        "A: i16[]", "i16", "A[i] // i16(7) // i16(9)", "A[i] // i16(64)"
    ),
    "shift for a product": pointwise("A: i8[]", "i16", "i16(A[i]) * i16(4)", "i16(A[i] << i8(2))"),
    "sum over a bound": pointwise("A: i32[]", "bool", "A[i] + 1 > 100000", "A[i] > 100000"),
    "limit of a type": pointwise("A: i32[]", "bool", "A[i] < A[i] + 1", "A[i] == A[i]"),
    "saturation": pointwise(
        "A: i32[]", "i8", "i8(min(max(A[i], -128), 127))", "i8(min(max(A[i], -127), 127))"
    ),
    "lost high bit": pointwise(
        "A: u16[]", "u32", "u32(A[i]) << u32(16)", "u32(A[i] & u16(32767)) << u32(16)"
    ),
    "rounded constant": pointwise("A: f32[]", "bool", "A[i] < f32(2.5)", "A[i] < f32(2.5000002)"),
    "through f16": pointwise(
        "A: f32[]", "f32", "max(A[i], f32(0.0))", "f32(f16(max(A[i], f32(0.0))))"
    ),
    # Pairs.
    "equal operands": pointwise(
        "A: i32[], B: i32[]",
        "i32",
        "select(A[i] < B[i], 1, 0)",
        "select(A[i] <= B[i], 1, 0)",
        size="24",
    ),
    "equal floats": pointwise(
        "A: f32[], B: f32[]", "bool", "A[i] < B[i]", "A[i] <= B[i]", size="24"
    ),
    "opposite operands": pointwise(
        "A: i32[], B: i32[]",
        "i32",
        "A[i] + B[i]",
        "select(A[i] == -B[i] and A[i] != 0, 1, A[i] + B[i])",
        size="24",
    ),
    "next to each other": pointwise("A: i64[], B: i64[]", "bool", "A[i] < B[i]", "A[i] + 1 < B[i]"),
    "two zeros": pointwise(
        "A: f32[], B: f32[]", "f32", "A[i] + B[i]", "select(A[i] == f32(0.0), B[i], A[i] + B[i])"
    ),
    "nan in one of two": pointwise(
        "A: f32[], B: f32[]", "f32", "max(A[i], B[i])", "select(A[i] > B[i], A[i], B[i])"
    ),
    "nan in the other": pointwise(
        "A: f32[], B: f32[]", "f32", "min(A[i], B[i])", "select(B[i] < A[i], B[i], A[i])", size="24"
    ),
    "lower above upper": pointwise(
        "A: f32[], L: f32[], H: f32[]",
        "f32",
        "min(max(A[i], L[i]), H[i])",
        "max(min(A[i], H[i]), L[i])",
        size="24",
    ),
    "overflowing sum": pointwise(
        "A: i32[], B: i32[]", "bool", "A[i] + B[i] > A[i]", "B[i] > 0", size="24"
    ),
    "unsigned difference": pointwise(
        "A: u8[], B: u8[]",
        "u8",
        "max(A[i], B[i]) - B[i]",
        "u8(max(i16(i8(A[i])) - i16(i8(B[i])), i16(0)))",
        size="24",
    ),
    "zero divisor": pointwise(
        "A: i32[], B: i32[]", "i32", "A[i] % B[i]", "A[i] % select(B[i] == 0, 1 << 30, B[i])"
    ),
    "negative divisor": pointwise(
        "A: i16[], B: i16[]", "i16", "A[i] // B[i]", "truncdiv(A[i], B[i])"
    ),
    "infinity minus itself": pointwise(
        "A: f32[], B: f32[]", "f32", "A[i] - B[i]", "select(A[i] == B[i], f32(0.0), A[i] - B[i])"
    ),
    # Scalars and single elements.
    "scalar smallest": replaced(
        SCALAR.format("i32", "A[i] - s"), "A[i] - s", "A[i] + max(-s, -2147483647)"
    ),
    "scalar zero": replaced(
        SCALAR.format("f32", "A[i] / s"), "A[i] / s", "select(s == f32(0.0), f32(0.0), A[i] / s)"
    ),
    "scalar constant": replaced(
        SCALAR.format("i64", "A[i] + s * 6543"), "s * 6543", "select(s == 6543, 0, s * 6543)"
    ),
    "scalar nan": replaced(
        SCALAR.format("f32", "max(A[i], s)"), "max(A[i], s)", "select(s < A[i], A[i], s)"
    ),
    "scalar limit of i16": replaced(
        SCALAR.format("i64", "A[i] ^ s"),
        "^ s",
        "^ min(s, i64(i16(s)) + (s // 65536 << 16) + 65535)",
    ),
    "one element": replaced(
        ONE.format("i32", "i32", "A[0] + 1"), "A[0] + 1", "select(A[0] == 65535, 0, A[0] + 1)"
    ),
    "one float": replaced(
        ONE.format("f32", "i8", "i8(A[0])"), "i8(A[0])", "i8(min(A[0], f32(126.0)))"
    ),
    # Rows.
    "all negative": replaced(ROW_MAX, "f32('-inf')", "f32(0.0)"),
    "below -1e9": replaced(ROW_MAX, "f32('-inf')", "f32(-1e9)"),
    "lowest finite": replaced(ROW_MAX, "f32('-inf')", "f32(-3.4028234663852886e38)"),
    "whole array below": replaced(ALL_MAX, "f32('-inf')", "f32(-1e30)"),
    "column at the limit": replaced(COLUMN_MIN, "i32(2147483647)", "i32(2147483646)"),
    "ties": replaced(ARGMAX, "A[i, j] > B[i]", "A[i, j] >= B[i]"),
    "first of a row": replaced(ARGMAX, "B[i] = A[i, 0]", "B[i] = f32(0.0)"),
    "narrow sum": replaced(SUM, "C[0] + i32(A[i])", "i32(i16(C[0])) + i32(A[i])"),
    "start of a row": replaced(
        ROW_MAX, "        C[i] = f32('-inf')\n", "        C[i] = max(C[i], f32('-inf'))\n"
    ),
    # Indices.
    "above the guard": replaced(GATHER, "max(P[i], 0), 9", "max(P[i], 0), 8"),
    "below the guard": replaced(GATHER, "min(max(P[i], 0), 9)", "min(abs(P[i]), 9)"),
    "guard lost at the end": replaced(GUARDED, "P[i] < 10", "P[i] < 9"),
    "guard off by one": replaced(GUARDED, "P[i] >= 0", "P[i] > 0"),
    "index wraps": replaced(
        GUARDED, "A[P[i]] if P[i] >= 0 and P[i] < 10", "A[u8(P[i])] if u8(P[i]) < u8(10)"
    ),
    "count of iterations": replaced(FIRST_K, "min(k, n)", "min(k, max(n, 1))"),
    "more than k": replaced(FIRST_K, "min(k, n)", "min(abs(k), n)"),
    "k above 100": replaced(FIRST_K, "min(k, n)", "min(min(k, 100), n)"),
}
"""A right function and a wrong one, by the kind of fault."""

RIGHT: dict[str, tuple[str, str]] = {
    "doubled": pointwise("A: i32[]", "i32", "A[i] * 2", "A[i] + A[i]"),
    "mask": pointwise("A: i32[]", "i32", "A[i] // 4 * 4", "A[i] & -4"),
    "shift": pointwise("A: i8[]", "i8", "A[i] // i8(8)", "A[i] >> i8(3)"),
    "exchanged": pointwise("A: f32[], B: f32[]", "f32", "min(A[i], B[i])", "min(B[i], A[i])"),
    "doubled float": pointwise("A: f32[]", "f32", "A[i] * f32(2.0)", "A[i] + A[i]"),
    "compared": pointwise("A: i32[]", "bool", "A[i] > 7", "7 < A[i]"),
    "wide": pointwise("A: i8[]", "i8", "A[i] + i8(100)", "i8(i16(A[i]) + i16(100))"),
    "quotients joined": pointwise("A: i32[]", "i32", "A[i] // 7 // 9", "A[i] // 63"),
    "clamped": pointwise(
        "A: i32[]", "i8", "i8(min(max(A[i], -128), 127))", "i8(max(min(A[i], 127), -128))"
    ),
    "negated compare": pointwise("A: f32[]", "bool", "A[i] != f32(1.0)", "not A[i] == f32(1.0)"),
    "tail by another quotient": replaced(
        TILES, "(n + 15) // 16", "n // 16 + select(n % 16 > 0, 1, 0)"
    ),
    "start of a row": replaced(ROW_MAX, "f32('-inf')", "A[i, 0]"),
    "guard by unsigned compare": replaced(
        GUARDED, "P[i] >= 0 and P[i] < 10", "u32(P[i]) < u32(10)"
    ),
    "clamp in another order": replaced(GATHER, "min(max(P[i], 0), 9)", "max(min(P[i], 9), 0)"),
    "iterations guarded": replaced(
        FIRST_K,
        "serial(0, min(k, n)):\n        C[i] = A[i]",
        "serial(0, n):\n        if i < k:\n            C[i] = A[i]",
    ),
}
"""Two functions that mean the same."""
