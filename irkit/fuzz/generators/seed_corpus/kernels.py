"""Loop functions that, between them, give every lowering pass work."""

from irkit.fuzz.generators.seed_corpus.thread_kernels import THREADS

MATMUL = """
def matmul(A: f32[6, 5], B: f32[5, 8], C: f32[6, 8]):
    for i in serial(0, 6):
        for j in serial(0, 8):
            for k in serial(0, 5):
                with block("C"):
                    vi = axis.spatial(6, i)
                    vj = axis.spatial(8, j)
                    vk = axis.reduce(5, k)
                    with init():
                        C[vi, vj] = f32(0.0)
                    C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""

TILED_MATMUL = """
def tiled(A: f32[6, 7], B: f32[7, 20], C: f32[6, 20]):
    for io in parallel(0, 3):
        for jo in serial(0, 3):
            for ko in serial(0, 2):
                for ki in serial(0, 4):
                    for ii in unrolled(0, 2):
                        for ji in vectorized(0, 8):
                            with block("C"):
                                vi = axis.spatial(6, io * 2 + ii)
                                vj = axis.spatial(20, jo * 8 + ji)
                                vk = axis.reduce(7, ko * 4 + ki)
                                where(jo * 8 + ji < 20 and ko * 4 + ki < 7)
                                with init():
                                    C[vi, vj] = f32(0.0)
                                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""

SYMBOLIC_MATMUL = """
def symbolic(A: f32[m, k], B: f32[k, n], C: f32[m, n]):
    for i in serial(0, m):
        for j in serial(0, n):
            for l in serial(0, k):
                with block("C"):
                    vi = axis.spatial(m, i)
                    vj = axis.spatial(n, j)
                    vl = axis.reduce(k, l)
                    with init():
                        C[vi, vj] = f32(0.0)
                    C[vi, vj] = C[vi, vj] + A[vi, vl] * B[vl, vj]
"""

CONV_PADDED = """
def conv(X: f32[2, 5, 6], W: f32[3, 2, 3, 3], Y: f32[3, 5, 6]):
    P = alloc(f32[2, 7, 8])
    S = alloc(f32[3, 5, 6])
    for c in serial(0, 2):
        for h in serial(0, 7):
            for w in serial(0, 8):
                with block("P"):
                    vc = axis.spatial(2, c)
                    vh = axis.spatial(7, h)
                    vw = axis.spatial(8, w)
                    P[vc, vh, vw] = (X[vc, vh - 1, vw - 1] if (vh >= 1 and vh < 6) and (vw >= 1 and vw < 7) else f32(0.0))
    for k in serial(0, 3):
        for h in serial(0, 5):
            for w in serial(0, 6):
                for c in serial(0, 2):
                    for r in serial(0, 3):
                        for s in serial(0, 3):
                            with block("S"):
                                vk = axis.spatial(3, k)
                                vh = axis.spatial(5, h)
                                vw = axis.spatial(6, w)
                                vc = axis.reduce(2, c)
                                vr = axis.reduce(3, r)
                                vs = axis.reduce(3, s)
                                with init():
                                    S[vk, vh, vw] = f32(0.0)
                                S[vk, vh, vw] = S[vk, vh, vw] + P[vc, vh + vr, vw + vs] * W[vk, vc, vr, vs]
    for k in serial(0, 3):
        for h in serial(0, 5):
            for w in vectorized(0, 6):
                with block("Y"):
                    vk = axis.spatial(3, k)
                    vh = axis.spatial(5, h)
                    vw = axis.spatial(6, w)
                    Y[vk, vh, vw] = max(S[vk, vh, vw], f32(0.0))
"""  # noqa: E501

FUSED_PRODUCER = """
def fused(A: f32[50], C: f32[50]):
    T = alloc(f32[52])
    for i in parallel(0, 4):
        for j in serial(0, 18):
            with block("T"):
                v = axis.spatial(52, i * 16 + j)
                where(i * 16 + j < 52)
                T[v] = (A[v - 1] if v >= 1 and v < 51 else f32(0.0))
        for j in vectorized(0, 16):
            with block("C"):
                v = axis.spatial(50, i * 16 + j)
                where(i * 16 + j < 50)
                C[v] = T[v] + T[v + 1] + T[v + 2]
"""

CARRIED = """
def carried(A: f32[8], C: f32[8]):
    T = alloc(f32[9])
    T[0] = f32(0.0)
    for i in serial(0, 8):
        T[i + 1] = T[i] + A[i]
        C[i] = T[i + 1]
    U = alloc(f32[1])
    for i in serial(0, 8):
        if i >= 1:
            C[i] = C[i] + U[0]
        U[0] = A[i]
"""

SOFTMAX = """
def softmax(X: f32[4, 10], Y: f32[4, 10]):
    M = alloc(f32[4])
    E = alloc(f32[4, 10])
    S = alloc(f32[4])
    for i in serial(0, 4):
        for k in serial(0, 10):
            with block("M"):
                vi = axis.spatial(4, i)
                vk = axis.reduce(10, k)
                with init():
                    M[vi] = f32(-1000.0)
                M[vi] = max(M[vi], X[vi, vk])
        for j in vectorized(0, 10):
            with block("E"):
                vi = axis.spatial(4, i)
                vj = axis.spatial(10, j)
                E[vi, vj] = exp(X[vi, vj] - M[vi])
        for k in vectorized(0, 10):
            with block("S"):
                vi = axis.spatial(4, i)
                vk = axis.reduce(10, k)
                with init():
                    S[vi] = f32(0.0)
                S[vi] = S[vi] + E[vi, vk]
        for j in vectorized(0, 10):
            with block("Y"):
                vi = axis.spatial(4, i)
                vj = axis.spatial(10, j)
                Y[vi, vj] = E[vi, vj] / S[vi]
"""

MAX_POOL = """
def pool(X: f32[2, 7, 9], Y: f32[2, 4, 5]):
    for c in serial(0, 2):
        for h in serial(0, 4):
            for w in vectorized(0, 5):
                for r in serial(0, 3):
                    for s in unrolled(0, 3):
                        with block("Y"):
                            vc = axis.spatial(2, c)
                            vh = axis.spatial(4, h)
                            vw = axis.spatial(5, w)
                            vr = axis.reduce(3, r)
                            vs = axis.reduce(3, s)
                            with init():
                                Y[vc, vh, vw] = f32(-100.0)
                            Y[vc, vh, vw] = max(Y[vc, vh, vw], (X[vc, vh * 2 + vr - 1, vw * 2 + vs - 1] if (vh * 2 + vr >= 1 and vh * 2 + vr < 8) and (vw * 2 + vs >= 1 and vw * 2 + vs < 10) else f32(-100.0)))
"""  # noqa: E501

STRIDED = """
def strided(A: buffer(f32[3, 4], strides=(7, 2)), C: f32[m, n]):
    for i in serial(0, 3):
        for j in vectorized(0, 4):
            C[i, j] = A[i, j] + f32(i * 4 + j)
    for i in serial(3, m):
        for j in serial(-2, n - 2):
            C[i, j + 2] = f32(j)
"""

BRANCHES = """
def branches(A: f32[40], B: i32[40], C: f32[40]):
    for i in vectorized(1, 38):
        if A[i] > f32(0.5):
            C[i] = A[i - 1] + A[i + 1]
        else:
            C[i] = f32(B[i])
        if C[i] > f32(3.0) or B[i] % 2 == 0:
            C[i] = C[i] * f32(0.5)
        if A[i] > f32(100.0):
            C[i] = A[B[0] + 1000]
"""

SHIFTED = """
def shifted(A: f32[20], C: f32[40]):
    for i in vectorized(0, 18):
        A[i + 1] = A[i] + f32(1.0)
    for i in vectorized(0, 8):
        C[i * 2 + 16] = C[i * 2] + A[i]
    for i in vectorized(0, 16):
        for j in serial(0, 2):
            C[i + j] = C[i + j] * f32(0.5)
    for i in vectorized(0, 12):
        C[3] = A[i]
"""

BIG_INDEX = """
def big(A: f32[16], C: f32[16]):
    for i in serial(0, 16):
        if i * 1000000007 // 1000000007 == i:
            C[i * 1000000007 % 16] = A[i]
"""

REUSED = """
def reused(A: f32[16], C: f32[16]):
    for i in serial(0, 15):
        C[i] = A[i] * A[i] + f32(1.0)
        A[i] = C[i] - A[i]
        C[i + 1] = A[i] * A[i] + C[i]
        if i == 3:
            C[i] = C[i]
        else:
            C[i] = C[i + 1]
        if i == 3:
            A[i] = f32(7.0)
    for i in serial(2, 9):
        for j in serial(1, 3):
            if i + j == 3:
                A[0] = A[i]
            A[0] = A[0] + f32(1.0)
    for i in serial(0, 4):
        if i == 2:
            A[1] = f32(5.0)
        A[1] = A[1] + A[i]
"""

TILE = """
def tile(A: f32[24, 12], C: f32[24, 12]):
    T = alloc(f32[24, 12])
    for i in serial(0, 6):
        for j in serial(0, 3):
            for a in unrolled(0, 4):
                for b in vectorized(0, 4):
                    T[i * 4 + a, j * 4 + b] = A[i * 4 + a, j * 4 + b] * f32(2.0)
            for a in serial(0, 4):
                for b in vectorized(0, 4):
                    C[i * 4 + a, j * 4 + b] = T[i * 4 + a, j * 4 + b] + T[i * 4 + 3, j * 4]
"""

KERNELS = {
    name: text
    for name, text in sorted(globals().items())
    if isinstance(text, str) and text.startswith("\ndef ")
} | THREADS
