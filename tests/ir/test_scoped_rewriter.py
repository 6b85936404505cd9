from hypothesis import given, settings

from irkit.core import deep_recursion, equal, walk
from irkit.fuzz import prim_funcs
from irkit.ir import (
    BOOL,
    I64,
    Const,
    Evaluate,
    Expr,
    For,
    If,
    Let,
    PrimFunc,
    Rewriter,
    Seq,
    Stmt,
    Store,
    Var,
    conjuncts,
    ge,
    logical_and,
    lt,
    parse,
    replace_stmts,
    script,
    seq,
)
from tests.depth import DEEP
from tests.draws import few_or_all

NEST = """def f(A: f32[n], C: f32[n], m: i64):
    for i in serial(m, n):
        if i < 5 and A[i] < f32(1.0):
            C[i] = A[i]
        else:
            k: i64 = i + 1
            C[k] = A[k]
"""


@settings(max_examples=few_or_all(12, 30), deadline=None, derandomize=True)
@given(prim_funcs())
def test_a_rewriter_that_changes_nothing_returns_the_same_function(func: PrimFunc) -> None:
    assert Rewriter(func).run() is func


class Watch(Rewriter):
    """Records what is known at each store."""

    def __init__(self, func: PrimFunc) -> None:
        super().__init__(func)
        self.seen: list[tuple[list[Expr], list[str]]] = []

    def visit(self, stmt: Stmt) -> Stmt:
        if isinstance(stmt, Store):
            self.seen.append(([*self.facts], [type(s).__name__ for s in self.around]))
        return super().visit(stmt)


def test_conditions_and_limits_are_known_where_they_hold_except_those_that_read_memory() -> None:
    func = parse(NEST)
    watch = Watch(func)
    watch.run()
    (loop,) = walk(func.body, For)
    limits = [lt(loop.var, loop.end), ge(loop.var, loop.begin)]
    (then, path), (otherwise, other) = watch.seen
    assert [*map(equal, then, [*limits, lt(loop.var, 5)])] == [True] * 3
    assert [*map(equal, otherwise, limits)] == [True] * 2  # The negation reads memory.
    assert (len(then), len(otherwise)) == (3, 2)
    assert path == ["For", "If"]
    assert other == ["For", "If", "Let"]
    assert watch.facts == watch.around == []


class Inline(Rewriter):
    """Replaces let variables by their values."""

    def visit(self, stmt: Stmt) -> Stmt:
        match self.own(stmt):
            case Let(var, value, body):
                self.values[var] = value
                return self.visit(body)
            case other:
                return self.below(other)


def test_values_replace_variables_whose_binder_is_left_out() -> None:
    text = script(Inline(parse(NEST)).run())
    assert "C[i + 1] = A[i + 1]" in text
    assert "k" not in text


def test_deep_nests_are_rewritten_inside_the_guard() -> None:
    body: Stmt = Evaluate(Const(1, I64))
    for n in range(DEEP):
        i = Var("i")
        body = For(i, Const(0, I64), Const(2, I64), body) if n % 2 else If(Var("b", BOOL), body)
    func = PrimFunc("f", (), body)
    with deep_recursion:
        assert Rewriter(func).run() is func


def test_a_statement_is_replaced_or_deleted_at_any_depth() -> None:
    old, new = Evaluate(Const(1, I64)), Evaluate(Const(2, I64))
    body: Stmt = seq(Evaluate(Const(0, I64)), old)
    for _ in range(DEEP):
        body = For(Var("i"), Const(0, I64), Const(2, I64), body)
    func = PrimFunc("f", (), body)
    made = replace_stmts(func, {old: new})
    assert [each.value for each in walk(made, Evaluate)] == [Const(0, I64), Const(2, I64)]
    assert list(walk(replace_stmts(body, {old: seq()}), Evaluate)) == [*walk(body, Evaluate)][:1]
    assert replace_stmts(func, {new: old}) is func


def test_what_is_replaced_is_not_entered_and_what_is_new_is_kept() -> None:
    inner, outer = Evaluate(Const(1, I64)), Evaluate(Const(2, I64))
    loop = For(Var("i"), Const(0, I64), Const(2, I64), inner)
    made = replace_stmts(seq(loop, inner), {loop: seq(loop, outer), inner: outer})
    assert isinstance(made, Seq)
    assert made.stmts == (loop, outer, outer)


def test_conjuncts_are_listed_in_order() -> None:
    a, b, c = (Var(name, BOOL) for name in "abc")
    assert conjuncts(logical_and(a, logical_and(b, c))) == [a, b, c]
