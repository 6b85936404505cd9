"""Programs with threads, barriers and shared memory, and others with parallel loops."""

from tests.catalogue.programs import kernel

TREE = kernel(
    "A: f32[16], C: f32[1]",
    """
    for t in thread(0, 16, "threadIdx.x"):
        S = alloc(f32[16], scope="shared")
        S[t] = A[t]
        evaluate(barrier())
        for s in serial(0, 4):
            if t < 8 >> s:
                S[t] = S[t] + S[t + (8 >> s)]
            evaluate(barrier())
        if t == 0:
            C[0] = S[0]
    """,
)

TRANSPOSE = kernel(
    "A: f32[8, 8], C: f32[8, 8]",
    """
    for y in thread(0, 8, "threadIdx.y"):
        for x in thread(0, 8, "threadIdx.x"):
            S = alloc(f32[8, 8], scope="shared")
            S[y, x] = A[y, x]
            evaluate(barrier())
            C[y, x] = S[x, y]
    """,
)

TILES = kernel(
    "A: f32[3, 16], C: f32[16]",
    """
    for t in thread(0, 16, "threadIdx.x"):
        S = alloc(f32[16], scope="shared")
        C[t] = f32(0.0)
        for k in serial(0, 3):
            S[t] = A[k, t]
            evaluate(barrier())
            C[t] = C[t] + S[15 - t]
            evaluate(barrier())
    """,
)

MATMUL = kernel(
    "A: f32[8, 12], B: f32[12, 8], C: f32[8, 8]",
    """
    for b in thread(0, 2, "blockIdx.x"):
        for t in thread(0, 8, "threadIdx.x"):
            S = alloc(f32[4, 12], scope="shared")
            for r in serial(0, 4):
                for k in serial(0, 12):
                    if k % 8 == t:
                        S[r, k] = A[b * 4 + r, k]
            evaluate(barrier())
            for r in serial(0, 4):
                C[b * 4 + r, t] = f32(0.0)
                for k in serial(0, 12):
                    C[b * 4 + r, t] = C[b * 4 + r, t] + S[r, k] * B[k, t]
    """,
)

OWN = kernel(
    "A: f32[4, 16], C: f32[4, 16]",
    """
    for b in thread(0, 4, "blockIdx.x"):
        for t in thread(0, 16, "threadIdx.x"):
            T = alloc(f32[1])
            T[0] = A[b, t] * f32(2.0)
            evaluate(barrier())
            C[b, t] = T[0] + f32(1.0)
    """,
)

NEST = kernel(
    "A: f32[6, 8], C: f32[6, 8]",
    """
    for i in serial(0, 6):
        for j in serial(0, 8):
            C[i, j] = A[i, j] * f32(2.0) + f32(1.0)
    """,
)

PARALLEL_NEST = NEST.replace("for i in serial", "for i in parallel")

ROW_SUMS = kernel(
    "A: f32[6, 20], C: f32[6]",
    """
    for i in serial(0, 6):
        C[i] = f32(0.0)
        for k in serial(0, 20):
            C[i] = C[i] + A[i, k]
    """,
)

PREFIX = kernel(
    "A: f32[24], C: f32[24]",
    """
    C[0] = A[0]
    for i in serial(1, 24):
        C[i] = C[i - 1] + A[i]
    """,
)

HISTOGRAM = kernel(
    "A: u8[64], C: i32[16]",
    """
    for b in serial(0, 16):
        C[b] = 0
    for i in serial(0, 64):
        C[cast(A[i] % 16, i64)] = C[cast(A[i] % 16, i64)] + 1
    """,
)
