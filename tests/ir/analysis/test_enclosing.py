"""Paths and dominance, compared with runs of random programs."""

from importlib import import_module

import pytest
from hypothesis import given, settings

from irkit.core import IRKitError, walk
from irkit.ir import (
    I64,
    Allocate,
    Buffer,
    Const,
    For,
    PrimFunc,
    Seq,
    Stmt,
    Store,
    Var,
    enclosing,
    liveness,
    parse,
    script,
    seq,
)
from tests.draws import few_or_all
from tests.ir.analysis.examples import PRECISE
from tests.ir.analysis.execution import Run
from tests.ir.analysis.programs import nests


def check_dominance(func: PrimFunc) -> None:
    known = enclosing(func)
    stmts = list(walk(func.body, Stmt))
    began: dict[Stmt, None] = {}
    refuted: set[tuple[Stmt, Stmt]] = set()
    for stmt, _ in Run(func).started:
        began[stmt] = None
        refuted.update((other, stmt) for other in stmts if other not in began)
    for a in stmts:
        for b in stmts:
            assert not (known.dominates(a, b) and (a, b) in refuted)


@settings(max_examples=few_or_all(24, 60), deadline=None, derandomize=True)
@given(nests())
def test_a_statement_that_dominates_another_began_before_it(func: PrimFunc) -> None:
    check_dominance(func)


def test_a_planted_bug_in_dominance_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    func = parse(PRECISE.replace("serial(0, 64)", "serial(3, 3)"))
    check_dominance(func)
    file = import_module("irkit.ir.analysis.enclosing")
    monkeypatch.setattr(file, "_surely_enters", lambda stmt, number: True)
    again = parse(script(func))
    with pytest.raises(AssertionError):
        check_dominance(again)


def test_a_statement_that_can_be_bypassed_does_not_dominate() -> None:
    func = parse(
        """def f(A: i64[64], n: i64):
    A[0] = 1
    for i in serial(0, n):
        A[1] = 1
    for j in serial(0, 4):
        A[2] = 1
    if n < 3:
        A[3] = 1
    A[4] = 1
"""
    )
    stores = list(walk(func.body, Store))
    known = enclosing(func)
    last = stores[-1]
    assert [known.dominates(store, last) for store in stores] == [True, False, True, False, True]
    assert [len(known.loops(store)) for store in stores] == [0, 1, 1, 0, 0]
    assert known.parent(func.body) is None


def test_a_statement_in_several_places_has_no_place_of_its_own() -> None:
    array = Buffer("A", (Const(8, I64),), I64)
    leaf = Store(array, (Const(0, I64),), Const(0, I64))
    other = Store(array, (Const(1, I64),), Const(0, I64))
    i = Var("i")
    loop = For(i, Const(0, I64), Const(2, I64), seq(leaf, other))
    func = PrimFunc("f", (), Allocate(array, seq(other, loop, leaf)))
    with pytest.raises(IRKitError, match="several times"):
        enclosing(func).path(leaf)
    with pytest.raises(IRKitError, match="not in this function"):
        enclosing(func).path(Seq(()))
    assert not enclosing(func).dominates(other, leaf)
    assert liveness(func).at(leaf) == {array}
