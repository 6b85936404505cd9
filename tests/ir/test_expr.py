"""Equality of constants."""

from irkit.ir import BOOL, F32, I64, Const


def test_constants_are_equal_by_type_and_bits() -> None:
    assert Const(5, I64) == Const(5, I64)
    assert len({Const(5, I64), Const(5, I64)}) == 1
    assert (Const(5, I64) != Const(5, I64)) is False
    assert Const(0.0, F32) != Const(-0.0, F32)
    assert Const(float("nan"), F32) == Const(float("nan"), F32)
    assert Const(1, I64) != Const(True, BOOL)
