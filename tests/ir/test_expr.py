"""Constants, and the types that expressions are made with."""

from typing import Any

import numpy as np
import pytest

from irkit import te
from irkit.core import DTypeError
from irkit.ir import (
    BOOL,
    F32,
    I32,
    I64,
    Broadcast,
    Buffer,
    Const,
    Var,
    broadcast,
    cast,
    const,
    ramp,
)


def test_constants_are_equal_by_type_and_bits() -> None:
    assert Const(5, I64) == Const(5, I64)
    assert len({Const(5, I64), Const(5, I64)}) == 1
    assert (Const(5, I64) != Const(5, I64)) is False
    assert Const(0.0, F32) != Const(-0.0, F32)
    assert Const(float("nan"), F32) == Const(float("nan"), F32)
    assert Const(1, I64) != Const(True, BOOL)


def test_the_name_of_a_type_stands_for_the_type() -> None:
    assert const(1, "f32") == const(1, F32) == Const(1.0, F32)
    assert const(1, "i32x4") == Broadcast(Const(1, I32), I32.with_lanes(4))
    named: Any = "i32"
    assert Var("i", named).dtype == Buffer("A", (), named).dtype == I32
    assert (Var("i", named) + 1).dtype == I32


def test_what_is_no_type_is_told_so() -> None:
    wrong: Any = np.float32
    for use in (
        lambda: const(1, wrong),
        lambda: cast(1, wrong),
        lambda: te.placeholder((8,), wrong),
    ):
        with pytest.raises(DTypeError, match=r"found <class 'numpy.float32'>\n.*\"f32\""):
            use()
    unknown: Any = "i3"
    with pytest.raises(DTypeError, match="unknown dtype 'i3'"):
        Var("i", unknown)


def test_a_constant_is_made_of_a_number_only() -> None:
    for value in ("1", None, [1]):
        given: Any = value
        with pytest.raises(DTypeError, match="expected an expression or a number"):
            const(given, F32)
    assert const(np.float32(0.5), F32) == Const(0.5, F32)  # pyright: ignore


@pytest.mark.parametrize("lanes", [0, 2.5, "4", 1 << 20])
def test_a_vector_has_a_number_of_lanes(lanes: Any) -> None:
    for use in (lambda: ramp(0, 1, lanes), lambda: broadcast(0, lanes)):
        with pytest.raises(DTypeError, match="expected 1 to 16384 lanes"):
            use()
