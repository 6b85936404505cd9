"""The emitter handles every node, and deep, shared and hostile programs."""

import subprocess
import sys

import numpy as np
import pytest

from irkit import ir
from irkit.codegen import complete_target, emit, host_target
from irkit.codegen.llvm.expressions.expressions import EMIT
from irkit.codegen.llvm.statements.statements import STATEMENTS
from irkit.core import IRKitError, Target
from irkit.ir import (
    F32,
    F64,
    I64,
    INTRINSICS,
    Add,
    Buffer,
    Call,
    Const,
    Expr,
    For,
    If,
    Let,
    PrimFunc,
    Seq,
    Stmt,
    Store,
    Var,
    call,
    if_then_else,
    index,
    interpret,
    logical_and,
    lt,
    ramp,
    seq,
)
from tests.codegen.llvm.cases import compiled
from tests.depth import DEEP, DEPTHS
from tests.ir.classes import leaves


@pytest.mark.parametrize("cls", leaves(Expr))
def test_every_expression_has_code(cls: type[Expr]) -> None:
    assert cls in EMIT


@pytest.mark.parametrize("cls", leaves(Stmt))
def test_every_statement_has_code(cls: type[Stmt]) -> None:
    assert cls in STATEMENTS


@pytest.mark.parametrize("name", [row.name for row in INTRINSICS.values() if row.on != "effect"])
def test_every_intrinsic_has_code(name: str) -> None:
    row, kind = INTRINSICS[name], I64 if INTRINSICS[name].on == "integer" else F64
    a, c = Buffer("A", (index(3),), kind), Buffer("C", (index(1),), I64)
    value = call(name, *(a[index(place)] for place in range(row.arity)))
    store = Store(c, (index(0),), ir.cast(value, I64))
    assert "define i32 @f(" in emit([PrimFunc("f", (a, c), store)], host_target())


C = Buffer("C", (index(4),), F32)
ZERO = (index(0),)


@pytest.mark.parametrize("depth", DEPTHS)
def test_a_deep_sum_is_emitted(depth: int) -> None:
    value: Expr = C[index(1)]
    for step in range(depth):
        value = value + float(step % 3) if step % 2 else float(step % 5) - value
    text = emit([PrimFunc("f", (C,), Store(C, ZERO, value))], host_target())
    assert text.count("fadd") + text.count("fsub") == depth


@pytest.mark.parametrize("depth", DEPTHS)
def test_deep_conditionals_are_emitted(depth: int) -> None:
    value: Expr = C[index(1)]
    for step in range(depth):
        value = if_then_else(lt(C[index(2)], float(step)), value, C[index(3)])
    assert emit([PrimFunc("f", (C,), Store(C, ZERO, value))], host_target()).count("phi") == depth
    cond: Expr = lt(C[index(2)], 0.0)
    for _ in range(depth):
        cond = logical_and(cond, lt(C[index(1)], 1.0))
    body = If(cond, Store(C, ZERO, C[index(1)]))
    assert emit([PrimFunc("f", (C,), body)], host_target()).count("phi") == depth


@pytest.mark.parametrize("depth", DEPTHS)
def test_deep_statements_are_written(depth: int) -> None:
    body: Stmt = Store(C, ZERO, C[index(1)])
    for step in range(depth):
        body = If(lt(C[index(2)], 1.0), body) if step % 2 else Let(Var("t"), index(step), body)
    emit([PrimFunc("f", (C,), body)], host_target())


def nested(depth: int) -> PrimFunc:
    body: Stmt = Store(C, ZERO, C[index(1)])
    for _ in range(depth):
        body = For(Var("i"), index(0), index(1), body)
    return PrimFunc("f", (C,), body)


def test_deeply_nested_loops_compile_without_optimisation_or_are_rejected() -> None:
    assert "optnone" not in emit([nested(128)], host_target()).split("attributes")[0]
    got = np.arange(4, dtype="f4")
    compiled([nested(200)], Target())["f"](got)
    assert got[0] == 1
    with pytest.raises(IRKitError, match="nested 513 deep; code can be made for at most 512"):
        emit([nested(DEEP)], host_target())


def test_a_shared_subexpression_is_computed_once() -> None:
    value: Expr = C[index(1)]
    for _ in range(60):
        value = value * value
    text = emit([PrimFunc("f", (C,), Store(C, ZERO, value))], host_target())
    assert text.count("fmul") == 60


def test_a_value_of_a_branch_is_not_used_outside_of_it() -> None:
    shared = C[index(1)] * 3.0
    once = if_then_else(lt(C[index(2)], 0.5), shared, C[index(3)])
    func = PrimFunc("f", (C,), Store(C, ZERO, Add(once, shared, F32)))
    for third in (0.0, 1.0):
        got, want = (np.array([0, 2, third, 7], "f4") for _ in range(2))
        compiled([func])["f"](got)
        interpret(func, want)
        assert got.tolist() == want.tolist()


def test_sharing_across_branches_ends_with_an_error_not_with_all_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("irkit.codegen.llvm.builder.text.MAX_LINES", 20_000)
    value: Expr = C[index(1)]
    for step in range(64):
        value = if_then_else(lt(C[index(2)], float(step)), value + 1.0, value * 2.0)
    with pytest.raises(IRKitError, match="more than 20000 values"):
        emit([PrimFunc("f", (C,), Store(C, ZERO, value))], host_target())


def test_a_value_loaded_before_a_store_is_not_reused_after_it() -> None:
    double = C[index(0)] * 2.0
    func = PrimFunc("f", (C,), Seq((Store(C, ZERO, double), Store(C, ZERO, double))))
    got = np.ones(4, "f4")
    compiled([func])["f"](got)
    assert got[0] == 4


@pytest.mark.parametrize(
    "name", ["expf", "memset", "malloc", "a b", 'q"\\', "Ünï/7", "main", "", "irkit.call.f", "0"]
)
def test_any_name_is_a_function_name(name: str) -> None:
    i = Var("i")
    fill = For(i, index(0), index(4), Store(C, (i,), Const(0.0, F32)))
    func = PrimFunc(name, (C,), seq(fill, Store(C, ZERO, call("exp", C[index(1)]))))
    got = np.ones(4, "f4")
    compiled([func], Target(opt_level=3))[name](got)
    assert got.tolist() == [1, 0, 0, 0]


def test_two_functions_of_one_name_are_rejected() -> None:
    func = PrimFunc("f", (C,), Store(C, ZERO, C[index(1)]))
    with pytest.raises(IRKitError, match="two functions of a module are called 'f'"):
        emit([func, func], host_target())


def test_unbound_symbols_are_rejected() -> None:
    with pytest.raises(IRKitError, match="variable 'x' is not bound where it is used"):
        emit([PrimFunc("f", (C,), Store(C, (Var("x"),), C[index(1)]))], host_target())
    with pytest.raises(IRKitError, match="buffer 'C' is not defined where it is used"):
        emit([PrimFunc("f", (), Store(C, ZERO, Const(1.0, F32)))], host_target())


def test_an_unknown_intrinsic_is_rejected() -> None:
    wrong = Call("nonsense", (C[index(1)],), F32)
    with pytest.raises(IRKitError, match="no code for the intrinsic 'nonsense'"):
        emit([PrimFunc("f", (C,), Store(C, ZERO, wrong))], host_target())


def test_division_never_traps() -> None:
    code = (
        "import numpy as np\n"
        "from tests.codegen.llvm.arithmetic.test_arithmetic import *\n"
        "kind = dtype('i32')\n"
        "inputs = crossed(np.array([-2**31, -1, 0, 5], 'i4'), 2)\n"
        "f = elementwise('f', [kind] * 2, len(inputs[0]), lambda a, b: a // b + a % b)\n"
        "compiled([f])['f'](*inputs, np.zeros(16, 'i4'))\n"
        "print('alive')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "alive\n", done.stderr


def test_contraction_can_be_switched_off() -> None:
    value = C[index(1)] * C[index(2)] + C[index(3)]
    func = PrimFunc("f", (C,), Store(C, ZERO, value))
    target = complete_target(Target())
    assert "fmul contract" in emit([func], target)
    assert "contract" not in emit([func.replace(attrs=(("contract", False),))], target)


def test_reassociation_happens_only_where_a_loop_or_function_allows_it() -> None:
    i = Var("i")
    body = Store(C, ZERO, C[index(0)] + C[i])
    loop = For(i, index(0), index(4), body)
    target = complete_target(Target())
    assert "reassoc" not in emit([PrimFunc("f", (C,), loop)], target)
    marked = loop.replace(attrs=(("reassoc", True),))
    after = Store(C, ZERO, C[index(0)] + C[index(1)])
    assert emit([PrimFunc("f", (C,), seq(marked, after))], target).count("reassoc") == 1
    whole = PrimFunc("f", (C,), seq(loop, after), (("reassoc", True),))
    assert emit([whole], target).count("reassoc") == 2


@pytest.mark.long
def test_wide_vectors_compile_and_wider_ones_are_rejected() -> None:
    wide, whole = Buffer("A", (index(1 << 13),), F32), ramp(0, 1, 1024)
    func = PrimFunc("f", (wide,), Store(wide, (whole,), call("sin", call("cos", wide[whole]))))
    got = np.linspace(0, 1, 1 << 13, dtype="f4")
    want = np.sin(np.cos(got[:1024]))
    compiled([func], Target())["f"](got)
    np.testing.assert_allclose(got[:1024], want, rtol=1e-6)
    store = Store(wide, (ramp(0, 1, 8192),), wide[ramp(0, 1, 8192)] * 2.0)
    with pytest.raises(IRKitError, match="at most 4096 lanes"):
        emit([PrimFunc("f", (wide,), store)], host_target())
