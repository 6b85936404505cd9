"""Copies of a body, and rules about statements, visit no more than they must."""

from importlib import import_module

import pytest

from irkit.core import Rules, rewrite, substitute, substitute_each
from irkit.ir import (
    F32,
    I64,
    Buffer,
    Const,
    Evaluate,
    If,
    PrimFunc,
    Seq,
    Stmt,
    Store,
    Var,
    lt,
    script,
    seq,
)
from tests.core.test_rewrite import ONE, TWO, deep, loop


def test_each_of_several_values_is_substituted_as_alone() -> None:
    i, a = Var("i"), Buffer("A", (Const(8, I64),), F32)
    plain = seq(Store(a, (i + 1,), a[ONE]), Store(a, (ONE,), a[i]), Store(a, (TWO,), a[TWO]))
    for body in (plain, seq(plain, loop(plain)), loop(Evaluate(ONE)), Evaluate(ONE)):
        made = substitute_each(body, i, [ONE, TWO])
        alone = [substitute(body, {i: value}) for value in (ONE, TWO)]
        assert [script(each) for each in made] == [script(each) for each in alone]
    first_copy, _ = substitute_each(plain, i, [ONE, TWO])
    assert isinstance(first_copy, Seq)
    assert isinstance(plain, Seq)
    assert first_copy.stmts[2] is plain.stmts[2]


def test_rules_about_statements_visit_no_expression(monkeypatch: pytest.MonkeyPatch) -> None:
    func = PrimFunc("f", (), loop(If(lt(ONE, TWO), Evaluate(deep(10)))))

    def drop(stmt: Evaluate) -> Stmt:
        return seq()

    module = import_module("irkit.core.rewrite")  # A function of that name is in the way.
    monkeypatch.setattr(module, "postorder", lambda root: pytest.fail("visited"))
    assert "pass" in script(rewrite(func, Rules("drop", drop)))
