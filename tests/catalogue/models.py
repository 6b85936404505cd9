"""Graph programs and modules that several entries run on."""

import numpy as np

from irkit.graph import Builder, GraphFunc

PAIR = """\
def scale(A: f32[16], C: f32[16]):
    for i in serial(0, 16):
        C[i] = A[i] * f32(2.0)

def shift(A: f32[16], C: f32[16]):
    for i in serial(0, 16):
        C[i] = A[i] + f32(1.0)
"""

CALLS = """\
def main(x: f32[8], z: f32[8]):
    y: f32[8] = call("ratio", x, z)
    w: f32[8] = call("offset", y)
    return w

def ratio(A: f32[8], B: f32[8], C: f32[8]):
    for i in serial(0, 8):
        C[i] = A[i] - B[i] * f32(0.5)

def offset(A: f32[8], C: f32[8]):
    for i in serial(0, 8):
        C[i] = A[i] + f32(3.0)
"""

ATTENTION = """\
def main(q: f32[4, 8], k: f32[4, 8], v: f32[4, 8]):
    t: f32[8, 4] = transpose(k, axes=(1, 0))
    s: f32[4, 4] = matmul(q, t)
    p: f32[4, 4] = softmax(s, axis=1)
    o: f32[4, 8] = matmul(p, v)
    return o
"""

RESIDUAL = """\
def main(x: f32[2, 6]):
    a: f32[2, 6] = relu(x)
    b: f32[2, 6] = negative(a)
    c: f32[2, 6] = subtract(x, b)
    d: f32[2, 6] = relu(c)
    e: f32[2, 6] = add(d, a)
    return e
"""

SHAPES = """\
def main(x: f32[2, 3, 4]):
    a: f32[4, 2, 3] = transpose(x, axes=(2, 0, 1))
    b: f32[3, 4, 2] = transpose(a, axes=(2, 0, 1))
    c: f32[12, 2] = reshape(b, shape=(12, 2))
    return c
"""

JOIN = """\
def main(x: f32[2, 3], y: f32[2, 3]):
    c: f32[2, 6] = concat(x, y, axis=1)
    s: f32[2, 3] = slice(c, begins=(2,), ends=(5,), axes=(1,))
    return s
"""

POOLS = """\
def main(x: f32[1, 2, 6, 6]):
    p: f32[1, 2, 8, 8] = pad(x, pads=(0, 0, 1, 1, 0, 0, 1, 1))
    m: f32[1, 2, 4, 4] = max_pool(p, kernel=(2, 2), strides=(2, 2))
    a: f32[1, 2, 4, 4] = avg_pool(m, kernel=(3, 3), pads=(1, 1, 1, 1))
    return a
"""


def convolution() -> GraphFunc:
    """Return a small network: conv, batch norm, relu, conv, mean."""
    rng = np.random.default_rng(7)

    def weights(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape).astype("float32")

    b = Builder("main")
    x = b.param("x", (1, 3, 8, 8))
    first = b.op("conv", x, b.constant(weights(4, 3, 3, 3)), pads=(1, 1, 1, 1), name="first")
    stats = [b.constant(weights(4)), b.constant(weights(4)), b.constant(weights(4))]
    var = b.constant(np.abs(weights(4)) + np.float32(0.5))
    norm = b.op("batch_norm", first, *stats, var, epsilon=0.001)
    hot = b.op("relu", norm)
    second = b.op("conv", hot, b.constant(weights(2, 4, 3, 3)), strides=(2, 2), name="second")
    return b.finish(b.op("mean", second, axes=(2, 3)))


def dense() -> GraphFunc:
    """Return a dense layer with a scale and an offset on its constant weights."""
    rng = np.random.default_rng(3)
    b = Builder("main")
    x = b.param("x", (3, 5))
    w = b.constant(rng.standard_normal((5, 4)).astype("float32"), name="w")
    s = b.constant(np.array([0.5, 2.0, 4.0, 0.25], "float32"), name="s")
    y = b.op("multiply", b.op("matmul", x, w), s)
    c = b.constant(rng.standard_normal(4).astype("float32"), name="c")
    return b.finish(b.op("add", y, c))
