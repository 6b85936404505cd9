"""The constant folder against the interpreter: two implementations of docs/semantics.md without
shared code."""

import math
import struct
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from irkit.ir import (
    BF16,
    BOOL,
    F16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    INTRINSICS,
    U8,
    U16,
    U32,
    U64,
    Add,
    And,
    Call,
    Cast,
    Compare,
    Conditional,
    Const,
    Div,
    DType,
    Expr,
    FloorDiv,
    FloorMod,
    Neg,
    Not,
    Or,
    Select,
    Shl,
    Shr,
    Var,
    evaluate,
    fold,
)
from irkit.ir.arith.fold import FOLDED_CALLS, FOLDERS, KEPT_CALLS, KEPT_NODES, round_to
from tests.draws import few_or_all
from tests.ir.classes import leaves, operations_on

INTEGERS = (I8, I16, I32, I64, U8, U16, U32, U64)
FLOATS = (F16, BF16, F32, F64)
SPECIAL = (
    *(0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.1, -0.1, 3.0, 7.25, 127.5, -128.5),
    *(255.5, 65504.0, 65520.0, 3.4e38, 3.5e38, -3.5e38, 1e300, 1e-7, 6e-8, 1e-40, 1e-45, 5e-324),
    *(2.0**31, 2.0**32, 2.0**63, 2.0**64, -(2.0**31), -(2.0**63), 2147483520.0),
    *(math.inf, -math.inf, math.nan),
)


def values(dtype: DType) -> st.SearchStrategy[bool | int | float]:
    if dtype.is_bool:
        return st.booleans()
    if dtype.is_float:
        width = {16: 16, 32: 32, 64: 64}[dtype.bits]
        return st.one_of(st.sampled_from(SPECIAL), st.floats(width=width), st.floats())
    edges = (dtype.low, dtype.low + 1, -1, 0, 1, 2, dtype.bits - 1, dtype.bits, dtype.high)
    inside = [edge for edge in edges if dtype.low <= edge <= dtype.high]
    return st.one_of(st.sampled_from(inside), st.integers(dtype.low, dtype.high))


def edges(dtype: DType) -> list[bool | int | float]:
    """Return the values on which operations differ most."""
    if dtype.is_bool:
        return [False, True]
    if dtype.is_float:
        return [0.0, -0.0, 1.0, -1.0, 0.1, -2.5, 3.0, 6.0, 65504.0, math.inf, -math.inf, math.nan]
    found = (dtype.low, dtype.low + 1, -7, -1, 0, 1, 2, 7, dtype.bits, dtype.high)
    return [edge for edge in dict.fromkeys(found) if dtype.low <= edge <= dtype.high]


def calls(dtype: DType) -> list[str]:
    rows = [INTRINSICS[name] for name in sorted(FOLDED_CALLS)]
    return [row.name for row in rows if row.accepts(dtype) and row.ulps_in(dtype) <= 0.5]


def nodes(a: float, b: float, dtype: DType) -> Iterator[Expr]:
    """Return every operation and call on two constants."""
    left, right = Const(a, dtype), Const(b, dtype)
    for cls in operations_on(dtype):
        yield cls(left, right, BOOL if issubclass(cls, Compare) else dtype)
    for name in [] if dtype.is_bool else calls(dtype):
        row = INTRINSICS[name]
        yield Call(name, (left, right)[: row.arity], row.result(dtype))


def agree(expr: Expr) -> None:
    """Compare a folded node with the interpreter, bit by bit."""
    folded, computed = fold(expr), evaluate(expr)
    if expr.dtype.is_float and np.isnan(float(computed)):
        assert folded is None or math.isnan(folded.value)
        return
    assert isinstance(folded, Const)
    assert folded.dtype == expr.dtype
    if expr.dtype.is_float:
        assert struct.pack("<d", folded.value) == struct.pack("<d", float(computed)), computed
        assert round_to(folded.value, expr.dtype) == folded.value
    else:
        assert folded.value == computed
        assert type(folded.value) is (bool if expr.dtype.is_bool else int)


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS, BOOL], ids=str)
def test_a_folded_operation_is_what_the_interpreter_computes(dtype: DType) -> None:
    for a, b in product(edges(dtype), edges(dtype)):
        for node in nodes(a, b, dtype):
            agree(node)


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS], ids=str)
def test_a_folded_operation_agrees_on_any_values(dtype: DType) -> None:
    @settings(max_examples=few_or_all(10, 25), derandomize=True, deadline=None, database=None)
    @given(values(dtype), values(dtype))
    def check(a: float, b: float) -> None:
        for node in nodes(a, b, dtype):
            agree(node)

    check()


@pytest.mark.parametrize("source", [*INTEGERS, *FLOATS, BOOL], ids=str)
def test_a_folded_cast_is_what_the_interpreter_computes(source: DType) -> None:
    @settings(max_examples=few_or_all(12, 30), derandomize=True, deadline=None, database=None)
    @given(values(source))
    def check(value: float) -> None:
        for target in (*INTEGERS, *FLOATS, BOOL):
            agree(Cast(Const(value, source), target))

    check()


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS, BOOL], ids=str)
def test_a_folded_negation_is_what_the_interpreter_computes(dtype: DType) -> None:
    @settings(max_examples=few_or_all(10, 25), derandomize=True, deadline=None, database=None)
    @given(values(dtype))
    def check(value: float) -> None:
        if not dtype.is_bool:
            agree(Neg(Const(value, dtype), dtype))
        if not dtype.is_float:
            agree(Not(Const(value, dtype), dtype))

    check()


def test_a_constant_condition_takes_its_side_and_the_other_may_be_anything() -> None:
    x, y = Var("x", F32), Var("y", F32)
    for cls in (Select, Conditional):
        assert fold(cls(Const(True, BOOL), x, y, F32)) is x
        assert fold(cls(Const(False, BOOL), x, y, F32)) is y
    p = Var("p", BOOL)
    assert fold(And(Const(True, BOOL), p, BOOL)) is p
    assert fold(Or(Const(False, BOOL), p, BOOL)) is p
    assert fold(And(Const(False, BOOL), p, BOOL)) == Const(False, BOOL)
    assert fold(And(p, Const(False, BOOL), BOOL)) is None


def test_operations_without_a_single_right_value_are_not_folded() -> None:
    one, nan = Const(1.0, F32), Const(math.nan, F32)
    assert fold(Call("exp", (one,), F32)) is None
    assert fold(Call("pow", (one, one), F32)) is None
    assert fold(Call("fma", (one, one, one), F32)) is None
    assert fold(Add(one, nan, F32)) is None
    assert fold(Div(Const(0.0, F32), Const(0.0, F32), F32)) is None
    assert fold(Call("sqrt", (Const(-1.0, F32),), F32)) is None


def test_a_node_with_a_variable_operand_is_not_folded() -> None:
    x = Var("x")
    for expr in (x + 1, -x, Cast(x, F32), Call("abs", (x,), I64), Not(x, I64)):
        assert fold(expr) is None


def test_integers_wrap_and_divide_as_documented() -> None:
    low = Const(I32.low, I32)
    minus, zero, seven = (Const(value, I32) for value in (-1, 0, 7))
    assert fold(FloorDiv(low, minus, I32)) == low
    assert fold(FloorDiv(seven, zero, I32)) == zero
    assert fold(FloorMod(seven, zero, I32)) == zero
    assert fold(FloorDiv(Const(-7, I32), Const(2, I32), I32)) == Const(-4, I32)
    assert fold(Call("truncdiv", (Const(-7, I32), Const(2, I32)), I32)) == Const(-3, I32)
    assert fold(Call("truncmod", (Const(-7, I32), Const(2, I32)), I32)) == minus
    assert fold(Shl(seven, Const(32, I32), I32)) == zero
    assert fold(Shr(minus, Const(-1, I32), I32)) == minus
    assert fold(Call("pow", (zero, minus), I32)) == zero


def test_floats_convert_as_documented() -> None:
    assert fold(Cast(Const(math.nan, F32), I32)) == Const(0, I32)
    assert fold(Cast(Const(1e10, F32), I32)) == Const(I32.high, I32)
    assert fold(Cast(Const(-1.5, F32), U8)) == Const(0, U8)
    assert fold(Cast(Const(math.nan, F32), BOOL)) == Const(True, BOOL)
    assert fold(Cast(Const((1 << 62) + (1 << 38) + 1, I64), F32)) == Const(
        float((1 << 62) + (1 << 39)), F32
    )
    assert fold(Call("round", (Const(2.5, F32),), F32)) == Const(2.0, F32)
    assert fold(FloorDiv(Const(1.0, F32), Const(0.1, F32), F32)) == Const(9.0, F32)


def test_every_expression_and_intrinsic_is_folded_or_has_a_reason_not_to_be() -> None:
    assert set(leaves(Expr)) == {
        *FOLDERS,
        *KEPT_NODES,
    }
    assert not set(FOLDERS) & set(KEPT_NODES)
    assert set(INTRINSICS) == {*FOLDED_CALLS, *KEPT_CALLS}
    assert not set(KEPT_CALLS) & FOLDED_CALLS
