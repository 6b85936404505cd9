import pytest

from irkit.core import IRKitError, rewrite
from irkit.ir import I64, Const, Evaluate, Expr, Neg
from irkit.transform import fixpoint


def drop_one(stmt: Evaluate) -> Evaluate:
    """Remove one negation."""
    match stmt.value:
        case Neg(inner):
            return stmt.replace(value=inner)
        case _:
            return stmt


def negations(count: int) -> Evaluate:
    value: Expr = Const(1, I64)
    for _ in range(count):
        value = Neg(value, I64)
    return Evaluate(value)


def test_a_change_is_repeated_until_nothing_changes() -> None:
    result = fixpoint(drop_one, 5)(negations(5))
    assert isinstance(result.value, Const)
    assert fixpoint(drop_one, 0)(result) is result


def test_a_change_without_a_fixpoint_is_an_error() -> None:
    with pytest.raises(IRKitError, match="'drop_one' reached no fixpoint in 4 rounds"):
        fixpoint(drop_one, 4)(negations(6))
    flip = fixpoint(lambda n: rewrite(n, lambda c: Const(1 - c.value, I64), on=Const), 3)
    with pytest.raises(IRKitError, match="no fixpoint"):
        flip(Evaluate(Const(0, I64)))
