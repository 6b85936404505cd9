"""Only loops over elements become vector loops."""

from irkit.fuzz.generators.programs.lanes import vectorize_short_loops
from irkit.ir import parse, script


def test_only_short_loops_over_elements_are_vectorized() -> None:
    func = parse("""
def f(A: f32[2, 4, 64], C: f32[2, 4]):
    for i in serial(0, 2):
        for k in serial(0, 64):
            for j in serial(0, 4):
                with block("C"):
                    vi = axis.spatial(2, i)
                    vj = axis.spatial(4, j)
                    vk = axis.reduce(64, k)
                    C[vi, vj] = C[vi, vj] + A[vi, vj, vk]
""")
    assert script(vectorize_short_loops(func)) == script(func).replace(
        "j in serial", "j in vectorized"
    )
    inner = parse(script(func).replace("reduce(64, k)", "reduce(64, k + j * 0)"))
    assert vectorize_short_loops(inner) is inner
