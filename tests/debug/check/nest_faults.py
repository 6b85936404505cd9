"""More pairs of functions that mean the same but at an edge: nests of loops, and arithmetic."""

from tests.debug.check.edge_faults import pointwise, replaced

MM = """
def f(A: f32[m, k], B: f32[k, n], C: f32[m, n]):
    for i in serial(0, m):
        for j in serial(0, n):
            C[i, j] = f32(0.0)
            for l in serial(0, k):
                C[i, j] = C[i, j] + A[i, l] * B[l, j]
"""
T3 = """
def f(A: i32[n, 3, m], C: i32[n, 3, m]):
    for i in serial(0, n):
        for c in serial(0, 3):
            for j in serial(0, m):
                C[i, c, j] = A[i, c, j] * 5
"""
BIAS = """
def f(A: i32[6, 8], b: i32[8], C: i32[6, 8]):
    for i in serial(0, 6):
        for j in serial(0, 8):
            C[i, j] = max(A[i, j] + b[j], 0)
"""
HIST = """
def f(A: u8[n], H: i32[256]):
    for i in serial(0, 256):
        H[i] = 0
    for i in serial(0, n):
        H[i64(A[i])] = H[i64(A[i])] + 1
"""
PROD = """
def f(A: i64[n], C: i64[1]):
    C[0] = 1
    for i in serial(0, n):
        C[0] = C[0] * A[i]
"""
ANY = """
def f(A: bool[n], C: bool[1]):
    C[0] = False
    for i in serial(0, n):
        C[0] = C[0] or A[i]
"""
PAD = """
def f(A: f32[n], C: f32[n + 2]):
    for i in serial(0, n + 2):
        C[i] = A[i - 1] if i >= 1 and i <= n else f32(0.0)
"""
SC = """
def f(n: i64, A: f32[n], C: f32[n]):
    for i in serial(0, n):
        C[i] = A[i] * f32(0.5)
"""
CSR = """
def f(P: i32[5], A: f32[20], C: f32[4]):
    for i in serial(0, 4):
        C[i] = f32(0.0)
        for j in serial(max(P[i], 0), min(P[i + 1], 20)):
            C[i] = C[i] + A[j]
"""
NEST_FAULTS: dict[str, tuple[str, str]] = {
    "long sum": replaced(MM, "serial(0, k)", "serial(0, select(k > 128, k - 1, k))"),
    "empty sum": replaced(
        MM,
        "            C[i, j] = f32(0.0)\n            for l",
        "            if k > 0:\n                C[i, j] = f32(0.0)\n            for l",
    ),
    "third size 33": replaced(MM, "serial(0, n)", "serial(0, select(n == 33, n - 1, n))"),
    "thin product": replaced(MM, "serial(0, m)", "serial(0, select(m > 64 and k <= 2, m - 1, m))"),
    "one above a vector": replaced(
        T3, "serial(0, m)", "serial(0, select(m > 8 and m % 8 == 1, m - 1, m))"
    ),
    "outer size above 255": replaced(T3, "serial(0, n)", "serial(0, select(n > 255, n - 1, n))"),
    "both sizes above 30": replaced(
        T3, "serial(0, n)", "serial(0, select(n > 30 and m > 30, n - 1, n))"
    ),
    "overflowing product": replaced(
        T3, "A[i, c, j] * 5", "select(A[i, c, j] > 429496729, 0, A[i, c, j] * 5)"
    ),
    "wrapping compare": replaced(
        BIAS, "max(A[i, j] + b[j], 0)", "select(A[i, j] > -b[j], A[i, j] + b[j], 0)"
    ),
    "equal to the bias": replaced(
        BIAS,
        "max(A[i, j] + b[j], 0)",
        "select(A[i, j] == b[j] and b[j] > 3, 0, max(A[i, j] + b[j], 0))",
    ),
    "last bin": replaced(HIST, "H[i64(A[i])] = H", "H[min(i64(A[i]), 254)] = H"),
    "counts above 127": replaced(HIST, "serial(0, n)", "serial(0, select(n > 127, 127, n))"),
    "sign of a product": replaced(PROD, "C[0] * A[i]", "C[0] * abs(A[i])"),
    "smallest i64 in a product": replaced(
        PROD, "C[0] * A[i]", "C[0] * max(A[i], -9223372036854775807)"
    ),
    "last of a disjunction": replaced(ANY, "serial(0, n)", "serial(0, max(n - 1, 0))"),
    "start of a disjunction": replaced(ANY, "C[0] = False", "C[0] = A[0] if n > 0 else True"),
    "padding of nothing": replaced(
        PAD, "i <= n else f32(0.0)", "i <= n else (f32(0.0) if n > 0 else f32(1.0))"
    ),
    "padding of little": replaced(PAD, "i <= n else", "i < max(n, 64) and i <= n else"),
    "scalar size above 100": replaced(SC, "serial(0, n)", "serial(0, select(n > 100, 100, n))"),
    "negative begin": replaced(CSR, "max(P[i], 0)", "abs(P[i]) % 20"),
    "end beyond the data": replaced(CSR, "min(P[i + 1], 20)", "min(P[i + 1], 19)"),
    "overflow of halves": pointwise(
        "A: f16[], B: f16[]", "f16", "A[i] + B[i]", "f16(min(f32(A[i]) + f32(B[i]), f32(65504.0)))"
    ),
    "tie of bfloats": pointwise("A: f32[]", "bf16", "bf16(A[i])", "bf16(A[i] * f32(1.0000001))"),
    "high bit of u64": pointwise("A: u64[]", "f64", "f64(A[i])", "f64(i64(A[i]))"),
    "signed difference": pointwise(
        "A: u32[], B: u32[]", "bool", "A[i] - B[i] < u32(10)", "i32(A[i]) - i32(B[i]) < i32(10)"
    ),
    "narrow product": pointwise(
        "A: i8[], B: i8[]", "i16", "i16(A[i]) * i16(B[i])", "i16(A[i] * B[i])"
    ),
    "largest product of bytes": pointwise(
        "A: i8[], B: i8[]",
        "i16",
        "i16(A[i]) * i16(B[i])",
        "select(A[i] == i8(-128) and B[i] == i8(-128), i16(0), i16(A[i]) * i16(B[i]))",
        size="12",
    ),
    "remainder by a mask": pointwise(
        "A: i32[]", "i32", "A[i] % 8", "select(A[i] < 0, -(-A[i] & 7), A[i] & 7)"
    ),
    "quotient rounded up": pointwise("A: i32[]", "i32", "(A[i] + 3) // 4", "(A[i] - 1) // 4 + 1"),
    "quotient by a product": pointwise(
        "A: u32[]", "u32", "A[i] // u32(7)", "u32(u64(A[i]) * u64(613566756) >> u64(32))"
    ),
    "saturated sum": pointwise(
        "A: i16[], B: i16[]",
        "i16",
        "i16(min(max(i32(A[i]) + i32(B[i]), -32768), 32767))",
        "i16(min(max(i32(A[i]) + i32(B[i]), -32767), 32767))",
        size="16",
    ),
    "sum before a shift": pointwise(
        "A: i32[]", "i32", "(A[i] + 64) >> 7", "(i32(i64(A[i]) + i64(64) >> i64(7)))"
    ),
    "clipped tanh": pointwise(
        "A: f32[]", "f32", "tanh(A[i])", "tanh(min(max(A[i], f32(-7.0)), f32(7.0)))"
    ),
    "sigmoid by exp": pointwise(
        "A: f32[]", "f32", "sigmoid(A[i])", "f32(1.0) / (f32(1.0) + exp(-A[i]))"
    ),
    "root of minus zero": pointwise("A: f32[]", "f32", "sqrt(A[i])", "pow(A[i], f32(0.5))"),
    "sign of ceil": pointwise("A: f32[]", "f32", "ceil(A[i])", "f32(i64(ceil(A[i])))"),
    "truncated by i32": pointwise("A: f32[]", "f32", "trunc(A[i])", "f32(i32(A[i]))"),
    "sign of nan": pointwise(
        "A: f32[]",
        "f32",
        "sign(A[i])",
        "select(A[i] > f32(0.0), f32(1.0), select(A[i] < f32(0.0), f32(-1.0), f32(0.0)))",
    ),
    "equal infinities": pointwise(
        "A: f32[], B: f32[]", "bool", "A[i] == B[i]", "A[i] - B[i] == f32(0.0)"
    ),
    "denormal difference": pointwise(
        "A: f32[], B: f32[]", "bool", "A[i] < B[i]", "A[i] - B[i] < f32(-1e-40)"
    ),
    "signs by xor": pointwise(
        "A: i64[], B: i64[]",
        "bool",
        "(A[i] < 0) == (B[i] < 0)",
        "A[i] ^ B[i] >= 0 if A[i] != 0 else B[i] > 0",
    ),
    "overflowing mean": pointwise(
        "A: i32[], B: i32[]", "i32", "(A[i] & B[i]) + ((A[i] ^ B[i]) >> 1)", "(A[i] + B[i]) >> 1"
    ),
    "order of three": pointwise(
        "A: i32[], B: i32[], D: i32[]",
        "bool",
        "A[i] < B[i] and B[i] < D[i]",
        "A[i] < B[i] and A[i] < D[i]",
        size="24",
    ),
    "three equal": pointwise(
        "A: i32[], B: i32[], D: i32[]",
        "i32",
        "A[i] * B[i] + D[i]",
        "select(A[i] == B[i] and B[i] == D[i] and A[i] > 8, 0, A[i] * B[i] + D[i])",
        size="24",
    ),
}
"""A right function and a wrong one, by the kind of fault."""
