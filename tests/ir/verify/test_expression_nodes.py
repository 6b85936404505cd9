"""Combinations of classes and types that passed before hide no wrong node."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings, strategies as st

from irkit.ir import (
    F32,
    I32,
    I64,
    Add,
    Buffer,
    Const,
    DType,
    Evaluate,
    Expr,
    Load,
    PrimFunc,
    seq,
    verify,
)
from irkit.ir.verify.expression_nodes import _ROWS  # pyright: ignore[reportPrivateUsage] -- to start from none
from irkit.ir.verify.valid_expressions import remember_valid
from tests.draws import few_or_all
from tests.ir.verify.test_fields import JUNK, ONE, copied, everything
from tests.passes.loop.kernels import KERNELS, kernel

WORD = Const(1, I32)
LIKE_I64 = DType("i", 64, True)  # Equal to I64, and of the same hash.
MORE_JUNK = (*JUNK, WORD, LIKE_I64, I32, F32.with_lanes(4), Const(1, LIKE_I64), -(1 << 63) - 1)


def forget() -> None:
    for _, passed in _ROWS.values():
        passed.clear()


def messages(func: PrimFunc) -> list[str]:
    remember_valid(func, {})
    return [problem.message for problem in verify(func)]


@settings(derandomize=True, deadline=None, max_examples=few_or_all(60, 150))
@given(st.data())
def test_what_passed_before_changes_no_answer(data: st.DataObject) -> None:
    func = copied(kernel(data.draw(st.sampled_from(sorted(KERNELS)))))
    assert messages(func) == []  # Now all combinations of the function have passed.
    inside = [node for node in everything(func) if isinstance(node, Expr) and not node.symbol]
    node = data.draw(st.sampled_from(inside))
    field = data.draw(st.sampled_from(node.__struct_fields__))
    junk: Any = data.draw(st.sampled_from(MORE_JUNK))
    msgspec.structs.force_setattr(node, field, junk)
    warm = messages(func)
    forget()
    assert messages(func) == warm


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (Const(1, I32), Const(1 << 31, I32)),
        (Const(1, I64), Const(1, LIKE_I64)),
        (Add(ONE, ONE, I64), Add(ONE, WORD, I64)),
        (Buffer("A", (ONE,), F32)[ONE], Load(Buffer("A", (ONE, ONE), F32), (ONE,), None, F32)),
        (Buffer("A", (ONE,), F32)[ONE], Load(Buffer("A", (ONE,), F32), (ONE,), ONE, F32)),
    ],
)
def test_a_node_that_is_nearly_right_is_reported(right: Expr, wrong: Expr) -> None:
    assert found_in(right, right) == []
    assert found_in(right, wrong) != []


def found_in(first: Expr, second: Expr) -> list[str]:
    """List what is wrong with two expressions, apart from the scope of the buffers they read."""
    func = PrimFunc("f", (), seq(Evaluate(first), Evaluate(second)))
    return [each for each in messages(func) if "is used" not in each]
