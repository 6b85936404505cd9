"""What a newcomer gets wrong at the doors of the library is told, with the remedy."""

from collections.abc import Callable
from typing import Any

import pytest

from irkit import ir, te
from irkit.core import IRKitError, rewrite, substitute
from irkit.transform import define_pass

# Past the type checker, which refuses nearly all of these.
IR: Any = ir
TE: Any = te
REWRITE: Any = rewrite
X = ir.Var("x")
A: Any = te.placeholder((8, 8), name="A")
K = te.reduce_axis((0, 8), "k")


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: IR.parse(3), "expected the text of a function, found int"),
        (lambda: IR.dtype(3), "expected a type or its name, found 3"),
        (lambda: REWRITE(None, lambda node: None), "rewrite takes nodes of IR, found NoneType"),
        (lambda: REWRITE([X], lambda node: None), "rewrite takes nodes of IR, found list"),
        (lambda: REWRITE(X, 3), "a rule is a function of a node, found 3"),
        (lambda: REWRITE(X, lambda node: None, on="Var"), "on must be a class of nodes"),
        (lambda: REWRITE(X, lambda node: None, on=[ir.Var]), "on must be a class of nodes"),
        (lambda: substitute(X, {X: 1}), "substitute takes nodes of IR, found int.*\n.*const"),  # pyright: ignore
        (lambda: define_pass(3), "a pass is made of a function, found int"),  # pyright: ignore
        (lambda: TE.compute((8,), 3), "defined by a function of its indices, found 3"),
        (lambda: TE.reduce_axis(8), r"a pair of bounds, found 8\n.*te.reduce_axis\(\(0, n\)\)"),
        (lambda: TE.reduce_axis((0, 8, 1)), "a pair of bounds"),
        (lambda: TE.sum(A[K, K], axis=0), "sum can only run over reduce axes, found 0"),
        (lambda: TE.sum(A[K, K], axis=None), "sum can only run over reduce axes, found None"),
        (lambda: TE.create_schedule(3), "a schedule is made of tensors, found int"),
    ],
)
def test_a_wrong_argument_is_told_so(use: Callable[[], object], message: str) -> None:
    with pytest.raises(IRKitError, match=message):
        use()
