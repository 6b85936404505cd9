"""The declarations of operations on two operands hold, and every place that needs a line has it."""

import ast
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest

import irkit.ir as face
from irkit.core import DTypeError, ParseError
from irkit.fuzz.generators.functions import EAGER_BOOL_OPERATIONS, INTEGER_OPERATIONS
from irkit.ir import (
    BF16,
    BOOL,
    F16,
    F32,
    F64,
    I8,
    I64,
    OPERATIONS,
    OPERATORS,
    U8,
    Add,
    And,
    Binary,
    BitAnd,
    BitOr,
    BitXor,
    Compare,
    Const,
    Div,
    DType,
    Expr,
    FloorDiv,
    FloorMod,
    Max,
    Min,
    Mul,
    Or,
    Scalar,
    Shl,
    Shr,
    Stmt,
    Sub,
    Var,
    binary,
    const,
    fold,
    parse,
    script,
    verify,
)
from irkit.ir.arith import transfer
from irkit.ir.arith.simplify import RULES as SIMPLIFIERS
from irkit.ir.reference import BINARY
from tests.ir.arith.test_soundness import ARITHMETIC, COMPARES, RARE, RULES
from tests.ir.classes import leaves, operations_on

TYPES = (BOOL, I8, I64, U8, F16, BF16, F32, F64)
ON_INTEGERS = {Add, Sub, Mul, FloorDiv, FloorMod, BitAnd, BitOr, BitXor, Shl, Shr, Min, Max}
ON_FLOATS = {Add, Sub, Mul, Div, FloorDiv, FloorMod, Min, Max}
ON_BOOLS = {BitAnd, BitOr, BitXor, Min, Max, And, Or}
SEMANTICS = Path(__file__).parents[2] / "docs" / "semantics.md"


def values(dtype: DType) -> Sequence[Scalar]:
    if dtype.is_bool:
        return [False, True]
    if dtype.is_float:
        return [0.0, 1.5, -2.0, 3.0, float("inf")]
    return [dtype.low, -3, 0, 1, 2, 5, dtype.high][0 if dtype.low else 2 :]


def result(cls: type[Binary], a: Scalar, b: Scalar, dtype: DType) -> object:
    made = fold(binary(cls, Const(a, dtype), Const(b, dtype)))
    return made.value if isinstance(made, Const) else "not folded"


def test_every_class_has_a_row_of_its_own() -> None:
    assert set(OPERATIONS) == set(leaves(Binary))
    assert [OPERATORS[cls.sign] for cls in OPERATIONS] == list(OPERATIONS.values())
    assert sorted(cls.sign for cls in OPERATIONS) == sorted(OPERATORS)


def test_every_operation_has_its_line_in_the_reference_and_in_the_ranges() -> None:
    assert set(BINARY) == set(OPERATIONS)
    assert {*transfer.RULES, *transfer.ANY_VALUE} == set(leaves(Expr))
    assert not set(transfer.RULES) & set(transfer.ANY_VALUE)


def test_every_expression_is_simplified() -> None:
    assert set(SIMPLIFIERS) == set(leaves(Expr)) - {Var, Const}


def test_every_operation_is_compared_with_a_model_and_drawn() -> None:
    assert set(RULES) == set(OPERATIONS) - {Div}
    drawn = {*ARITHMETIC, *RARE, *COMPARES}
    assert drawn == set(OPERATIONS) - {Div, And, Or}
    assert set(operations_on(I64)) == {*INTEGER_OPERATIONS, *Compare.__subclasses__()}
    assert set(INTEGER_OPERATIONS) >= ON_INTEGERS
    assert set(EAGER_BOOL_OPERATIONS) >= ON_BOOLS - {And, Or}


def test_every_class_is_offered_and_described() -> None:
    grammar, meaning = face.__doc__ or "", SEMANTICS.read_text("utf-8").replace("\\", "")
    for cls in (*leaves(Expr), *leaves(Stmt)):
        assert getattr(face, cls.__name__) is cls
        assert cls.__name__ in grammar, f"{cls.__name__} is not in the grammar of irkit.ir"
    for cls in OPERATIONS:
        known = issubclass(cls, Compare) or f"{cls.sign}" in meaning
        assert known, f"docs/semantics.md does not say what {cls.sign} means"


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_operations_accept_the_types_of_their_rows(dtype: DType) -> None:
    """The lists above say once more which operations each type has at least."""
    known = ON_BOOLS if dtype.is_bool else ON_FLOATS if dtype.is_float else ON_INTEGERS
    others = (ON_BOOLS | ON_FLOATS | ON_INTEGERS) - known
    a, b = Var("a", dtype), Var("b", dtype)
    for cls, row in OPERATIONS.items():
        accepted = dtype.kind in row.kinds
        assert accepted or cls not in known
        assert not accepted or cls not in others
        assert accepted or not issubclass(cls, Compare)
        if accepted:
            assert binary(cls, a, b) == cls(a, b, BOOL if issubclass(cls, Compare) else dtype)
        else:
            with pytest.raises(DTypeError, match="is not defined on"):
                binary(cls, a, b)


@pytest.mark.parametrize("cls", OPERATIONS)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_the_text_of_an_operation_is_read_back(cls: type[Binary], dtype: DType) -> None:
    sign, called = cls.sign, OPERATIONS[cls].python is None
    pair = f"{sign}(A[0], A[1])" if called else f"A[0] {sign} A[1]"
    target = BOOL if issubclass(cls, Compare) else dtype
    text = f"def f(A: {dtype}[2], B: {target}[2]):\n    B[0] = {pair}\n"
    if dtype.kind not in OPERATIONS[cls].kinds:
        with pytest.raises(ParseError, match="not defined on"):
            parse(text)
        return
    func = parse(text)
    assert script(func) == text
    assert verify(func) == []


@pytest.mark.parametrize("cls", OPERATIONS)
def test_nested_operations_keep_their_order(cls: type[Binary]) -> None:
    """Parentheses stand exactly where Python's own grammar needs them."""
    row = OPERATIONS[cls]
    dtype = next(each for each in (I64, F32, BOOL) if each.kind in row.kinds)
    if issubclass(cls, Compare):
        dtype = BOOL
    names = [Var(name, dtype) for name in "abc"]
    for inner in operations_on(dtype):
        for swap in (False, True):
            part = binary(inner, names[0], names[1])
            if part.dtype != dtype:
                continue
            made = binary(cls, names[2], part) if swap else binary(cls, part, names[2])
            text = script(made)
            tree = ast.parse(text, mode="eval").body
            assert ast.unparse(tree) == text or cls in (And, Or) or inner in (And, Or), text


@pytest.mark.parametrize("cls", OPERATIONS)
def test_operands_change_places_where_the_row_allows_it(cls: type[Binary]) -> None:
    row = OPERATIONS[cls]
    for dtype in (each for each in TYPES if each.kind in row.kinds):
        same = all(
            result(cls, a, b, dtype) == result(cls, b, a, dtype)
            for a, b in product(values(dtype), repeat=2)
        )
        # The operands of ``and`` and ``or`` are not evaluated in any order.
        assert same == (row.commutes or cls in (And, Or)), dtype


@pytest.mark.parametrize("cls", OPERATIONS)
def test_the_operations_that_have_an_identity_declare_it(cls: type[Binary]) -> None:
    """An operation on integers or bools that takes values in any order, and has a value that
    changes nothing, is a reduction."""
    for dtype in (each for each in (BOOL, I8) if each.kind in OPERATIONS[cls].kinds):
        some = [*values(dtype), *(() if dtype.is_bool else (-1,))]
        pairs = list(product(some, repeat=2))
        swaps = all(result(cls, a, b, dtype) == result(cls, b, a, dtype) for a, b in pairs)
        neutral = [e for e in some if all(result(cls, e, x, dtype) == x for x in some)]
        regroups = not issubclass(cls, Compare) and all(
            fold(binary(cls, fold_of(cls, a, b, dtype), const(c, dtype)))
            == fold(binary(cls, const(a, dtype), fold_of(cls, b, c, dtype)))
            for a, b, c in product(some, repeat=3)
        )
        declared = OPERATIONS[cls].identity is not None
        assert declared == (swaps and regroups and bool(neutral)), dtype


def fold_of(cls: type[Binary], a: Scalar, b: Scalar, dtype: DType) -> Expr:
    found = fold(binary(cls, const(a, dtype), const(b, dtype)))
    assert found is not None
    return found
