import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from irkit import te
from irkit.core import DTypeError
from irkit.ir import Var

V: Any = Var("i")
K: Any = te.reduce_axis((0, 8), "k")
A: Any = te.placeholder((8,), name="A")
X: Any = A[V]


@pytest.mark.parametrize(
    ("compare", "written"),
    [
        (lambda: V >= 1, r"Var 'i' >= 1.*\n.*ge\(i, 1\)"),
        (lambda: V >= 1, r"ge\(i, 1\)"),
        (lambda: np.int64(1) > V, r"lt\(i, b\)"),
        (lambda: V < V, r"lt\(i, i\)"),
        (lambda: K <= 2.5, r"le\(k, 2.5\)"),
        (lambda: A > 0, r"Tensor 'A' > 0.*\n.*gt\(A, 0\)"),
        (lambda: A < 0, r"lt\(A, 0\)"),
        (lambda: X >= A, r"ge\(a, A\)"),
        (lambda: max(V, 1), "maximum"),
    ],
)
def test_a_comparison_says_which_function_makes_it(
    compare: Callable[[], object], written: str
) -> None:
    with pytest.raises(DTypeError, match=written) as found:
        compare()
    assert found.value.span is not None
    assert found.value.span.file == __file__


@pytest.mark.parametrize("value", [V, K, X, A], ids=["variable", "axis", "element", "tensor"])
@pytest.mark.parametrize(
    ("use", "remedy"),
    [
        (lambda x: x**2, "pow"),
        (lambda x: 2**x, "pow"),
        (lambda x: x @ A, "te.sum"),
        (lambda x: abs(x), "te.abs"),
        (lambda x: round(x), "te.round"),
        (lambda x: divmod(x, 2), "x // y and x % y"),
        (lambda x: ~x, "logical_not"),
        (lambda x: +x, "Leave the sign out"),
        (lambda x: 1 & x, "const"),
        (lambda x: 1 << x, "const"),
        (lambda x: int(x), "as_int"),
        (lambda x: float(x), "as_int"),
        (lambda x: operator.index(x), "as_int"),
        (lambda x: range(x), "as_int"),
        (lambda x: bool(x), "select"),
        (lambda x: x and 1, "select"),
    ],
)
def test_an_operator_that_builds_nothing_names_the_remedy(
    value: object, use: Callable[[object], object], remedy: str
) -> None:
    with pytest.raises(DTypeError, match=remedy):
        use(value)


@pytest.mark.parametrize(
    "use", [lambda x: x[0], lambda x: list(x), lambda x: 1 in x, lambda x: [*x]]
)
def test_an_expression_is_one_value(use: Callable[[object], object]) -> None:
    with pytest.raises(DTypeError, match="Var 'i' is one value"):
        use(V)


def test_a_number_of_numpy_stands_on_either_side_and_an_array_on_none() -> None:
    assert np.float32(2) * X == 2.0 * X
    assert (np.float32(2) * A).dtype == A.dtype
    for use in (lambda: np.ones(3) * X, lambda: X * np.ones(3), lambda: A + np.ones(8)):
        with pytest.raises(DTypeError, match="found ndarray"):
            use()


def test_a_number_is_divided_by_a_tensor() -> None:
    assert [(7 // A).op.name, (7 % A).op.name] == ["floor_divide", "mod"]
