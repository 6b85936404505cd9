"""Graph functions that, between them, give every graph pass work."""

GRAPHS = {
    "CONVOLUTION": """
def main(x: f32[1, 2, 4, 4], y: f32[1, 2, 3, 3]):
    w: f32[2, 2, 2, 2] = constant([1.0, 2.0, 3.0, 4.0, -1.0, 0.0, 2.0, 1.0, -3.0, 1.0, 5.0, 3.0, -4.0, 1.0, 0.0, 2.0])
    b: f32[2] = constant([0.5, -0.5])
    scale: f32[2] = constant([2.0, 3.0])
    m: f32[2] = constant([0.25, 2.0])
    v: f32[2] = constant([4.0, 0.25])
    c = conv(x, w, b)
    n = batch_norm(c, scale, b, m, v, epsilon=0.5)
    i = identity(n)
    r = relu(i)
    s = add(r, y)
    t = transpose(s, axes=(0, 2, 3, 1))
    p = pad(t, pads=(0, 1, 1, 0, 0, 1, 1, 0))
    return p
""",  # noqa: E501
    "BRANCHING": """
def main(x: f32[3, 5], y: f32[5]):
    two: f32[1] = constant([2.0])
    k: f32[5] = constant([1.0, -2.0, 3.0, 0.5, 4.0])
    kk = multiply(k, two)
    dead = exp(x)
    a = multiply(x, two)
    b = add(a, y)
    c = relu(b)
    d = subtract(c, kk)
    e = multiply(c, d)
    t = transpose(e, axes=(1, 0))
    q = transpose(t, axes=(1, 0))
    z = add(q, x)
    s = softmax(z, axis=1)
    o = subtract(s, b)
    return o
""",
    "PRODUCTS": """
def main(x: f32[4, 6], w: f32[6, 8], u: f32[8, 3]):
    a = matmul(x, w)
    b = relu(a)
    c = matmul(b, u)
    d = transpose(c, axes=(1, 0))
    e = matmul(d, x)
    f = matmul(x, w)
    g = matmul(e, w)
    p = (g, c)
    return p
""",
    "LONG_LIVED": """
def main(x: f32[16, 16]):
    a = matmul(x, x)
    b = matmul(a, x)
    c = matmul(b, x)
    d = matmul(c, a)
    e = matmul(d, b)
    p = (a, e)
    q = p[0]
    f = add(q, e)
    g = matmul(f, d)
    h = slice(g, begins=(-1,), ends=(-100,), strides=(-1,))
    return h
""",
    "SQUARE": """
def main(x: f32[3, 3]):
    a = transpose(x, axes=(1, 0))
    b = subtract(a, x)
    c = transpose(b, axes=(0, 1))
    d = multiply(c, a)
    return d
""",
    "CONSTANTS": """
def main(x: f32[2]):
    a: f32[2] = constant([8.0, 2.0])
    b: f32[2] = constant([2.0, 4.0])
    c = subtract(a, b)
    d = divide(c, b)
    e = add(x, d)
    f = exp2(b)
    g = subtract(e, f)
    return g
""",
    "TUPLE_KEEPS": """
def main(x: f32[8, 8], y: f32[8, 8]):
    a = matmul(x, y)
    b = matmul(y, x)
    p = (a, b)
    c = matmul(a, b)
    d = matmul(c, x)
    e = matmul(d, y)
    q = p[1]
    r = p[0]
    f = matmul(q, e)
    g = matmul(f, r)
    h = matmul(g, x)
    t = (p, h)
    return t
""",
    "DIAMOND": """
def main(x: f32[4, 4], y: f32[4, 4]):
    a = matmul(x, y)
    b = softmax(a, axis=1)
    c = relu(a)
    d = add(b, c)
    e = multiply(d, a)
    f = exp(c)
    g = add(f, c)
    h = add(g, e)
    return h
""",
}
