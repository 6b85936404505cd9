"""Programs with blocks, for the schedules that seeded bugs are tried on."""

MATMUL_RELU = """
def matmul(A: f32[6, 5], B: f32[5, 10], C: f32[6, 10]):
    T = alloc(f32[6, 10])
    for i in serial(0, 6):
        for j in serial(0, 10):
            for k in serial(0, 5):
                with block("T"):
                    vi = axis.spatial(6, i)
                    vj = axis.spatial(10, j)
                    vk = axis.reduce(5, k)
                    with init():
                        T[vi, vj] = f32(0.0)
                    T[vi, vj] = T[vi, vj] + A[vi, vk] * B[vk, vj]
    for i in serial(0, 6):
        for j in serial(0, 10):
            with block("C"):
                vi = axis.spatial(6, i)
                vj = axis.spatial(10, j)
                C[vi, vj] = max(T[vi, vj], f32(0.0)) + A[vi, 0]
"""

CHAIN = """
def chain(A: f32[4, 6, 3], C: f32[6, 4, 3]):
    T = alloc(f32[4, 6, 3])
    U = alloc(f32[6, 4, 3])
    for i in serial(0, 4):
        for j in serial(0, 6):
            for k in serial(0, 3):
                with block("T"):
                    vi = axis.spatial(4, i)
                    vj = axis.spatial(6, j)
                    vk = axis.spatial(3, k)
                    T[vi, vj, vk] = A[vi, vj, vk] * f32(2.0) + f32(vk)
    for i in serial(0, 6):
        for j in serial(0, 4):
            for k in serial(0, 3):
                with block("U"):
                    vi = axis.spatial(6, i)
                    vj = axis.spatial(4, j)
                    vk = axis.spatial(3, k)
                    U[vi, vj, vk] = T[vj, vi, vk] + f32(1.0)
    for i in serial(0, 6):
        for j in serial(0, 4):
            for k in serial(0, 3):
                with block("C"):
                    vi = axis.spatial(6, i)
                    vj = axis.spatial(4, j)
                    vk = axis.spatial(3, k)
                    C[vi, vj, vk] = U[vi, vj, vk] * U[5 - vi, vj, vk]
"""

ROW_SUMS = """
def row_sums(A: f32[6, 5], C: f32[6]):
    T = alloc(f32[6, 5])
    for i in serial(0, 6):
        for j in serial(0, 5):
            with block("T"):
                vi = axis.spatial(6, i)
                vj = axis.spatial(5, j)
                T[vi, vj] = A[vi, vj] * f32(2.0) + f32(vj)
    for i in serial(0, 6):
        for k in serial(0, 5):
            with block("C"):
                vi = axis.spatial(6, i)
                vk = axis.reduce(5, k)
                with init():
                    C[vi] = f32(0.0)
                C[vi] = C[vi] + T[5 - vi, vk]
"""

WHOLE_SUMS = """
def whole_sums(A: i32[4, 5], C: i32[4]):
    for i in serial(0, 4):
        for k in serial(0, 5):
            with block("C"):
                vi = axis.spatial(4, i)
                vk = axis.reduce(5, k)
                with init():
                    C[vi] = i32(0)
                C[vi] = C[vi] + A[vi, vk]
"""

PADDED = """
def padded(A: f32[6], C: f32[8]):
    T = alloc(f32[8])
    for i in serial(0, 8):
        with block("T"):
            v = axis.spatial(8, i)
            T[v] = A[v - 1] if v >= 1 and v < 7 else f32(3.0)
    for i in serial(0, 8):
        with block("C"):
            v = axis.spatial(8, i)
            C[v] = T[7 - v]
"""

BLUR = """
def blur(A: f32[9, 5], C: f32[7, 5]):
    T = alloc(f32[9, 5])
    for i in serial(0, 9):
        for j in serial(0, 5):
            with block("T"):
                vi = axis.spatial(9, i)
                vj = axis.spatial(5, j)
                T[vi, vj] = A[vi, vj] * A[vi, 4 - vj]
    for i in serial(0, 7):
        for j in serial(0, 5):
            for k in serial(0, 3):
                with block("C"):
                    vi = axis.spatial(7, i)
                    vj = axis.spatial(5, j)
                    vk = axis.reduce(3, k)
                    with init():
                        C[vi, vj] = f32(0.0)
                    C[vi, vj] = C[vi, vj] + T[vi + vk, vj] * f32(vk + 1)
"""

# In place, with neighbours, and forms that no tensor expression makes.
HALO = """
def halo(A: f32[8, 8], B: f32[8, 8], C: f32[8, 8], n: i64):
    for i in serial(0, 6):
        for j in serial(0, 6):
            with block("B"):
                v = axis.spatial(6, i)
                w = axis.spatial(6, j)
                B[v + 1, w + 1] = A[v + 1, w] + f32(1.0)
            with block("A"):
                v = axis.spatial(6, i)
                w = axis.spatial(6, j)
                A[v, w] = B[v, w + 1] * f32(2.0)
    for i in serial(0, 6):
        if n > 2:
            for j in serial(0, 6):
                with block("C"):
                    v = axis.spatial(6, i)
                    w = axis.spatial(6, j)
                    C[w, v] = C[v, w] + B[v, w + 2]
"""
