"""Bindings without uses go, at every depth."""

from irkit.graph import parse, verify
from irkit.passes.graph import eliminate_dead_nodes


def test_dead_bindings_inside_lambdas_and_branches_go_too() -> None:
    func = parse("""\
def main(x: f32[2], c: bool[()]):
    @function()
    def f(a: f32[2]):
        u = exp(a)
        v = relu(a)
        return v
    if c:
        d = exp(x)
        y: f32[2] = x
    else:
        y: f32[2] = x
    p = (x, y)
    q = p[1]
    z = f(q)
    return z
""")
    after = eliminate_dead_nodes(func)
    assert "exp" not in after.script()
    assert verify(after) == []
    assert eliminate_dead_nodes(after) is after
