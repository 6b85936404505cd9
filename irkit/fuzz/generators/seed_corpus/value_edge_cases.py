"""Edge cases of passes that depend on values and bounds."""

VALUE_EDGE_CASES = {
    "FLOORED": """
def floored(A: f32[16], C: f32[64]):
    for i in serial(0, 16):
        C[(i - 9) // 4 + 3] = A[i]
        C[(i * 4 - 7) // 4 + 20] = A[i]
        if (i - 9) // 4 >= -2:
            C[i + 40] = A[i]
        if (-3 - i) // 5 < -3:
            C[30] = A[i]
        C[(i * 8 - 3) % 8 + 50] = A[i] + f32(1.0)
        C[59 + (0 - i) // 16] = A[i]
        for j in serial(0, 2):
            C[31 + (i * 2 + j) // -8] = A[i] * f32(2.0) + f32(j)
            C[60] = C[60] + f32(20 - (i * 2 + j) // 4 * 4 - (i * 2 + j) % 4)
""",
    "REMAINDERS": """
def remainders(A: f32[64], C: f32[64]):
    for i in serial(0, 8):
        for j in serial(0, 8):
            C[(i * 8 + j) // 8 * 8 + (i * 8 + j) % 8] = A[(i * 8 + j) // 4]
            if (i + j * 3) % 7 < 6:
                C[i] = C[i] + A[(i * 6 + j) // 6]
            if (i - 3) % 5 >= 0:
                C[j] = C[j] + A[(i - 3) % 5]
            C[(i * 8 + j) % 16] = A[(i * 4 + j - 2) // 4 + 1]
            C[(i * 4 + j) // 4] = A[(i * 8 + j) // 4 % 3]
            C[(i * 4 + j) // 4 * 2 + (i * 4 + j) % 2] = A[j]
            if i + j > 13:
                C[i + 20] = A[(i + j * 2) % 24 // 3 * 3 + (i + j * 2) % 3]
            if (i * 16 + j) // 8 % 2 == 0:
                C[j] = C[j] * f32(0.5)
            C[40 + (i // 2 + 3) // 2] = C[40 + (i // 2 + 3) // 2] + A[i // 2 % 3]
            C[48 + (i * 3 + j) // 9 % 3] = f32(i) - f32(j)
    for i in serial(0, 8):
        for j in serial(0, 5):
            C[(i * 4 + j) // 8] = A[(i * 4 - j) // 8 + 1] + A[(i * 4 + j) % 8]
            C[(i * 4 + j) % 8 + 8] = A[(i * 4 - j + 8) % 8] + f32((i - 3 * j) % 12)
            if (j - 3) % 5 < 2:
                C[j + 20] = A[i]
            if (0 - j) % 5 < 1:
                C[j + 25] = A[i]
            if (j - 2) % 5 > 1:
                C[j + 30] = A[i] + f32((j - 3) // 5)
        for j in serial(0, 4):
            C[(i * 4 + j) // 8 + 40] = A[(i * 4 + j) % 16 // 4] + A[(i * 6 + j) // 12 % 2]
            C[(i * 12 + j * 3 + 1) // 6] = A[(i * 4 + j) // 2 % 4] + f32((i * 12 + j * 3) % 6)
""",
    "KNOWN_ELSE": """
def known(A: f32[8], C: f32[8]):
    for i in serial(0, 8):
        for j in serial(0, 8):
            if i < j:
                C[i] = A[j]
            else:
                if i > j:
                    C[i] = C[i] + f32(1.0)
                else:
                    C[i] = C[i] + f32(2.0)
            if i <= j:
                C[j] = C[j] + f32(3.0)
            else:
                if i >= j:
                    C[j] = C[j] - A[i]
            if i == j:
                C[i] = C[i] * f32(2.0)
            else:
                if i != j:
                    C[i] = C[i] + A[1]
            C[i] = C[i] + (A[i] if i > j else (A[j] if i < j else f32(4.0)))
""",
    "SIGNED_ZERO": """
def zero(A: f32[20], C: f32[40], D: f32[60]):
    for i in serial(0, 20):
        C[i] = (A[i] + f32(0.0)) * f32(1.0)
        D[i] = A[i] - f32(0.0)
        D[i + 20] = A[i] * f32(0.0) + A[i]
    for i in vectorized(0, 20):
        C[i + 20] = A[i] - f32(-0.0)
        D[i + 40] = A[i] / f32(1.0) + f32(-0.0)
""",
    "EXTREMES": """
def extremes(A: i32[16], B: u8[16], C: i32[16], D: u8[16]):
    for i in serial(0, 16):
        C[i] = min(max(A[i], i32(-3)), i32(5)) % i32(4)
        D[i] = min(B[i], u8(7)) * u8(2) + u8(250)
        C[i] = C[i] + (A[i] % i32(8) // i32(2) if A[i] % i32(8) < i32(4) else A[i] // i32(-3))
        if C[i] > i32(5) and not (A[i] < i32(0) or A[i] > i32(7)):
            C[i] = C[i] * i32(2) - A[i] * i32(2)
        if max(C[i], i32(0)) >= i32(0) and min(A[i], i32(9)) <= i32(9):
            D[i] = D[i] + u8(1)
        C[i] = C[i] + (A[i] & i32(3)) + (A[i] >> i32(1)) + abs(A[i])
""",
    "TRIANGLE": """
def triangle(A: f32[n, n], C: f32[n, n]):
    for i in serial(0, n):
        for j in serial(0, i + 1):
            C[i, j] = A[i, j] + A[j, i]
        for j in serial(i + 1, n):
            C[i, j] = A[i, n - 1 - j] if j * 2 < n else f32(1.0)
    for t in serial(0, (n + 3) // 4):
        for j in serial(0, 4):
            if t * 4 + j < n:
                C[0, t * 4 + j] = C[0, t * 4 + j] + f32((t * 4 + j) // 4) + f32((t * 4 + j) % 4)
""",
    "SHARED": """
def shared(A: f32[32], B: f32[32], C: f32[32], n: i64):
    for i in serial(0, 8):
        x: i64 = i * 4 + 1
        C[x] = A[x] * B[x] + A[x]
        C[x - 1] = A[x] * B[x] + C[x]
        C[x + 1] = (A[x] * B[x] + C[x]) * (A[x] * B[x] + C[x])
        A[x] = C[x]
        C[x + 2] = A[x] * B[x]
        if A[x] * B[x] > f32(2.0):
            C[x] = A[x] * B[x]
    if n > 3 and n < 8:
        y: i64 = n * 4
        for i in serial(0, 3):
            C[y + i] = A[n * 4 + i] + B[y + i]
            T = alloc(f32[40])
            T[y + i] = A[i]
            C[i] = T[n * 4 + i]
""",
    "UNIFORM_READ": """
def uniform(A: f32[16], B: i32[16], C: f32[16]):
    for j in serial(0, 20):
        for i in vectorized(0, 16):
            if B[i] > i32(100000):
                C[i] = A[j]
            if j < 16:
                C[i] = C[i] + A[j]
""",
    "MASK_SPOILED": """
def spoiled(A: f32[16], C: f32[16]):
    for i in vectorized(0, 16):
        if C[i] > f32(0.0):
            C[i] = A[i] - f32(20.0)
        else:
            C[i] = A[i] + f32(20.0)
        if C[i] < A[i] and C[i] > f32(-99.0):
            A[i] = f32(-50.0)
            C[i] = f32(60.0)
        else:
            A[i] = C[i]
""",
    "VIEWED_INDEX": """
def viewed(A: f32[16], C: i64[17], D: f32[40]):
    V = view(C, i64[16], offset=1)
    for i in vectorized(0, 16):
        C[i + 1] = cast(i % 3, i64)
        D[V[0] % 2 * 17 + i] = A[i]
""",
    "HEADS": """
def heads(A: f32[8], C: f32[8]):
    for i in serial(0, 8):
        if i >= 0:
            C[0] = C[0] + A[i]
        C[i] = C[i] + f32(1.0)
    for i in serial(0, 8):
        if i > 0:
            C[1] = C[1] + A[i]
        C[i] = C[i] * f32(2.0)
    for i in serial(0, 8):
        if i != 0:
            C[2] = C[2] - A[i]
        C[i] = C[i] + A[i]
    for i in serial(0, 8):
        if i * i == 0 or i == 3:
            C[3] = A[i]
        C[i] = C[i] + A[7 - i]
""",
    "SIGNED_FACTS": """
def facts(A: f32[8], C: f32[40]):
    for i in serial(-3, 4):
        for j in serial(-3, 4):
            if i <= j:
                if i + j >= 0:
                    C[i + 3] = C[i + 3] + A[j + 3]
                C[j - i] = C[j - i] + f32(1.0)
            if i >= j:
                if i + j >= 0:
                    C[i + 13] = C[i + 13] + A[j + 3]
                C[i - j] = C[i - j] + f32(2.0)
            if i < j:
                if i + j > 0:
                    C[i + 23] = C[i + 23] + A[j + 3]
            if i > j:
                if i + j > 0:
                    C[i + 33] = C[i + 33] + A[j + 3]
""",
    "BEGUN_LATE": """
def begun(A: f32[16], C: f32[16], n: i64):
    for i in serial(2, 9):
        for j in serial(i, 10):
            C[j] = C[j] + A[i]
    for i in parallel(n, n + 4):
        C[i + 1] = A[i - n]
""",
    "STEADY_BRANCH": """
def steady(A: f32[8], C: f32[8], n: i64):
    for i in serial(0, 8):
        if n < 2 and i < 5:
            C[i] = A[i]
    for i in parallel(0, 8):
        if n < 1:
            C[i] = C[i] + f32(1.0)
        else:
            C[i] = C[i] * f32(2.0)
    for i in serial(0, 4):
        if C[0] < f32(100.0):
            C[0] = C[0] + f32(60.0)
""",
    "INEXACT_SPLIT": """
def inexact(A: f32[n], C: f32[n], D: f32[9, 20]):
    for i in serial(0, (n + 3) // 4):
        for j in vectorized(0, 4):
            if i * 4 + j < n:
                C[i * 4 + j] = A[i * 4 + j] + f32(1.0)
    for i in parallel(0, 9):
        for j in serial(0, 5):
            for k in vectorized(0, 4):
                D[i, j * 4 + k] = f32(2.0) if i >= 1 and i < 8 and j * 4 + k < 18 else f32(1.0)
    for i in serial(0, 9):
        for k in vectorized(0, 4):
            if i + k >= 2 and i + k < 9:
                D[i, k] = D[i, k] * f32(3.0)
""",
    "UNROLLED_LONG": """
def unrolled_long(A: f32[8], C: f32[8]):
    for i in unrolled(0, 3):
        for j in serial(0, 2):
            C[i * 2 + j] = A[i] + C[i * 2 + j]
    for i in unrolled(0, 100):
        C[i % 8] = C[i % 8] + f32(1.0)
""",
    "CHOSEN_LANES": """
def chosen_lanes(A: f32[37], B: f32[40], C: f32[37]):
    for i in vectorized(0, 37):
        if A[i] > f32(0.0):
            C[i] = (B[i + 1] if i > 3 else A[i]) + f32(1.0)
        else:
            C[i] = B[i]
""",
}
