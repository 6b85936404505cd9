"""Folding of integer constants, proved from the code that computes it: for all constants, at each
width, the same as the meaning of the operation."""

import importlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from irkit.ir import (
    BOOL,
    EQ,
    GE,
    GT,
    I8,
    I16,
    I32,
    I64,
    LE,
    LT,
    NE,
    U8,
    U16,
    U32,
    U64,
    Buffer,
    Call,
    Const,
    DType,
    Expr,
    Load,
    Ramp,
    Var,
    evaluate,
)
from irkit.ir.arith import fold
from irkit.proof import has_z3
from irkit.proof.bit_vectors import BitVectors
from irkit.proof.translate import Translation
from tests.proof.symbolic import Paths, SymbolicBool, SymbolicInt

pytestmark = pytest.mark.skipif(not has_z3(), reason="z3 is not installed: extra prove")
CODE: dict[str, Any] = vars(importlib.import_module("irkit.ir.arith.fold"))
TYPES = (I8, U8, I16, U16, I32, U32, I64, U64)
UNITS = 12_000_000
"""Work of z3 for one question, in its own units: about 3 seconds."""
BY_VALUES = ("pow", "popcount")
"""Folded by functions of Python that have no symbolic form."""
DIVISIONS = ("FloorDiv", "FloorMod", "truncdiv", "truncmod", "mul_sat")
"""Beyond z3's reach in that work; above 8 bits they are tested at the edges, not proved."""
Fold = Callable[[Any, Any, DType], Any]


def folds(dtype: DType) -> Iterator[tuple[str, Expr, Fold]]:
    """Yield each operation on two unknown integers, with the function that folds it."""
    a, b = Var("a", dtype), Var("b", dtype)
    for cls, integer in CODE["_INTEGER"].items():
        yield cls.__name__, cls(a, b, dtype), integer
    for cls in (EQ, NE, LT, LE, GT, GE):
        compare = CODE["_COMPARE"][cls]
        yield cls.__name__, cls(a, b, BOOL), lambda x, y, _, compare=compare: compare(x, y)
    for name, call in CODE["_INTEGER_CALLS"].items():
        if name not in BY_VALUES:
            binary = name in ("truncdiv", "truncmod", "mul_sat")
            yield name, Call(name, (a, b) if binary else (a,), dtype), call


def differs(node: Expr, dtype: DType, folded: Fold) -> str:
    """Return values for which a fold is not what the operation means, or "unknown", or nothing."""
    paths = Paths(2 * dtype.bits + 4)
    paths.solver.set("rlimit", UNITS)
    z3 = paths.z3
    context = z3.main_ctx()
    translation = Translation(BitVectors(context), context, {}, 1)
    meaning = translation.term(node)
    extend = z3.SignExt if dtype.kind == "i" else z3.ZeroExt
    numbers = [
        SymbolicInt(paths, extend(paths.bits - dtype.bits, term))
        for term in translation.variables.values()
    ]
    unknown = ""
    for found in paths.explore(lambda: folded(numbers[0], numbers[-1], dtype)):
        if isinstance(found, SymbolicBool):
            other = found.term != meaning
        else:
            low = z3.Extract(dtype.bits - 1, 0, paths.number(found))
            other = low != meaning
        told = paths.solver.check(other)
        if told == z3.sat:
            return str(paths.solver.model())
        unknown = unknown if told == z3.unsat else "unknown"
    return unknown


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_folds_mean_what_the_operation_means(dtype: DType) -> None:
    found = {
        name: differs(node, dtype, folded)
        for name, node, folded in folds(dtype)
        if name not in DIVISIONS
    }
    assert {name: each for name, each in found.items() if each} == {}
    assert len(found) > 15


@pytest.mark.parametrize("dtype", [I8, U8], ids=str)
def test_the_others_are_tried_for_all_constants_of_8_bits(dtype: DType) -> None:
    values = np.arange(dtype.low, dtype.high + 1).astype(f"{dtype.kind}1")
    wide = dtype.with_lanes(len(values))
    lanes = Ramp(Const(0, I64), Const(1, I64), I64.with_lanes(len(values)))
    left, right_sides = (Buffer(name, (Const(256, I64),), dtype) for name in "xy")
    x, y = (Load(each, (lanes,), None, wide) for each in (left, right_sides))
    a, b = Var("a", dtype), Var("b", dtype)
    nodes = {name: node for name, node, _ in folds(dtype) if name in DIVISIONS}
    nodes["pow"] = Call("pow", (a, b), dtype)
    for name, node in nodes.items():
        vector = _with(node, x, y).replace(dtype=wide)
        for right in values[:: 5 if name == "pow" else 1]:
            given = np.full(len(values), right, values.dtype)
            expected = evaluate(vector, {left: values, right_sides: given}).tolist()
            divisor = Const(int(right), dtype)
            found = [_folded(node, Const(value, dtype), divisor) for value in values.tolist()]
            assert found == expected, (name, right)
    expected = evaluate(Call("popcount", (x,), wide), {left: values}).tolist()
    counts = [fold(Call("popcount", (Const(v, dtype),), dtype)) for v in values.tolist()]
    assert [each.value for each in counts if isinstance(each, Const)] == expected


def _folded(node: Expr, a: Const, b: Const) -> object:
    made = fold(_with(node, a, b))
    return made.value if isinstance(made, Const) else None


def _with(node: Expr, a: Expr, b: Expr) -> Expr:
    return node.replace(args=(a, b)) if isinstance(node, Call) else node.replace(a=a, b=b)


def test_a_wrong_fold_is_refuted() -> None:
    a, b = Var("a", I64), Var("b", I64)
    arithmetic = {name: node for name, node, _ in folds(I64)}
    assert differs(arithmetic["Sub"], I64, lambda x, y, _: y - x)
    assert differs(LT(a, b, BOOL), I64, lambda x, y, _: x <= y)
    assert differs(arithmetic["Max"], I64, lambda x, y, _: min(x, y))
