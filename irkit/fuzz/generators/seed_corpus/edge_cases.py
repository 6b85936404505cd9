"""Small loop functions, each an edge case of one rule; written for a seeded bug. They are also
lowered without `simplify`, which otherwise hides what later passes can do."""

from irkit.fuzz.generators.seed_corpus.value_edge_cases import VALUE_EDGE_CASES

_SHAPES = {
    "CARRIED_WINDOW": """
def window(A: f32[12], C: f32[12]):
    T = alloc(f32[14])
    for j in serial(0, 14):
        T[j] = f32(j)
    for i in serial(0, 3):
        for j in serial(0, 4):
            T[i * 4 + j] = A[i * 4 + j]
        for j in serial(0, 4):
            C[i * 4 + j] = T[i * 4 + j] + T[i * 4 + j + 2]
    U = alloc(f32[12])
    for i in serial(0, 3):
        for j in serial(0, 4):
            U[j + i] = A[i * 4 + j]
        for j in serial(0, 4):
            if i >= 1:
                C[j] = C[j] + U[j + i - 1]
""",
    "CARRIED_CONDITION": """
def condition(A: f32[12], C: f32[12]):
    T = alloc(f32[4])
    for i in serial(0, 3):
        for j in serial(0, 4):
            if i * 4 + j < 6:
                T[j] = A[i * 4 + j]
        for j in serial(0, 4):
            C[i * 4 + j] = T[j]
""",
    "UNROLLED_CHAIN": """
def chain(A: f32[6], C: f32[6]):
    for i in unrolled(0, 5):
        x: f32 = A[i] * f32(2.0)
        C[i + 1] = C[i] + x
        for j in serial(0, 2):
            C[i] = C[i] + A[j]
""",
    "GUARDED": """
def guarded(A: f32[9], C: f32[9]):
    for i in serial(0, 9):
        if A[i] > f32(1.0):
            C[0] = A[i]
        C[i] = C[i] + f32(1.0)
    for i in serial(0, 9):
        if i < 8:
            C[i] = C[i + 1] if i < 7 else f32(3.0)
        if i <= 4:
            if i < 5:
                C[i] = A[i] if i >= 4 else C[i]
    for i in serial(0, 8):
        for j in serial(0, 8):
            if i < j:
                C[i] = C[i] + (A[j] if i + 1 < j else f32(2.0))
            if j >= i:
                if j > i:
                    C[j] = C[j] * f32(0.5)
""",
    "SHARED_MEMORY": """
def shared(A: f32[2048], C: f32[2048]):
    T = alloc(f32[2048])
    U = alloc(f32[2048])
    for i in serial(0, 2048):
        T[i] = A[i] + f32(1.0)
    for i in serial(0, 2048):
        U[i] = T[2047 - i]
    U[3] = f32(7.0)
    for i in serial(0, 2048):
        C[i] = U[i] + U[2047 - i]
    W = alloc(f32[2048])
    X = alloc(f32[2048])
    for i in serial(0, 2048):
        W[i] = A[i]
    X[5] = f32(3.0)
    C[5] = W[5] + X[5]
    for i in serial(0, 2048):
        X[i] = A[i] * f32(2.0)
    for i in serial(0, 2048):
        C[i] = C[i] + X[2047 - i]
    Y = alloc(f32[2048])
    for i in serial(0, 2048):
        Y[i] = A[i] + f32(4.0)
    for i in serial(0, 2):
        C[i] = C[i] + Y[i + 9]
        Z = alloc(f32[2048])
        for j in serial(0, 2048):
            Z[j] = A[j] * f32(3.0)
        for j in serial(0, 2048):
            C[j] = C[j] + Z[2047 - j]
""",
    "TWO_HALVES": """
def halves(A: f32[64], C: f32[64], n: i64):
    for i in serial(0, 8):
        T = alloc(f32[8], double_buffer=True)
        for j in serial(0, 8):
            T[j] = A[i * 8 + j]
        for k in serial(0, 8):
            C[i * 8 + k] = T[7 - k]
    for i in serial(2, n):
        T = alloc(f32[8], double_buffer=True)
        for j in serial(0, 8):
            T[j] = A[j] + f32(i)
        for k in serial(0, 8):
            C[k] = C[k] + T[7 - k]
""",
    "MAYBE_NEVER": """
def never(A: f32[n], C: f32[n], m: i64):
    for i in serial(m, n):
        if i == m:
            if i >= 0:
                C[0] = C[0] + f32(7.0)
        if i >= 0:
            C[i] = C[i] + A[i]
    for i in serial(5, n):
        if i == 5:
            C[0] = f32(9.0)
        C[i] = A[i]
""",
    "PARALLEL_NEST": """
def nest(A: f32[4, 2], C: f32[4, 2]):
    for i in parallel(0, 4):
        for j in parallel(0, 2):
            C[i, j] = A[i, j] + C[i, j]
    for i in parallel(0, 2):
        C[i, 0] = A[i, 1]
""",
    "RUNS_ONCE": """
def once(A: f32[4], C: f32[4], n: i64):
    for i in serial(0, 1):
        C[i] = A[i] * f32(2.0)
    for i in serial(3, 4):
        C[i] = A[i]
    for i in serial(2, 2):
        C[i] = f32(1.0)
    for i in serial(n, n + 1):
        if i >= 0 and i < 3:
            C[i] = C[i] + f32(1.0)
    for i in unrolled(1, 2):
        C[i] = C[i] + A[i]
""",
    "EMPTY_BRANCH": """
def branch(A: f32[8], C: f32[8]):
    for i in serial(0, 8):
        if A[i] > f32(0.0):
            C[i] = C[i]
        else:
            C[i] = A[i]
        if A[i] < f32(1.0):
            C[i] = C[i] + f32(1.0)
        else:
            C[i] = C[i]
""",
    "DECIDED": """
def decided(A: f32[8], C: f32[8]):
    for i in serial(0, 8):
        if i < 8:
            C[i] = A[i]
        else:
            C[i] = f32(1.0)
        if i + 1 <= 1 + i:
            C[i] = C[i] + f32(2.0)
        if i > i:
            C[i] = f32(5.0)
        if i * 2 == 7:
            C[i] = f32(6.0)
        if i * 2 >= 7:
            C[i] = C[i] + f32(8.0)
        if 3 * i + 2 < 9:
            C[i] = C[i] - f32(3.0)
        if 12 > i * 3 - 1:
            C[i] = C[i] * f32(2.0)
""",
    "TWO_VIEWS": """
def views(A: f32[8], C: f32[8]):
    V = view(C, f32[8], offset=0)
    W = view(V, f32[7], offset=1)
    C[2] = A[0] * A[1]
    V[3] = C[2] + C[2] * A[3]
    W[1] = f32(4.0)
    V[4] = C[2] + C[2] * A[3]
    C[5] = V[4] + W[3] + V[4]
""",
    "GUARDED_READS": """
def reads(A: f32[8], C: f32[8]):
    for i in serial(0, 12):
        C[i % 8] = (A[i] * f32(2.0) if i < 8 else f32(0.0)) + (A[i] * f32(2.0) if i < 8 else f32(1.0))
        if i < 8 and A[i] * f32(3.0) > f32(1.0) or i >= 4 and A[i - 4] * f32(3.0) > f32(2.0) and A[i - 4] * f32(3.0) < f32(9.0):
            C[i % 8] = f32(5.0)
""",  # noqa: E501
    "SELECTS": """
def selects(A: f32[8], B: i32[4], C: f32[12]):
    for i in serial(0, 12):
        C[i] = select(i < 8, A[min(i, 7)], f32(3.0))
    for i in serial(0, 8):
        C[i] = C[i] + select(A[i] > f32(0.0), A[7 - i], A[i * 3 % 8])
    for i in serial(0, 4):
        C[i] = C[i] + select(A[i] > f32(0.0), A[i64(B[i])], f32(-1.0))
""",
    "LANE_ORDER": """
def order(A: f32[40], C: f32[40], D: i32[40]):
    for i in vectorized(0, 40):
        C[39 - i] = A[i] - f32(i)
        D[i] = cast(100 - i * 2, i32)
    for i in vectorized(3, 22):
        C[i] = C[i] - A[i * 2 - 5] + A[25 - i]
        D[i] = cast((i + 7) * 3 // 4 - i % 5, i32)
""",
    "NESTED_MASKS": """
def masks(A: f32[20], B: f32[20], C: f32[20]):
    for i in vectorized(0, 20):
        if A[i] > f32(0.0):
            C[i] = A[i]
            if B[i] > f32(0.0):
                C[i] = C[i] + f32(10.0)
            else:
                C[i] = C[i] - B[i]
        else:
            if B[i] < f32(2.0) or A[i] < f32(-2.0):
                C[i] = B[i]
        C[i] = C[i] * (f32(2.0) if A[i] > f32(1.0) and B[i] > f32(1.0) else f32(3.0))
""",
    "LANE_SUM": """
def sums(A: f32[16], C: f32[4]):
    for i in vectorized(0, 16):
        C[0] = C[0] + A[i]
    for i in vectorized(0, 16):
        C[i // 8] = C[i // 8] + A[i]
    for j in serial(0, 2):
        for i in vectorized(0, 4):
            C[j] = A[i] + C[j]
    for i in vectorized(0, 8):
        for j in serial(0, 4):
            C[j] = C[j] + A[i + j]
""",
    "LANE_VIEWS": """
def views(A: f32[20], C: f32[20]):
    V = view(C, f32[19], offset=1)
    for i in vectorized(0, 18):
        V[i] = C[i] + A[i]
    for i in vectorized(0, 18):
        C[i] = V[i] * f32(2.0)
""",
}

EDGE_CASES = _SHAPES | VALUE_EDGE_CASES
