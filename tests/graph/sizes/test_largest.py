"""The largest that a size can be, against all values of the dimensions that a run finds."""

import pytest
from hypothesis import given, strategies as st

from irkit.core import IRKitError
from irkit.graph import largest
from irkit.ir import Expr, Var, const, evaluate, floordiv, maximum, minimum

N, K, J = Var("n"), Var("k"), Var("j")
LEAVES = st.sampled_from([N, K, J, *(const(number, "i64") for number in (-2, 0, 1, 3))])


def larger(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    pairs = st.tuples(inner, inner)
    made = (
        pairs.map(lambda ab: ab[0] + ab[1]),
        pairs.map(lambda ab: ab[0] - ab[1]),
        pairs.map(lambda ab: ab[0] * ab[1]),
        pairs.map(lambda ab: minimum(*ab)),
        pairs.map(lambda ab: maximum(*ab)),
        inner.map(lambda a: floordiv(a, 2)),
    )
    return st.one_of(*made)


@given(st.recursive(LEAVES, larger, max_leaves=5), st.integers(0, 4))
def test_no_size_is_larger_and_the_limit_needs_no_dimension_of_the_run(size: Expr, n: int) -> None:
    # k is up to n + 1, and j up to 2 k.
    most: dict[Var, Expr] = {K: N + 1}
    most[J] = largest(K * 2, most)
    limit = int(evaluate(largest(size, most), {N: n}))
    for k in range(n + 2):
        for j in range(2 * k + 1):
            assert int(evaluate(size, {N: n, K: k, J: j})) <= limit


def test_what_has_no_limit_is_refused() -> None:
    with pytest.raises(IRKitError, match=r"computed by FloorDiv .* has no known limit"):
        largest(floordiv(N, K), {K: N})
