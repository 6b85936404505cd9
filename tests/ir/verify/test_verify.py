"""The verifier: valid functions, and the sentence for each mistake."""

from collections.abc import Callable

import pytest

from irkit.ir import (
    BOOL,
    F32,
    I32,
    I64,
    Add,
    Allocate,
    And,
    Assert,
    Broadcast,
    Buffer,
    Call,
    Cast,
    Conditional,
    Const,
    Div,
    Expr,
    For,
    If,
    Let,
    Load,
    Neg,
    Not,
    PrimFunc,
    Ramp,
    Select,
    Seq,
    Shl,
    Stmt,
    Store,
    Var,
    View,
    parse,
    verify,
)
from tests.depth import DEEP
from tests.ir.blocks import BLOCK, VALID

OUT = Buffer("C", (Const(8, I64),), F32)
I = Var("i")  # noqa: E741
ONE, ZERO = Const(1, I64), Const(0, I64)
HALF, TRUE, SHORT = Const(0.5, F32), Const(True, BOOL), Const(1, I32)
F4 = F32.with_lanes(4)
I4 = I64.with_lanes(4)


def sentences(body: Stmt) -> list[str]:
    return [problem.message for problem in verify(PrimFunc("f", (OUT,), body))]


def store(value: Expr, index: Expr = ZERO) -> Store:
    return Store(OUT, (index,), value)


def loop(body: Stmt, **changes: object) -> For:
    return For(I, ZERO, ONE, body).replace(**changes)


def test_a_valid_function_has_no_problems() -> None:
    func = parse(
        "def f(A: f32[m, n], x: i64):\n"
        "    for i in parallel(0, m):\n"
        "        for j in vectorized(0, n):\n"
        "            A[i, j] = (A[i, j] if j < x else f32(0.0))\n"
    )
    assert verify(func) == []


@pytest.mark.parametrize(
    ("expr", "claim"),
    [
        (Add(ONE, SHORT, I64), "the operands of '+' have types i64 and i32"),
        (Add(ONE, ONE, I32), "'+' has type i32; expected i64 from its operands"),
        (Add(TRUE, TRUE, BOOL), "'+' is not defined on bool"),
        (Div(ONE, ONE, I64), "'/' is not defined on i64"),
        (Shl(HALF, HALF, F32), "'<<' is not defined on f32"),
        (And(ONE, ONE, I64), "'and' is not defined on i64"),
        (Not(HALF, F32), "Not is not defined on f32"),
        (Neg(TRUE, BOOL), "Neg is not defined on bool"),
        (Neg(ONE, I32), "Neg has type i32"),
        (Cast(ONE, F4), "changes the number of lanes"),
        (Select(ONE, HALF, HALF, F32), "the condition of Select has type i64"),
        (Select(TRUE, HALF, ONE, F32), "have types f32 and i64"),
        (Select(TRUE, Broadcast(HALF, F4), Broadcast(HALF, F4), F4), "has 1 lanes, its sides 4"),
        (Conditional(TRUE, HALF, HALF, I32), "Conditional has type i32"),
        (Call("nope", (HALF,), F32), "no intrinsic function 'nope'"),
        (Call("exp", (), F32), "exp takes 1 arguments, found 0"),
        (Call("exp", (ONE,), I64), "exp is not defined on i64"),
        (Call("pow", (ONE, SHORT), I64), "the arguments of pow have types i64 and i32"),
        (Load(OUT, (ZERO, ZERO), None, F32), "has 1 dimensions, but 2 indices"),
        (Load(OUT, (HALF,), None, F32), "expected an integer"),
        (Load(OUT, (ZERO,), None, I64), "Load has type i64"),
        (Load(OUT, (Ramp(ZERO, ONE, I4),), TRUE, F4), "has type bool; expected boolx4"),
        (Ramp(ZERO, ONE, I64), "a ramp needs two or more lanes"),
        (Broadcast(HALF, F32), "a broadcast needs two or more lanes"),
        (Ramp(HALF, HALF, F4), "a ramp needs two scalar integers"),
        (Broadcast(Broadcast(HALF, F4), F4), "a broadcast needs a scalar"),
        (Const(1 << 40, I32), "is out of range for i32"),
        (Const(1, F32), "holds a Python int"),
        (Const(True, I64), "holds a Python bool"),
        (Const(0.5, F4), "a constant must be a scalar"),
        (Var("x"), "variable 'x' is used but bound nowhere before"),
        (Buffer("B", (ONE,), F32)[0], "buffer 'B' is used but bound nowhere before"),
    ],
)
def test_an_ill_typed_expression_is_one_sentence(expr: Expr, claim: str) -> None:
    (found,) = sentences(Let(Var("v", expr.dtype), expr, Seq(())))
    assert claim in found


T = Buffer("T", (ONE,), F32)


@pytest.mark.parametrize(
    ("make", "claim"),
    [
        (lambda: store(ONE), "a i64 is stored in buffer 'C'; expected f32"),
        (lambda: Store(OUT, (), HALF), "has 1 dimensions, but 0 indices"),
        (lambda: loop(loop(Seq(()))), "variable 'i' is bound a second time"),
        (lambda: Seq((loop(Seq(())), store(HALF, I))), "'i' is used outside of its scope"),
        (lambda: loop(Seq(()), end=SHORT), "runs from i64 to i32"),
        (lambda: loop(Seq(()), begin=HALF, end=HALF), "expected a scalar integer"),
        (lambda: loop(Seq(()), kind="odd"), "loop 'i' is 'odd'"),
        (lambda: loop(Seq(()), kind="thread", thread="t"), "has thread axis 't'"),
        (lambda: loop(Seq(()), thread="threadIdx.x"), "is serial, so it has no thread axis"),
        (lambda: loop(Seq(()), attrs=(("a", 1), ("a", 2))), "attribute 'a' is given twice"),
        (lambda: loop(Seq(()), attrs=(("a", [1]),)), "attribute 'a' holds a list"),
        (lambda: If(ONE, Seq(())), "the condition of an if has type i64"),
        (lambda: Assert(ONE, ""), "the condition of an assertion has type i64"),
        (lambda: Let(I, HALF, Seq(())), "variable 'i' has type i64, its value f32"),
        (lambda: Seq((store(HALF),)), "build it with seq()"),
        (lambda: Allocate(T.replace(align=3), Seq(())), "expected a power of two"),
        (lambda: Allocate(T.replace(strides=()), Seq(())), "has 1 dimensions and 0 strides"),
        (lambda: Allocate(T.replace(shape=(HALF,)), Seq(())), "expected a scalar integer"),
        (lambda: View(T.replace(dtype=I64), OUT, ZERO, Seq(())), "its source f32"),
        (lambda: View(T, T, ZERO, Seq(())), "buffer 'T' is used but bound nowhere before"),
    ],
)
def test_a_wrong_statement_is_one_sentence(make: Callable[[], Stmt], claim: str) -> None:
    found = sentences(make())
    assert any(claim in sentence for sentence in found)
    assert len(found) <= 3


@pytest.mark.parametrize(
    ("place", "text", "claim"),
    [
        ("extent", "f32(8.0)", "the extent of axis 'v' of block 'A' has type f32"),
        ("binding", "cast(i, f32)", "the binding of axis 'v' of block 'A' has type f32"),
        ("where", "i", "the predicate of block 'A' has type i64"),
        ("reads", "A[0:8, 0:8]", "does not have 1 dimensions"),
    ],
)
def test_a_wrong_block_is_one_sentence(place: str, text: str, claim: str) -> None:
    assert verify(parse(BLOCK.format(**VALID))) == []
    found, *_ = verify(parse(BLOCK.format(**{**VALID, place: text})))
    assert claim in found.message


def test_a_variable_is_bound_where_it_is_a_whole_dimension() -> None:
    n = Var("n")
    body = Seq(())
    alone = PrimFunc("f", (Buffer("A", (n,), F32), Buffer("B", (n + 1,), F32)), body)
    assert verify(alone) == []
    (found,) = verify(PrimFunc("f", (Buffer("B", (n + 1,), F32),), body))
    assert "variable 'n' is used but bound nowhere before" in found.message


def test_a_problem_names_its_line() -> None:
    func = parse("def f(A: f32[8]):\n    A[0] = f32(0.0)\n    A[1] = i64(1)\n", file="a.irs")
    assert [str(found) for found in verify(func)] == [
        "a.irs:3: a i64 is stored in buffer 'A'; expected f32"
    ]


def test_a_deep_function_is_verified_and_problems_are_bounded() -> None:
    expr: Expr = I
    for _ in range(DEEP):
        expr = expr + 1
    body: Stmt = store(HALF, expr)
    assert sentences(loop(body)) == []
    for _ in range(DEEP):
        body = If(TRUE, body)
    assert sentences(loop(body)) == []
    assert len(sentences(Seq(tuple(store(ONE) for _ in range(1000))))) == 100


def nested(axis: str, extent: int) -> list[str]:
    text = f"""\
def f(A: f32[4]):
    for i in thread(0, 4, "{axis}"):
        for j in thread(0, {extent}, "{axis}"):
            A[j] = f32(1.0)
"""
    return [found.message for found in verify(parse(text))]


def test_a_loop_inside_another_of_its_thread_axis_has_as_many_threads() -> None:
    assert nested("threadIdx.x", 4) == []
    assert nested("vthread.x", 3) == []
    (found,) = nested("threadIdx.x", 3)
    assert "runs over 3 threads of threadIdx.x, the loop around it over 4" in found


def test_a_loop_over_blocks_must_not_be_inside_another_of_its_axis() -> None:
    (found,) = nested("blockIdx.x", 4)
    assert "uses thread axis 'blockIdx.x', which a loop around it uses already" in found


def test_a_barrier_must_not_be_in_an_unordered_loop_inside_its_nest() -> None:
    text = """\
def f(A: f32[4]):
    for p in parallel(0, 2):
        for i in thread(0, 4, "threadIdx.x"):
            for j in serial(0, 4):
                evaluate(barrier())
"""
    assert verify(parse(text)) == []
    (found,) = verify(parse(text.replace("serial", "parallel")))
    assert "a barrier stands in the parallel loop 'j'" in found.message
