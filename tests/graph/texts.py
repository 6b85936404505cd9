"""Texts of graph functions shared by tests."""

TEXT = """\
def main(x: f32[4], c: bool[()]):
    a: f32[4] = exp(x)
    @function()
    def f(u: f32[4]):
        v: f32[4] = add(u, a)
        return v
    if c:
        y: f32[4] = a
    else:
        b: f32[4] = f(x)
        y: f32[4] = b
    z: f32[4] = relu(y)
    return z
"""
MODULE = """\
def main(x: f32[4]):
    y: f32[4] = call("twice", x)
    return y

def twice(A: f32[4], B: f32[4]):
    for i in serial(0, 4):
        B[i] = A[i] + A[i]
"""
