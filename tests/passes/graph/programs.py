"""Parts of graph functions that several tests look at."""

from irkit.graph import GraphFunc, Op

CALLS = """\
def main(x: f32[4], c: bool[()]):
    k: f32[4] = tanh(x)
    @function()
    def f(a: f32[4]):
        s: f32[4] = add(a, k)
        return s
    @function()
    def g(a: f32[4]):
        t: f32[4] = call("twice", a)
        u: f32[4] = f(t)
        return u
    if c:
        h: func((f32[4],), f32[4]) = f
    else:
        h: func((f32[4],), f32[4]) = g
    p: f32[4] = h(x)
    q: f32[4] = h(p)
    return q

def twice(a: f32[4]):
    b: f32[4] = add(a, a)
    return b
"""
NESTED = """\
def main(x: f32[4], c: bool[()], d: bool[()]):
    two: f32[()] = constant([2.0])
    w: f32[4] = constant([1.0, 2.0, 3.0, 4.0])
    if c:
        a: f32[4] = multiply(x, two)
        if d:
            b: f32[4] = add(a, w)
            p: (f32[4], f32[4]) = (b, a)
            q: (f32[4], f32[4]) = p
        else:
            e: (f32[4], f32[4]) = (a, a)
            q: (f32[4], f32[4]) = e
        i: f32[4] = q[0]
        j: f32[4] = q[1]
        k: f32[4] = subtract(i, j)
        r: f32[4] = k
    else:
        r: f32[4] = w
    return r
"""


def ops(func: GraphFunc) -> list[str]:
    return [bind.step.name for bind in func.body.bindings if isinstance(bind.step, Op)]
