"""What is said of the alignment of an index holds for all values."""

from hypothesis import given, strategies as st

from irkit.codegen.alignment import MOST, Alignment, known_twos
from irkit.ir import F16, I32, I64, Buffer, Const, Expr, Var, cast, const, evaluate, ramp

X, Y = Var("x", I64), Var("y", I64)
LEAVES = st.one_of(st.sampled_from([X, Y]), st.integers(-70, 70).map(lambda n: const(n, I64)))


def combined(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    pairs = st.tuples(inner, inner)
    divisors = st.sampled_from([1, 2, 3, 4, 8, 12])
    return st.one_of(
        pairs.map(lambda p: p[0] + p[1]),
        pairs.map(lambda p: p[0] - p[1]),
        pairs.map(lambda p: p[0] * p[1]),
        st.tuples(inner, divisors).map(lambda p: p[0] // p[1]),
        st.tuples(inner, divisors).map(lambda p: p[0] % p[1]),
        inner.map(lambda x: cast(cast(x, I32), I64)),
    )


@given(st.recursive(LEAVES, combined, max_leaves=8), st.integers(-99, 99), st.integers(-99, 99))
def test_an_index_is_divided_by_what_is_said(index: Expr, x: int, y: int) -> None:
    found = known_twos(index, {X: 4})
    assert found & (found - 1) == 0
    assert 1 <= found <= MOST
    assert int(evaluate(index, {X: 4 * x, Y: y})) % found == 0


def test_the_parts_of_a_tile_are_aligned_to_sixteen_bytes() -> None:
    known, panel = Alignment(), Buffer("panel", (Const(4096, I64),), F16)
    known.begins(panel, 64)
    index = ramp(X * 256 + Y // 4 * 32 + Y % 4 * 8, 1, 8)
    assert known.of(panel, index) == 16
    assert known.of(panel, ramp(X * 256 + Y * 4, 1, 4)) == 8
    assert known.of(panel, X) == 2
    shifted = Buffer("shifted", (Const(64, I64),), F16)
    known.view(shifted, panel, const(4, I64))
    assert known.of(shifted, index) == 8
    unknown = Buffer("unknown", (Const(64, I64),), F16)
    assert known.of(unknown, index) == 2
