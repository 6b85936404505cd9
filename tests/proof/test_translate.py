"""The translation of expressions to z3 has the meaning that the interpreter gives them."""

import random
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np
import pytest

from irkit.core import rewrite
from irkit.fuzz.generators.expressions import ExprMaker, ReadableBuffer
from irkit.fuzz.picks import picks_of
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
    OPERATIONS,
    U8,
    U16,
    U32,
    U64,
    Broadcast,
    Buffer,
    Call,
    Cast,
    Compare,
    Conditional,
    Const,
    DType,
    Expr,
    Neg,
    Not,
    Ramp,
    Select,
    Var,
    evaluate,
    numpy_dtype,
    script,
)
from irkit.proof.bit_vectors import BitVectors
from irkit.proof.floats import bits_of, number_of
from irkit.proof.integers import Integers
from irkit.proof.translate import Translation
from tests.draws import sampled

z3: Any = pytest.importorskip("z3")

INTEGERS = (I8, I16, I32, I64, U8, U16, U32, U64)
FLOATS = (F16, BF16, F32, F64)
ALGEBRAS = (BitVectors, Integers)


class Translated:
    """An expression in one algebra, which can be computed for values of its variables."""

    def __init__(self, expr: Expr, algebra: Callable[[Any], Any], lanes: int = 1) -> None:
        context = z3.Context()
        self.expr = expr
        self.translation = Translation(algebra(context), context, {}, lanes)
        self.term = self.translation.term(expr)
        self.exact = not self.translation.abstract

    def at(self, values: dict[Var, Any], lane: int = 0) -> Any:
        """Return the value of the expression, at a lane of a vector."""
        made = self.translation
        given = [
            (made.variables[var], made._value(made.constant(value, var.dtype), var.dtype))
            for var, value in values.items()
            if var in made.variables
        ]
        if made.lane is not None:
            given.append((made.lane, made._value(made.constant(lane, U16), U16)))
        found = z3.simplify(z3.substitute(self.term, *given))
        dtype = self.expr.dtype.element
        if dtype.is_bool:
            assert z3.is_true(found) or z3.is_false(found), found
            return z3.is_true(found)
        if dtype.is_float:
            return number_of(found.as_long(), dtype)
        return made.algebra.read(found, dtype)


def interpreted(expr: Expr, values: dict[Var, Any], lane: int = 0) -> Any:
    found = evaluate(expr, values)
    found = found[lane] if expr.dtype.lanes > 1 else found
    return float(found) if expr.dtype.is_float else found.item()


def agree(made: Translated, values: dict[Var, Any], lane: int = 0) -> None:
    found, expected = made.at(values, lane), interpreted(made.expr, values, lane)
    dtype = made.expr.dtype.element
    same = found == expected
    if dtype.is_float:
        nan = found != found and expected != expected
        same = nan or bits_of(found, dtype) == bits_of(expected, dtype)
    shown = {var.name: value for var, value in values.items()}
    assert same, f"{script(made.expr)} at {shown} is {expected}, translated {found}"


def edges(dtype: DType) -> list[Any]:
    if dtype.is_bool:
        return [False, True]
    if dtype.is_float:
        tiny = number_of(1, dtype)
        top = np.inf
        return [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, tiny, -tiny, top, -top, float("nan")]
    near = [dtype.low, dtype.low + 1, dtype.high - 1, dtype.high, dtype.high // 2 + 1]
    small = [-3, -2, -1, 0, 1, 2, 3, 5, dtype.bits - 1, dtype.bits, dtype.bits + 1]
    return sorted({value for value in (*near, *small) if dtype.low <= value <= dtype.high})


def operations() -> Iterator[tuple[str, DType, Expr, list[Var]]]:
    """Yield every operation and intrinsic function on variables of every type it accepts."""
    for dtype in (BOOL, *INTEGERS, *FLOATS):
        x, y, c = Var("x", dtype), Var("y", dtype), Var("c", BOOL)
        for cls, row in OPERATIONS.items():
            if dtype.kind in row.kinds:
                result = BOOL if issubclass(cls, Compare) else dtype
                yield row.sign, dtype, cls(x, y, result), [x, y]
        for name, row in INTRINSICS.items():
            if row.arity and row.gives != "none" and row.accepts(dtype) and row.arity <= 2:
                args = (x, y)[: row.arity]
                yield name, dtype, Call(name, args, row.result(dtype)), list(args)
        if not dtype.is_float:
            yield "not", dtype, Not(x, dtype), [x]
        if not dtype.is_bool:
            yield "neg", dtype, Neg(x, dtype), [x]
        for target in (BOOL, *INTEGERS, *FLOATS):
            if target != dtype:
                yield f"to {target}", dtype, Cast(x, target), [x]
        yield "select", dtype, Select(c, x, y, dtype), [c, x, y]
        yield "if", dtype, Conditional(c, x, y, dtype), [c, x, y]


def tuples(variables: list[Var]) -> Iterator[dict[Var, Any]]:
    columns: list[dict[Var, Any]] = [{}]
    for var in variables:
        columns = [{**row, var: value} for row in columns for value in edges(var.dtype)]
    yield from columns


CASES = list(operations())


@pytest.mark.parametrize("dtype", sampled([BOOL, I8, U8, I64, U64, F16], every=2), ids=str)
def test_every_operation_agrees_with_the_interpreter_at_the_edges(dtype: DType) -> None:
    compare_operations(dtype, BitVectors, every=5)
    if not dtype.is_float:
        compare_operations(dtype, Integers, every=7)


@pytest.mark.long
@pytest.mark.parametrize("algebra", ALGEBRAS)
@pytest.mark.parametrize("dtype", [BOOL, *INTEGERS, *FLOATS], ids=str)
def test_every_operation_agrees_at_all_edges(dtype: DType, algebra: Callable[[Any], Any]) -> None:
    compare_operations(dtype, algebra, every=1)


def compare_operations(dtype: DType, algebra: Callable[[Any], Any], every: int) -> None:
    exact = 0
    for _, kind, expr, variables in CASES:
        if kind == dtype:
            made = Translated(expr, algebra)
            exact += made.exact
            if made.exact:
                for values in islice(tuples(variables), 0, None, every):
                    agree(made, values)
    assert exact >= (10 if dtype.is_float else 15)


def test_only_these_operations_have_no_exact_meaning() -> None:
    missing: dict[str, set[str]] = {}
    for name, dtype, expr, _ in CASES:
        if not Translated(expr, BitVectors).exact:
            missing.setdefault(name, set()).add(str(dtype))
    of_integers = {name: found for name, found in missing.items() if found - {*map(str, FLOATS)}}
    assert of_integers.pop("pow") == {
        *(str(dtype) for dtype in (I16, I32, I64, U16, U32, U64)),
        *map(str, FLOATS),
    }
    assert all(name.startswith("to ") for name in of_integers), of_integers


@pytest.mark.parametrize("algebra", ALGEBRAS)
@pytest.mark.parametrize("lanes", [4, 300])
def test_lanes_agree_with_the_interpreter(algebra: Callable[[Any], Any], lanes: int) -> None:
    for dtype in (I8, U8, U16, I64):
        x, s = Var("x", dtype), Var("s", dtype)
        wide = dtype.with_lanes(lanes)
        expr = Ramp(x, s, wide) * Ramp(s, x, wide) // Broadcast(x, wide)
        made = Translated(expr, algebra, lanes)
        for values in islice(tuples([x, s]), 0, None, 3):
            for lane in (0, 1, lanes - 1):
                agree(made, values, lane)


def constants(root: Expr, rng: random.Random) -> Expr:
    """Replace small constants by others, up to the edges of their types."""

    def other(node: Const) -> Expr | None:
        if not node.dtype.is_integer or rng.random() < 0.6:
            return None
        return Const(rng.choice(edges(node.dtype)), node.dtype)

    return rewrite(root, other, on=Const)


@pytest.mark.parametrize("algebra", ALGEBRAS)
def test_drawn_expressions_agree_with_the_interpreter(algebra: Callable[[Any], Any]) -> None:
    drawn(algebra, range(40))


@pytest.mark.long
@pytest.mark.parametrize("algebra", ALGEBRAS)
def test_many_drawn_expressions_agree_with_the_interpreter(algebra: Callable[[Any], Any]) -> None:
    drawn(algebra, range(100, 6000))


def drawn(algebra: Callable[[Any], Any], seeds: range) -> None:
    compared = 0
    for seed in seeds:
        rng = random.Random(seed)
        dtype = INTEGERS[seed % len(INTEGERS)]
        integers = [Var(name, I64) for name in "ijk"]
        maker = ExprMaker(picks_of(seed), integers, list[ReadableBuffer]())
        expr = constants(maker.value(dtype, 3), rng)
        made = Translated(expr, algebra)
        if not made.exact:
            continue
        for _ in range(4):
            agree(made, {var: rng.choice(edges(I64)) for var in integers})
            compared += 1
    assert compared > len(seeds)


def test_a_planted_fault_of_the_translation_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = BitVectors._divided_by

    def wrong(self: BitVectors, cls: Any, a: Any, by: int, dtype: DType) -> Any:
        return a / self.number(by, dtype) if by == 7 else right(self, cls, a, by, dtype)

    monkeypatch.setattr(BitVectors, "_divided_by", wrong)
    x = Var("x", I8)
    with pytest.raises(AssertionError, match="translated"):
        agree(Translated(x // 7, BitVectors), {x: -1})


def test_numpy_agrees_on_the_bits_of_floats() -> None:
    for dtype in FLOATS:
        for value in edges(dtype):
            array = np.array([value], numpy_dtype(dtype))
            assert bits_of(array[0], dtype) == int(array.view(f"u{dtype.bytes}")[0])


def test_buffers_are_functions_of_their_indices() -> None:
    i = Var("i")
    table = Buffer("table", (Const(8, I64),), I32)
    one = Translated(table[i + 1 - 1] - table[i], BitVectors)
    solver = z3.Solver(ctx=one.translation.context)
    solver.add(one.term != 0)
    assert solver.check() == z3.unsat
