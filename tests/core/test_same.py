import subprocess
import sys

import pytest
from hypothesis import given, settings, strategies as st

from irkit.core import IRModule, Node, Span, equal, fresh, same, structural_hash
from irkit.ir import (
    F32,
    I32,
    I64,
    Add,
    Allocate,
    Buffer,
    Const,
    Evaluate,
    Expr,
    For,
    Load,
    Mul,
    Neg,
    PrimFunc,
    Stmt,
    Store,
    Var,
    seq,
)
from tests.draws import few_or_all

ZERO, EIGHT = Const(0, I64), Const(8, I64)


def copy_function(
    name: str = "f",
    *,
    scope: str = "global",
    attrs: tuple[tuple[str, float], ...] = (),
    swap: bool = False,
) -> PrimFunc:
    """Return ``for i: B[i] = A[i]`` over n elements, with symbols of its own."""
    n, i = Var(name + "n"), Var(name + "i")
    a, b = Buffer(name + "A", (n,), F32, scope), Buffer(name + "B", (n,), F32, scope)
    source, target = (b, a) if swap else (a, b)
    body = Store(target, (i,), Load(source, (i,), None, F32))
    return PrimFunc(name, (a, b), For(i, ZERO, n, body), attrs)


def test_names_of_symbols_and_of_the_function_do_not_count() -> None:
    assert same(copy_function("f"), copy_function("g"))
    assert structural_hash(copy_function("f")) == structural_hash(copy_function("g"))
    assert not equal(copy_function("f"), copy_function("f"))


@pytest.mark.parametrize(
    "other",
    [
        copy_function(scope="local"),
        copy_function(swap=True),
        copy_function(attrs=(("x", 1.0),)),
        copy_function().replace(params=copy_function().params[:1]),
    ],
)
def test_scope_attributes_and_the_roles_of_parameters_count(other: PrimFunc) -> None:
    assert not same(copy_function(), other)
    assert not same(other, copy_function())
    assert structural_hash(copy_function()) != structural_hash(other)


def test_attributes_are_compared_by_type_and_bits() -> None:
    def with_attr(value: float) -> PrimFunc:
        return copy_function(attrs=(("x", value),))

    assert same(with_attr(float("nan")), with_attr(float("nan")))
    for one, other in ((0.0, -0.0), (1, True), (1, 1.0)):
        assert not same(with_attr(one), with_attr(other))
        assert structural_hash(with_attr(one)) != structural_hash(with_attr(other))


def test_spans_do_not_count() -> None:
    one, other = Evaluate(ZERO, span=Span("te", "a")), Evaluate(ZERO)
    assert same(one, other)
    assert equal(one, other)
    assert structural_hash(one) == structural_hash(other)


def test_pairing_is_one_to_one() -> None:
    def nest(use: int) -> Stmt:
        i, j = Var("i"), Var("j")
        inner = For(j, ZERO, EIGHT, Evaluate(Add(i, (i, j)[use], I64)))
        return For(i, ZERO, EIGHT, inner)

    assert same(nest(0), nest(0))
    assert not same(nest(0), nest(1))
    assert not same(nest(1), nest(0))
    assert structural_hash(nest(0)) != structural_hash(nest(1))


def test_free_symbols_must_be_the_very_same() -> None:
    x, y, i = Var("x"), Var("y"), Var("i")
    assert same(Evaluate(Add(x, y, I64)), Evaluate(Add(x, y, I64)))
    assert not same(Evaluate(x), Evaluate(y))
    assert not same(x, y)
    assert not same(Evaluate(x), Evaluate(Var("x")))
    loop = For(i, ZERO, EIGHT, Evaluate(i))
    assert not same(loop, For(Var("j"), ZERO, EIGHT, Evaluate(i)))
    assert not same(For(Var("j"), ZERO, EIGHT, Evaluate(i)), loop)
    assert structural_hash(Evaluate(x)) != structural_hash(Evaluate(y))


def test_buffers_are_compared_by_shape_type_and_strides() -> None:
    def allocate(buffer: Buffer) -> Stmt:
        return Allocate(buffer, Store(buffer, (ZERO,), Const(1, I32)))

    plain = allocate(Buffer("A", (EIGHT,), I32))
    assert same(plain, allocate(Buffer("B", (EIGHT,), I32)))
    for other in (
        Buffer("A", (ZERO,), I32),
        Buffer("A", (EIGHT, EIGHT), I32),
        Buffer("A", (EIGHT,), I64),
        Buffer("A", (EIGHT,), I32, strides=(ZERO,)),
    ):
        assert not same(plain, allocate(other))
        assert structural_hash(plain) != structural_hash(allocate(other))


def test_modules_are_compared_by_name() -> None:
    f, g = copy_function("f"), copy_function("g")
    assert same(IRModule({"a": f}), IRModule({"a": g}))
    assert not same(IRModule({"a": f}), IRModule({"b": f}))
    assert not same(IRModule({"a": f}), f)
    assert structural_hash(IRModule({"a": f})) == structural_hash(IRModule({"a": g}))


def test_sharing_makes_no_difference() -> None:
    x = Var("x")
    shared = Neg(x, I64)
    assert equal(Add(shared, shared, I64), Add(Neg(x, I64), Neg(x, I64), I64))
    twins = Add(Neg(x, I64), Neg(x, I64), I64)
    assert structural_hash(Add(shared, shared, I64)) == structural_hash(twins)


def test_deep_and_shared_trees_are_hashed_in_linear_time() -> None:
    root: Expr = Var("x")
    for _ in range(20_000):
        root = Add(root, root, I64)
    assert len(structural_hash(root)) == 64


def test_the_hash_is_the_same_in_every_process() -> None:
    code = "from tests.core.test_same import *; print(structural_hash(copy_function('q')))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONHASHSEED": "77", "PYTHONPATH": ":".join(sys.path)},
    )
    assert done.stdout.strip() == structural_hash(copy_function())


@st.composite
def trees(draw: st.DrawFn) -> Stmt:
    """Draw loops over a free variable and their own."""
    free = Var("free")

    def stmt(depth: int, scope: list[Var]) -> Stmt:
        kind = draw(st.integers(0, 3 if depth else 0))
        if kind == 1:
            i = Var("i")
            return For(i, ZERO, expr(2, scope), stmt(depth - 1, [*scope, i]))
        if kind == 2:
            return seq(stmt(depth - 1, scope), stmt(depth - 1, scope))
        return Evaluate(expr(2, scope))

    def expr(depth: int, scope: list[Var]) -> Expr:
        kind = draw(st.integers(0, 3 if depth else 1))
        if kind == 0:
            return draw(st.sampled_from(scope))
        if kind == 1:
            return Const(draw(st.integers(0, 1)), I64)
        return (Add, Mul)[kind - 2](expr(depth - 1, scope), expr(depth - 1, scope), I64)

    return PrimFunc("f", (free,), stmt(3, [free])).body


@settings(max_examples=few_or_all(32, 80), derandomize=True, deadline=None)
@given(trees(), trees())
def test_same_hash_and_fresh_agree(a: Stmt, b: Stmt) -> None:
    one: Node = PrimFunc("f", (), a)
    other: Node = PrimFunc("g", (), b)
    assert same(a, fresh(a))
    assert structural_hash(a) == structural_hash(fresh(a))
    assert same(one, other) == same(other, one) == (structural_hash(one) == structural_hash(other))
