"""Simplify expressions, and drop branches whose conditions are known.

Before::

    def f(A: f32[64], C: f32[64]):
        for i in serial(0, 4):
            for j in serial(0, 16):
                if i * 16 + j < 64:
                    C[(i * 16 + j) // 16 * 16 + j] = A[j + i * 16 + 0]

After::

    def f(A: f32[64], C: f32[64]):
        for i in serial(0, 4):
            for j in serial(0, 16):
                C[i * 16 + j] = A[j + i * 16]

A loop of one iteration becomes its body. The conditions and the bounds of loops around a statement
are facts inside it.
"""

from collections.abc import Sequence
from operator import is_

from irkit.core import allowed, any_node, deep_recursion, with_span_of
from irkit.ir import (
    And,
    Assert,
    Block,
    Broadcast,
    Const,
    Expr,
    For,
    If,
    Let,
    Load,
    PrimFunc,
    Rewriter,
    Stmt,
    Store,
    Var,
    as_int,
    conjuncts,
    is_empty,
    logical_and,
    seq,
)
from irkit.ir.arith import Simplification
from irkit.transform import define_pass


@define_pass(idempotent=True)
def simplify(
    func: PrimFunc,
    *,
    propagate_knowns_to_prove_conditional: bool = True,
    propagate_knowns_to_simplify_expressions: bool = True,
    apply_constraints_to_boolean_branches: bool = False,
) -> PrimFunc:
    """Simplify every expression by the facts that hold there, decide branches, and remove loops
    that run once or never.

    ``propagate_knowns_to_prove_conditional`` uses the conditions around a branch to decide it;
    ``propagate_knowns_to_simplify_expressions`` uses them to simplify everything else;
    ``apply_constraints_to_boolean_branches`` uses the left sides of an ``and`` to simplify the
    right.
    """
    known = (propagate_knowns_to_prove_conditional, propagate_knowns_to_simplify_expressions)
    with deep_recursion:
        return _Scope(func, known, joined=apply_constraints_to_boolean_branches).run()


class _Scope(Rewriter):
    """Simplifies each statement by the facts that hold there; ``known`` tells whether to use the
    facts in conditions of statements, and elsewhere."""

    def __init__(self, func: PrimFunc, known: tuple[bool, bool], *, joined: bool) -> None:
        super().__init__(func)
        self.known, self.joined = known, joined
        self.is_condition = False
        self.places: list[Simplification] = []  # Each with the facts of the one before, and more.

    def expr(self, expr: Expr) -> Expr:
        given = super().expr(expr)
        here = self.place(self.facts if self.known[0 if self.is_condition else 1] else [])
        made = here.of(given)
        if self.joined and isinstance(made, And):
            made = self._each_by_those_before(made, here)
        return made if made is given or allowed("simplify", expr, made) else given

    def place(self, facts: list[Expr]) -> Simplification:
        """Return what simplifies under some facts: the same as before where they are the same."""
        while self.places and not _begins_with(facts, self.places[-1].facts):
            self.places.pop()
        if not self.places or len(self.places[-1].facts) < len(facts):
            self.places.append(Simplification(self.ranges, facts))
        return self.places[-1]

    def _each_by_those_before(self, cond: And, here: Simplification) -> Expr:
        """Simplify each part of an ``and`` under the parts before it."""
        before, made = conjuncts(cond), list[Expr]()
        for part in before:
            earlier = [fact for fact in made if not any_node(fact, Load)]
            made.append(Simplification(self.ranges, (*here.facts, *earlier)).of(part))
        if all(a is b for a, b in zip(before, made, strict=True)):
            return cond
        return here.of(logical_and(*made))

    def visit(self, stmt: Stmt) -> Stmt:
        self.is_condition = isinstance(stmt, (If, Assert, Block))
        match self.own(stmt):
            case For() as loop:
                return self._loop(loop)
            case If(Const(holds), then, otherwise) as branch:
                chosen = then if holds else otherwise
                if allowed("decided", branch, chosen or seq()):
                    return seq() if chosen is None else self.visit(chosen)
                return self.below(_without_empty_else(branch))
            case If() as branch:
                return self.below(_without_empty_else(branch))
            case Let(var, Const() | Var() as value, body) as let if allowed(
                "plain name", let, body
            ):
                self.values[var] = value
                return with_span_of(self.visit(body), let)
            case Store(mask=Broadcast(Const(True))) as store:
                return store.replace(mask=None)
            case Block(predicate=Const(True)) as block:
                return self.below(block.replace(predicate=None))
            case other:
                return self.below(other)

    def _loop(self, loop: For) -> Stmt:
        begin = loop.begin
        extent = as_int(self.place(self.facts).of(loop.end - begin))
        if extent is not None and loop.kind != "thread" and begin.dtype == loop.var.dtype:
            if extent <= 0 and allowed("never runs", loop, seq()):
                return seq()
            if extent == 1 and not any_node(begin, Load) and allowed("runs once", loop, loop.body):
                self.values[loop.var] = begin
                return with_span_of(self.visit(loop.body), loop)
        return self.below(loop)


def _without_empty_else(stmt: If) -> If:
    empty = stmt.otherwise is not None and is_empty(stmt.otherwise)
    return stmt.replace(otherwise=None) if empty else stmt


def _begins_with(facts: Sequence[Expr], first: Sequence[Expr]) -> bool:
    return len(first) <= len(facts) and all(map(is_, first, facts))
