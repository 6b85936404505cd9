"""Compute common subexpressions of neighbouring statements once.

Before::

    def f(A: f32[64], C: f32[64], D: f32[64]):
        for i in serial(0, 8):
            C[i * 8] = exp(A[i * 8]) + f32(1.0)
            D[i * 8] = exp(A[i * 8]) * f32(2.0)

After::

    def f(A: f32[64], C: f32[64], D: f32[64]):
        for i in serial(0, 8):
            t: i64 = i * 8
            t_1: f32 = exp(A[t])
            C[t] = t_1 + f32(1.0)
            D[t] = t_1 * f32(2.0)

A load is shared only while nothing is written to its buffer. An expression that is computed only
under a condition is not computed before it. Ramps stay in place: they tell a vector load from a
gather.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable

import msgspec

from irkit.core import (
    CHILDREN,
    Node,
    allowed,
    children,
    deep_recursion,
    postorder,
    walk,
    with_fields,
    with_span_of,
)
from irkit.ir import (
    And,
    Assert,
    Broadcast,
    Buffer,
    Call,
    Conditional,
    Const,
    Evaluate,
    Expr,
    If,
    Let,
    Load,
    Or,
    PrimFunc,
    Ramp,
    Seq,
    Stmt,
    Store,
    Var,
    View,
    map_below,
    nested,
    no_blocks,
    seq,
)
from irkit.ir.analysis import ValueNumbering
from irkit.transform import define_pass

LEAVES = (Store, Evaluate, Assert)
_LAZY = frozenset({Conditional, And, Or})
MAX_RUN = 256


@define_pass(idempotent=True, needs=(no_blocks,))
def eliminate_common_subexpressions(func: PrimFunc) -> PrimFunc:
    """Bind expressions that occur more than once in a run of statements without control flow to
    names."""
    sources = {view.buffer: view.source for view in walk(func.body, View)}
    with deep_recursion:
        return func.replace(body=_RunFinder(sources).visit(func.body))


class _RunFinder:
    """Finds the runs: neighbours in a sequence, and the expressions of lets and branches."""

    def __init__(self, sources: dict[Buffer, Buffer]) -> None:
        self.sources = sources

    def visit(self, stmt: Stmt) -> Stmt:
        if _is_leaf(stmt):
            return self._shared([stmt])
        if isinstance(stmt, Seq):
            return self._sequence(stmt)
        below = map_below(stmt, self.visit)
        return self._header(below) if isinstance(below, (Let, If)) else below

    def _sequence(self, stmt: Seq) -> Stmt:
        made: list[Stmt] = []
        run: list[Stmt] = []
        for inner in stmt.stmts:
            if _is_leaf(inner) and len(run) < MAX_RUN:
                run.append(inner)
                continue
            made += [self._shared(run)] if run else []
            run = [inner] if _is_leaf(inner) else []
            made += [] if run else [self.visit(inner)]
        made += [self._shared(run)] if run else []
        flat = seq(*made)
        return stmt if _same_stmts(flat, stmt) else with_span_of(flat, stmt)

    def _header(self, stmt: Let | If) -> Stmt:
        value = stmt.value if isinstance(stmt, Let) else stmt.cond
        found = self._shared([Evaluate(value, span=stmt.span)])
        names: list[Let] = []
        while isinstance(found, Let):
            names.append(found)
            found = found.body
        if not names:
            return stmt
        assert isinstance(found, Evaluate)
        field = "value" if isinstance(stmt, Let) else "cond"
        return nested(names, stmt.replace(**{field: found.value}))

    def _shared(self, run: list[Stmt]) -> Stmt:
        before = seq(*run)
        after = _StatementRun(run, self.sources).rebuilt()
        return after if after is not None and allowed("share", before, after) else before


def _is_leaf(stmt: Stmt) -> bool:
    """Return True if a statement computes values to share; a barrier or prefetch does not load what
    it names."""
    effect = isinstance(stmt, Evaluate) and isinstance(stmt.value, Call)
    return isinstance(stmt, LEAVES) and not effect


def _same_stmts(made: Stmt, stmt: Seq) -> bool:
    if not isinstance(made, Seq) or len(made.stmts) != len(stmt.stmts):
        return False
    return all(a is b for a, b in zip(made.stmts, stmt.stmts, strict=True))


class _NumberedStatement(msgspec.Struct):
    """A statement, its expressions in postorder, and the value number of each."""

    stmt: Stmt
    nodes: list[Expr]
    numbers: list[int]


class _StatementRun:
    """A run of statements without branches or loops."""

    def __init__(self, run: list[Stmt], sources: dict[Buffer, Buffer]) -> None:
        self.sources = sources
        self.versions = Counter[Hashable]()
        self.numbering = ValueNumbering(self._version)
        self.uses = defaultdict[int, int](int)
        self.first: dict[int, int] = {}
        self.always: dict[int, int] = {}
        self.stmts = run
        self.lines = [self._line(at, stmt) for at, stmt in enumerate(run)]

    def _version(self, load: Load) -> Hashable:
        return self.versions[self._root(load.buffer)]

    def _root(self, buffer: Buffer) -> Buffer:
        while buffer in self.sources:
            buffer = self.sources[buffer]
        return buffer

    def _line(self, at: int, stmt: Stmt) -> _NumberedStatement:
        roots = [root for root in children(stmt) if isinstance(root, Expr)]
        nodes = [node for node in postorder(stmt) if isinstance(node, Expr)]
        numbers = self.numbering.after_operands(nodes)
        of = dict(zip(map(id, nodes), numbers, strict=True))
        for node, number in zip(nodes, numbers, strict=True):
            if number not in self.first:
                self.first[number] = at
                for child in CHILDREN[node.__class__](node):
                    self.uses[of[id(child)]] += 1
        for root in roots:
            self.uses[of[id(root)]] += 1
        self._mark_always(at, roots, nodes, of)
        if isinstance(stmt, Store):
            self.versions[self._root(stmt.buffer)] += 1
            self.numbering.forget()
        return _NumberedStatement(stmt, nodes, numbers)

    def _mark_always(
        self, at: int, roots: list[Expr], nodes: list[Expr], of: dict[int, int]
    ) -> None:
        # The values in the message of an assertion are computed only if it fails.
        sure = roots[:1] if isinstance(self.stmts[at], Assert) else roots
        if len(sure) == len(roots) and not any(node.__class__ in _LAZY for node in nodes):
            for number in of.values():
                self.always.setdefault(number, at)
            return
        always = {id(root) for root in sure}
        for node in reversed(nodes):
            if id(node) in always:
                self.always.setdefault(of[id(node)], at)
                if isinstance(node, Conditional):
                    always.add(id(node.cond))
                elif isinstance(node, (And, Or)):
                    always.add(id(node.a))
                else:
                    always.update(map(id, children(node)))

    def rebuilt(self) -> Stmt | None:
        """Return the run with common expressions bound to names; None if there are none."""
        names = {
            number: Var("t", expr.dtype)
            for number, expr in enumerate(self.numbering.exprs)
            if self.uses[number] > 1
            and not _is_trivial(expr)
            and self.always.get(number) == self.first.get(number) is not None
        }
        if not names:
            return None
        tail: list[Stmt] = []
        for at in reversed(range(len(self.lines))):
            tail = self._emitted(at, names, tail)
        return seq(*tail)

    def _emitted(self, at: int, names: dict[int, Var], tail: list[Stmt]) -> list[Stmt]:
        line = self.lines[at]
        new: dict[int, Node] = {}
        bound: list[tuple[Var, Expr]] = []
        named: set[int] = set()
        for node, number in zip(line.nodes, line.numbers, strict=True):
            made = with_fields(node, new)
            if number in names:
                if self.first[number] == at and number not in named:
                    named.add(number)
                    assert isinstance(made, Expr)
                    bound.append((names[number], made))
                made = names[number]
            if made is not node:
                new[id(node)] = made
        stmt = with_fields(line.stmt, new)
        assert isinstance(stmt, Stmt)
        result: list[Stmt] = [stmt, *tail]
        for var, value in reversed(bound):
            result = [Let(var, value, seq(*result), span=line.stmt.span)]
        return result


def _is_trivial(expr: Expr) -> bool:
    match expr:
        case Var() | Const() | Ramp():
            return True
        case Broadcast(value):
            return isinstance(value, (Var, Const))
        case _:
            return False
