"""Pairs of functions that round otherwise, or that only pretend to."""

from tests.debug.check.edge_faults import pointwise, replaced

SUM = """
def f(A: f32[{n}], C: f32[1]):
    C[0] = f32(0.0)
    for i in serial(0, {n}):
        C[0] = C[0] + A[i]
"""
DOT = """
def f(A: f32[4, 12], B: f32[12, 3], C: f32[4, 3]):
    for i in serial(0, 4):
        for j in serial(0, 3):
            C[i, j] = f32(0.0)
            for k in serial(0, 12):
                C[i, j] = C[i, j] + A[i, k] * B[k, j]
"""
DOT_IN_PARTS = """
def f(A: f32[4, 12], B: f32[12, 3], C: f32[4, 3]):
    for i in serial(0, 4):
        for j in serial(0, 3):
            P = alloc(f32[4])
            for k in serial(0, 4):
                P[k] = f32(0.0)
            for k in serial(0, 12):
                P[k % 4] = fma(A[i, k], B[k, j], P[k % 4])
            C[i, j] = (P[0] + P[2]) + (P[1] + P[3])
"""
DOT_IN_F64 = """
def f(A: f32[4, 12], B: f32[12, 3], C: f32[4, 3]):
    for i in serial(0, 4):
        for j in serial(0, 3):
            P = alloc(f64[1])
            P[0] = f64(0.0)
            for k in serial(0, 12):
                P[0] = P[0] + f64(A[i, k]) * f64(B[k, j])
            C[i, j] = f32(P[0])
"""
SOFTMAX = """
def f(A: f32[5, 7], C: f32[5, 7]):
    M = alloc(f32[1])
    S = alloc(f32[1])
    for i in serial(0, 5):
        M[0] = f32('-inf')
        for j in serial(0, 7):
            M[0] = max(M[0], A[i, j])
        S[0] = f32(0.0)
        for j in serial(0, 7):
            S[0] = S[0] + exp(A[i, j] - M[0])
        for j in serial(0, 7):
            C[i, j] = exp(A[i, j] - M[0]) / S[0]
"""
HALVES = """
def f(A: f16[30], C: f16[1]):
    C[0] = f16(0.0)
    for i in serial(0, 30):
        C[0] = C[0] + A[i] * A[i]
"""
HALVES_IN_F32 = """
def f(A: f16[30], C: f16[1]):
    P = alloc(f32[1])
    P[0] = f32(0.0)
    for i in serial(0, 30):
        P[0] = P[0] + f32(A[i]) * f32(A[i])
    C[0] = f16(P[0])
"""
ROW_MAX = """
def f(A: f32[6, 9], C: f32[6]):
    for i in serial(0, 6):
        C[i] = f32('-inf')
        for j in serial(0, 9):
            C[i] = max(C[i], A[i, j] * f32(0.3))
"""
MEAN = """
def f(A: f32[n], C: f32[1]):
    C[0] = f32(0.0)
    for i in serial(0, n):
        C[0] = C[0] + A[i]
    C[0] = C[0] / f32(n)
"""
_THREE = "A: f32[], B: f32[], D: f32[]"
_ONES = SUM.format(n=400)

LEGAL: dict[str, tuple[str, str]] = {
    "fused": pointwise(_THREE, "f32", "A[i] * B[i] + D[i]", "fma(A[i], B[i], D[i])"),
    "taken apart": pointwise(_THREE, "f32", "fma(A[i], B[i], D[i])", "A[i] * B[i] + D[i]"),
    "associated": pointwise(_THREE, "f32", "A[i] + B[i] + D[i]", "A[i] + (B[i] + D[i])"),
    "product associated": pointwise(_THREE, "f32", "A[i] * B[i] * D[i]", "A[i] * (B[i] * D[i])"),
    "factored": pointwise(_THREE, "f32", "A[i] * B[i] + A[i] * D[i]", "A[i] * (B[i] + D[i])"),
    "distributed": pointwise(_THREE, "f32", "(A[i] + B[i]) * D[i]", "A[i] * D[i] + B[i] * D[i]"),
    "reciprocal": pointwise("A: f32[], B: f32[]", "f32", "A[i] / B[i]", "A[i] * (f32(1.0) / B[i])"),
    "divided by a constant": pointwise(
        "A: f32[]", "f32", "A[i] / f32(3.0)", "A[i] * f32(0.33333334)"
    ),
    "quotient of a sum": pointwise(
        _THREE, "f32", "(A[i] + B[i]) / D[i]", "A[i] / D[i] + B[i] / D[i]"
    ),
    "root": pointwise("A: f32[]", "f32", "rsqrt(A[i])", "f32(1.0) / sqrt(A[i])"),
    "cube": pointwise("A: f32[]", "f32", "pow(A[i], f32(3.0))", "A[i] * A[i] * A[i]"),
    "rounded once": pointwise(
        "A: f32[], B: f32[]", "f32", "A[i] * B[i] + A[i]", "f32(f64(A[i]) * f64(B[i]) + f64(A[i]))"
    ),
    "halves in f32": pointwise(
        "A: f16[], B: f16[]", "f16", "A[i] * B[i] + A[i]", "f16(f32(A[i]) * f32(B[i]) + f32(A[i]))"
    ),
    "bfloats in f32": pointwise(
        "A: bf16[], B: bf16[]",
        "bf16",
        "A[i] * B[i] + A[i]",
        "bf16(f32(A[i]) * f32(B[i]) + f32(A[i]))",
    ),
    "doubles": pointwise(
        "A: f64[], B: f64[]", "f64", "A[i] * B[i] + A[i]", "fma(A[i], B[i], A[i])"
    ),
    "sum backwards": replaced(_ONES, "A[i]\n", "A[399 - i]\n"),
    "long sum backwards": replaced(SUM.format(n=4000), "A[i]\n", "A[3999 - i]\n"),
    "sum of odd and even": replaced(SUM.format(n=64), "A[i]\n", "A[i % 32 * 2 + i // 32]\n"),
    "partial sums": (DOT, DOT_IN_PARTS),
    "partial sums joined": (DOT_IN_PARTS, DOT),
    "wide accumulator": (DOT, DOT_IN_F64),
    "softmax by a reciprocal": replaced(
        SOFTMAX, "exp(A[i, j] - M[0]) / S[0]", "exp(A[i, j] - M[0]) * (f32(1.0) / S[0])"
    ),
    "wide accumulator of halves": (HALVES, HALVES_IN_F32),
    "maximum of products": replaced(ROW_MAX, "A[i, j] * f32(0.3)", "f32(f64(A[i, j]) * 0.3)"),
    "mean": replaced(MEAN, "C[0] / f32(n)", "C[0] * (f32(1.0) / f32(n))"),
}
"""Two functions whose results differ by rounding alone."""

COARSE: dict[str, tuple[str, str]] = {
    "dropped element": replaced(_ONES, "serial(0, 400)", "serial(0, 399)"),
    "dropped product": replaced(DOT, "serial(0, 12)", "serial(0, 11)"),
    "dropped half": replaced(HALVES, "serial(0, 30)", "serial(0, 29)"),
    "dropped exponential": replaced(
        SOFTMAX, "serial(0, 7):\n            S[0]", "serial(0, 6):\n            S[0]"
    ),
    "a thousandth": pointwise(
        _THREE, "f32", "A[i] * B[i] + D[i]", "(A[i] * B[i] + D[i]) * f32(1.001)"
    ),
    "a thousandth of halves": replaced(HALVES, "A[i] * A[i]", "A[i] * A[i] * f16(1.001)"),
    "a thousandth of a softmax": replaced(SOFTMAX, "/ S[0]", "/ S[0] * f32(1.001)"),
    "a thousandth of exp": pointwise("A: f32[]", "f32", "exp(A[i])", "exp(A[i]) * f32(1.0001)"),
    "a thousandth of doubles": pointwise(
        "A: f64[]", "f64", "A[i] / f64(3.0)", "A[i] * f64(f32(0.33333334))"
    ),
    "one more than a maximum": replaced(ROW_MAX, "f32(0.3))", "f32(0.3)) + f32(1.0)"),
    "last of a maximum": replaced(ROW_MAX, "serial(0, 9)", "serial(0, 8)"),
    "start of a sum": replaced(_ONES, "f32(0.0)", "f32(0.001)"),
    "narrow accumulator": replaced(
        DOT, "C[i, j] + A[i, k] * B[k, j]", "f32(f16(C[i, j] + A[i, k] * B[k, j]))"
    ),
    "narrow product": pointwise(
        "A: f32[], B: f32[]", "f32", "A[i] * B[i]", "f32(bf16(A[i])) * B[i]"
    ),
    "coarse reciprocal": pointwise(
        "A: f32[], B: f32[]", "f32", "A[i] / B[i]", "A[i] * f32(bf16(f32(1.0) / B[i]))"
    ),
    "series": pointwise("A: f32[]", "f32", "exp(A[i])", "f32(1.0) + A[i] + A[i] * A[i] * f32(0.5)"),
    "lost precision near zero": pointwise("A: f32[]", "f32", "log1p(A[i])", "log(f32(1.0) + A[i])"),
    "sign": pointwise(_THREE, "f32", "A[i] * B[i] - D[i]", "fma(A[i], B[i], D[i])"),
    "forgotten term": pointwise(_THREE, "f32", "A[i] * B[i] + A[i] * D[i]", "A[i] * B[i] + D[i]"),
    "whole numbers only": pointwise(
        "A: f32[], B: f32[]", "f32", "A[i] + B[i]", "round(A[i]) + round(B[i])"
    ),
    "sum of whole numbers": replaced(
        SUM.format(n=30),
        "C[0] + A[i]",
        "C[0] + A[i] + select(A[i] == f32(3.0), f32(1e-6), f32(0.0))",
    ),
    "mean of one less": replaced(MEAN, "f32(n)", "f32(max(n - 1, 1))"),
    "integers": pointwise("A: f32[]", "i32", "i32(A[i])", "i32(A[i] * f32(1.0000002))"),
    "comparison": pointwise("A: f32[], B: f32[]", "bool", "A[i] < B[i]", "A[i] - B[i] <= f32(0.0)"),
}
"""Two functions whose results differ by more than rounding."""
