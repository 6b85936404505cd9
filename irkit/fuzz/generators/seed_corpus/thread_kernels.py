"""Functions over threads as written for a GPU: as schedules leave them, and as the passes over
threads lower them."""

THREAD_MATMUL = """
def matmul(A: f32[8, 8], B: f32[8, 8], C: f32[8, 8]):
    for by in thread(0, 2, "blockIdx.y"):
        for bx in thread(0, 2, "blockIdx.x"):
            S = alloc(f32[4, 4], scope="shared")
            T = alloc(f32[4, 4], scope="shared")
            for ty in thread(0, 4, "threadIdx.y"):
                for tx in thread(0, 4, "threadIdx.x"):
                    acc = alloc(f32[1], scope="local")
                    acc[0] = f32(0.0)
                    for k in serial(0, 2):
                        S[ty, tx] = A[by * 4 + ty, k * 4 + tx]
                        T[ty, tx] = B[k * 4 + ty, bx * 4 + tx]
                        evaluate(barrier())
                        for l in serial(0, 4):
                            acc[0] = acc[0] + S[ty, l] * T[l, tx]
                        evaluate(barrier())
                    C[by * 4 + ty, bx * 4 + tx] = acc[0]
"""

THREAD_TREE = """
def tree(A: i32[4, 8], C: i32[4]):
    for b in thread(0, 4, "blockIdx.x"):
        S = alloc(i32[8], scope="shared")
        for t in thread(0, 8, "threadIdx.x"):
            S[t] = A[b, t]
            evaluate(barrier())
            for s in serial(0, 3):
                if t < 4 >> s:
                    S[t] = S[t] + S[t + (4 >> s)]
                evaluate(barrier())
            if t == 0:
                C[b] = S[0]
"""

THREAD_SOFTMAX = """
def softmax(A: f32[3, 10], C: f32[3, 10]):
    for b in thread(0, 3, "blockIdx.x"):
        S = alloc(f32[4], scope="shared")
        for t in thread(0, 4, "threadIdx.x"):
            most = alloc(f32[1], scope="local")
            most[0] = f32(-1000.0)
            for k in serial(0, 3):
                if k * 4 + t < 10:
                    most[0] = max(most[0], A[b, k * 4 + t])
            S[t] = most[0]
            evaluate(barrier())
            top: f32 = max(max(S[0], S[1]), max(S[2], S[3]))
            evaluate(barrier())
            most[0] = f32(0.0)
            for k2 in serial(0, 3):
                if k2 * 4 + t < 10:
                    most[0] = most[0] + exp(A[b, k2 * 4 + t] - top)
            S[t] = most[0]
            evaluate(barrier())
            for k3 in serial(0, 3):
                if k3 * 4 + t < 10:
                    C[b, k3 * 4 + t] = exp(A[b, k3 * 4 + t] - top) / (S[0] + S[1] + (S[2] + S[3]))
"""

THREAD_STENCIL = """
def stencil(A: f32[16], C: f32[16]):
    for b in thread(0, 4, "blockIdx.x"):
        for t in thread(0, 4, "threadIdx.x"):
            S = alloc(f32[6], scope="shared")
            here: i64 = b * 4 + t
            S[t + 1] = A[here]
            if t == 0:
                S[0] = (A[here - 1] if b > 0 else f32(0.0))
            if t == 3:
                S[5] = (A[here + 1] if b < 3 else f32(0.0))
            evaluate(barrier())
            C[here] = S[t] + S[t + 1] * f32(2.0) + S[t + 2]
"""

VTHREAD_MATMUL = """
def virtual(A: f32[8, 6], B: f32[6, 8], C: f32[8, 8]):
    for b in thread(0, 2, "blockIdx.x"):
        for v in thread(0, 2, "vthread.x"):
            for t in thread(0, 4, "threadIdx.x"):
                S = alloc(f32[3, 8], scope="shared")
                acc = alloc(f32[2], scope="local")
                for r in serial(0, 2):
                    acc[r] = f32(0.0)
                for k in serial(0, 2):
                    for l in serial(0, 3):
                        S[l, v * 4 + t] = B[k * 3 + l, v * 4 + t]
                    evaluate(barrier())
                    for l2 in serial(0, 3):
                        for r2 in serial(0, 2):
                            acc[r2] = acc[r2] + A[b * 4 + r2 * 2 + v, k * 3 + l2] * S[l2, t * 2]
                    evaluate(barrier())
                for r3 in serial(0, 2):
                    C[b * 4 + r3 * 2 + v, t * 2] = acc[r3]
                    C[b * 4 + r3 * 2 + v, t * 2 + 1] = acc[r3] + S[0, 7 - t]
"""

KEPT_VALUES = """
def kept(A: f32[m, 4], C: f32[m, 4]):
    for b in thread(0, m, "blockIdx.x"):
        for t in thread(1, 5, "threadIdx.x"):
            S = alloc(f32[5], scope="shared")
            R = alloc(f32[2], scope="local")
            x: f32 = A[b, t - 1]
            twice: i64 = t * 2
            S[t] = x
            R[1] = f32(twice)
            if b % 2 == 0:
                evaluate(barrier())
                C[b, t - 1] = S[5 - t] + R[1]
            else:
                evaluate(barrier())
                V = view(R, f32[1], offset=1)
                y: f32 = S[t] + V[0]
                S[t] = y * f32(3.0)
                evaluate(barrier())
                C[b, t - 1] = S[5 - t] + y + x
"""

# As schedules leave them: no barriers, loops of one axis side by side and inside each other.
SIBLING_THREADS = """
def siblings(A: f32[2, 8], C: f32[2, 8], D: f32[2]):
    T = alloc(f32[2, 8])
    S = alloc(f32[2, 8], scope="shared")
    for b in thread(0, 2, "blockIdx.x"):
        for i in thread(0, 8, "threadIdx.x"):
            T[b, i] = A[b, i] * f32(2.0)
        D[b] = T[b, 3]
        for k in serial(0, 3):
            for ia in thread(0, 8, "threadIdx.x"):
                S[b, ia] = T[b, 7 - ia] + f32(k)
            for ib in thread(0, 8, "threadIdx.x"):
                T[b, ib] = S[b, (ib + 1) % 8]
        for y in thread(0, 2, "threadIdx.y"):
            for ic in thread(0, 8, "threadIdx.x"):
                if ic // 4 == y:
                    C[b, ic] = T[b, ic] + S[b, 7 - ic]
"""

COOPERATIVE_MATMUL = """
def cooperative(A: f32[8, 8], B: f32[8, 8], C: f32[8, 8]):
    S = alloc(f32[8, 8], scope="shared")
    T = alloc(f32[8, 8], scope="shared")
    L = alloc(f32[8, 8], scope="local")
    for by in thread(0, 2, "blockIdx.y"):
        for bx in thread(0, 2, "blockIdx.x"):
            for ty in thread(0, 4, "threadIdx.y"):
                for tx in thread(0, 4, "threadIdx.x"):
                    for k in serial(0, 2):
                        for i in thread(0, 4, "threadIdx.y"):
                            for j in thread(0, 4, "threadIdx.x"):
                                with block("S"):
                                    vi = axis.spatial(8, by * 4 + i)
                                    vj = axis.spatial(8, k * 4 + j)
                                    S[vi, vj] = A[vi, vj]
                        for ia in thread(0, 4, "threadIdx.y"):
                            for j2 in thread(0, 4, "threadIdx.x"):
                                with block("T"):
                                    vi2 = axis.spatial(8, k * 4 + ia)
                                    vj2 = axis.spatial(8, bx * 4 + j2)
                                    T[vi2, vj2] = B[vi2, vj2]
                        for l in serial(0, 4):
                            with block("L"):
                                vy = axis.spatial(8, by * 4 + ty)
                                vx = axis.spatial(8, bx * 4 + tx)
                                vk = axis.reduce(8, k * 4 + l)
                                with init():
                                    L[vy, vx] = f32(0.0)
                                L[vy, vx] = L[vy, vx] + S[vy, vk] * T[vk, vx]
                    with block("C"):
                        wy = axis.spatial(8, by * 4 + ty)
                        wx = axis.spatial(8, bx * 4 + tx)
                        C[wy, wx] = L[wy, wx]
"""

# One thread after the other, each finds its data; side by side, they must wait for it.
HALVED_THREADS = """
def halved(A: f32[8], C: f32[8]):
    S = alloc(f32[8], scope="shared")
    for t in thread(0, 8, "threadIdx.x"):
        S[t] = A[t]
        C[t] = S[t // 2] * f32(2.0)
"""

CROSS_THREAD_SUMS = """
def crossed(A: i32[3, 20], C: i32[3, 20], M: i32[3]):
    S = alloc(i32[3], scope="shared")
    for b in thread(0, 3, "blockIdx.x"):
        for t in thread(0, 4, "threadIdx.x"):
            for k in serial(0, 6):
                with block("S"):
                    vb = axis.spatial(3, b)
                    vk = axis.reduce(20, k * 4 + t)
                    where(k * 4 + t < 20)
                    with init():
                        S[vb] = i32(7)
                    S[vb] = S[vb] + A[vb, vk]
        for t2 in thread(0, 4, "threadIdx.x"):
            for k2 in serial(0, 5):
                with block("M"):
                    wb = axis.spatial(3, b)
                    wk = axis.reduce(20, t2 * 5 + k2)
                    with init():
                        M[wb] = i32(-2147483648)
                    M[wb] = max(M[wb], A[wb, wk])
        for t3 in thread(0, 4, "threadIdx.x"):
            for k3 in serial(0, 5):
                with block("C"):
                    xb = axis.spatial(3, b)
                    xk = axis.spatial(20, k3 * 4 + t3)
                    C[xb, xk] = A[xb, xk] * S[xb] - M[xb]
"""

THREADS = {
    name: text
    for name, text in sorted(globals().items())
    if isinstance(text, str) and text.startswith("\ndef ")
}
