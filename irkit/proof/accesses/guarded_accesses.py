"""The accesses of a function, each with what holds where it is performed."""

from collections.abc import Callable, Iterable
from typing import Any, Literal

import msgspec

from irkit.core import IRKitError, Span, deep_recursion, walk
from irkit.ir import (
    I64,
    U64,
    Allocate,
    And,
    Assert,
    Block,
    Buffer,
    Const,
    Evaluate,
    Expr,
    For,
    If,
    Interval,
    Let,
    Load,
    PrimFunc,
    Seq,
    Stmt,
    Store,
    Var,
    View,
    convert,
    dimension_vars,
    eq,
    evaluates,
    ge,
    is_hint,
    logical_not,
    lt,
)
from irkit.ir.analysis import guarded_loads, path_conditions
from irkit.proof.limits import limits_of

MOST_FACTS = 200
"""Facts that count at an access, the innermost ones."""

Kind = Literal["load", "store", "view", "axis"]


class GuardedAccess(msgspec.Struct, frozen=True, eq=False):
    """An access, and what holds there.

    ``sides`` are its indices, each with the extent that it must be below; a view has none.
    ``facts`` hold where it is performed, of a vector in the lanes that are; ``buffers`` exist
    there. ``complete`` is False if conditions around it were left out, because memory that they
    read can change. ``from_data`` is True if an index or extent depends on what was loaded.
    ``node`` is the load or store.
    """

    kind: Kind
    name: str
    sides: tuple[tuple[Expr, Expr], ...]
    facts: tuple[Expr, ...]
    ranges: dict[Var, Interval]
    buffers: tuple[Buffer, ...]
    span: Span | None
    stmt: Stmt
    complete: bool
    from_data: bool
    view: View | None = None
    node: Load | Store | None = None


def visit_accesses(func: PrimFunc, visit: Callable[[GuardedAccess], None]) -> None:
    """Call a function with each access of a function, in order.

    Loops over u64, and expressions that share too many guards, are visited without their limits.
    """
    with deep_recursion:
        _Visitor(func, visit).statement(func.body)


class _Visitor:
    def __init__(self, func: PrimFunc, visit: Callable[[GuardedAccess], None]) -> None:
        self.visit = visit
        self.facts: list[Expr] = []
        self.ranges: dict[Var, Interval] = {}
        self.buffers = [param for param in func.params if isinstance(param, Buffer)]
        self.sources = {view.buffer: view.source for view in walk(func.body, View)}
        self.writes_anywhere = self.written(func.body)
        self.left_out = 0
        self.loaded: set[Var] = set()
        self.changing: dict[int, tuple[Stmt, frozenset[Buffer]]] = {}
        for var in dimension_vars(func.params):
            self.ranges[var] = Interval(0, None)
        for param in self.buffers:
            for dim in param.shape:
                if not isinstance(dim, (Var, Const)):
                    self.facts.append(ge(dim, 0))

    def memory(self, buffer: Buffer) -> Buffer:
        while buffer in self.sources:
            buffer = self.sources[buffer]
        return buffer

    def written(self, stmt: Stmt) -> frozenset[Buffer]:
        return frozenset(self.memory(store.buffer) for store in walk(stmt, Store))

    def changes(self, body: Stmt) -> frozenset[Buffer]:
        """Return the memory that can change while a statement runs; at a barrier, other threads
        have their turn."""
        known = self.changing.get(id(body))
        if known is None:
            waits = any(evaluates(each, "barrier") for each in walk(body, Evaluate))
            found = self.writes_anywhere if waits else self.written(body)
            known = self.changing[id(body)] = body, found
        return known[1]

    # Facts.

    def assume(self, conds: Iterable[Expr], bodies: Iterable[Stmt]) -> None:
        """Assume conditions, unless memory that they read changes in the statements that follow."""
        stack = list(conds)[::-1]
        while stack:
            cond = stack.pop()
            if isinstance(cond, And):
                stack += [cond.b, cond.a]
                continue
            read = {self.memory(load.buffer) for load in walk(cond, Load)}
            if read and any(not read.isdisjoint(self.changes(body)) for body in bodies):
                self.left_out += 1
            else:
                self.facts.append(cond)

    def under(self, conds: Iterable[Expr], stmt: Stmt) -> None:
        count, left = len(self.facts), self.left_out
        self.assume(conds, [stmt])
        self.statement(stmt)
        del self.facts[count:]
        self.left_out = left

    def is_from_data(self, expr: Expr) -> bool:
        return any(
            isinstance(node, Load) or node in self.loaded for node in walk(expr, (Load, Var))
        )

    # Accesses.

    def found(
        self,
        kind: Kind,
        name: str,
        sides: tuple[tuple[Expr, Expr], ...],
        stmt: Stmt,
        facts: Iterable[Expr] = (),
        node: View | Load | Store | None = None,
    ) -> None:
        view = node if isinstance(node, View) else None
        parts = [part for side in sides for part in side]
        if view is not None:
            parts = [view.offset, *view.buffer.shape, *(view.buffer.strides or ())]
        from_data = any(self.is_from_data(part) for part in parts)
        facts = (*self.facts, *facts)[-MOST_FACTS:]
        complete = not self.left_out and len(self.facts) < MOST_FACTS
        self.visit(
            GuardedAccess(
                kind,
                name,
                sides,
                facts,
                dict(self.ranges),
                tuple(self.buffers),
                stmt.span,
                stmt,
                complete,
                from_data,
                view,
                None if isinstance(node, View) else node,
            )
        )

    def loads(self, stmt: Stmt, exprs: Iterable[Expr], facts: Iterable[Expr] = ()) -> None:
        given = tuple(facts)
        for expr in exprs:
            try:
                found = guarded_loads(expr)
            except IRKitError:  # Too many guards: they are left out.
                for load in walk(expr, Load):
                    self.left_out += 1
                    self.load(stmt, load, given)
                    self.left_out -= 1
                continue
            for each in found:
                self.load(stmt, each.load, (*given, *path_conditions(each.path)))

    def load(self, stmt: Stmt, load: Load, facts: tuple[Expr, ...]) -> None:
        masks = () if load.mask is None else (load.mask,)
        sides = tuple(zip(load.indices, load.buffer.shape, strict=True))
        self.found("load", load.buffer.name, sides, stmt, (*facts, *masks), load)

    # Statements.

    def statement(self, stmt: Stmt) -> None:
        _CASES[stmt.__class__](self, stmt)

    def sequence(self, stmt: Seq) -> None:
        count, left = len(self.facts), self.left_out
        for at, inner in enumerate(stmt.stmts):
            self.statement(inner)
            if isinstance(inner, Assert):
                self.assume([inner.cond], stmt.stmts[at + 1 :])
        del self.facts[count:]
        self.left_out = left

    def store(self, stmt: Store) -> None:
        masks = () if stmt.mask is None else (stmt.mask,)
        self.loads(stmt, [*stmt.indices, stmt.value, *masks])
        sides = tuple(zip(stmt.indices, stmt.buffer.shape, strict=True))
        self.found("store", stmt.buffer.name, sides, stmt, masks, stmt)

    def loop(self, stmt: For) -> None:
        self.loads(stmt, [stmt.begin, stmt.end])
        var, begin, end = stmt.var, stmt.begin, stmt.end
        low, high = limits_of(begin, self.ranges)[0], limits_of(end, self.ranges)[1] - 1
        self.ranges[var] = Interval(low, max(low, high))
        if self.is_from_data(begin) or self.is_from_data(end):
            self.loaded.add(var)
        limits: list[Expr] = []
        if U64 not in (var.dtype, begin.dtype, end.dtype):
            at, first, last = (convert(side, I64) for side in (var, begin, end))
            limits += [] if isinstance(begin, Const) else [ge(at, first)]
            limits += [] if isinstance(end, Const) else [lt(at, last)]
        self.under(limits, stmt.body)

    def branches(self, stmt: If) -> None:
        self.loads(stmt, [stmt.cond])
        self.under([stmt.cond], stmt.then)
        if stmt.otherwise is not None:
            self.under([logical_not(stmt.cond)], stmt.otherwise)

    def let(self, stmt: Let) -> None:
        self.loads(stmt, [stmt.value])
        if self.is_from_data(stmt.value):
            self.loaded.add(stmt.var)
        value = stmt.value
        known = () if value.dtype.is_float else (eq(stmt.var, value),)
        if value.dtype.is_integer and value.dtype.lanes == 1:
            self.ranges[stmt.var] = Interval(*limits_of(value, self.ranges))
        self.under(known, stmt.body)

    def allocation(self, stmt: Allocate) -> None:
        shape = [dim for dim in stmt.buffer.shape if not isinstance(dim, Const)]
        self.loads(stmt, stmt.buffer.shape)
        self.buffers.append(stmt.buffer)
        self.under([ge(dim, 0) for dim in shape], stmt.body)
        self.buffers.pop()

    def a_view(self, stmt: View) -> None:
        self.loads(stmt, [*stmt.buffer.shape, *(stmt.buffer.strides or ()), stmt.offset])
        self.found("view", stmt.buffer.name, (), stmt, node=stmt)
        shape = [dim for dim in stmt.buffer.shape if not isinstance(dim, Const)]
        self.under([ge(dim, 0) for dim in shape], stmt.body)

    def evaluation(self, stmt: Evaluate) -> None:
        if not is_hint(stmt):
            self.loads(stmt, [stmt.value])

    def assertion(self, stmt: Assert) -> None:
        self.loads(stmt, [stmt.cond])
        self.loads(stmt, stmt.values, [logical_not(stmt.cond)])

    def block(self, stmt: Block) -> None:
        self.loads(stmt, [part for axis in stmt.axes for part in (axis.extent, axis.binding)])
        bound: list[Expr] = []
        for axis in stmt.axes:
            if self.is_from_data(axis.binding):
                self.loaded.add(axis.var)
            if axis.var.dtype.is_integer:
                self.ranges[axis.var] = Interval(*limits_of(axis.binding, self.ranges))
            bound.append(eq(axis.var, axis.binding))
        asked = [] if stmt.predicate is None else [stmt.predicate]
        self.loads(stmt, asked, bound)
        count, left = len(self.facts), self.left_out
        self.assume([*bound, *asked], [stmt.body])
        for axis in stmt.axes:
            self.found("axis", axis.var.name, ((axis.binding, axis.extent),), stmt)
        inside = [
            cond
            for axis in stmt.axes
            for cond in (ge(axis.var, 0), lt(axis.var, convert(axis.extent, axis.var.dtype)))
        ]
        if stmt.init is not None:
            first = [eq(axis.var, 0) for axis in stmt.axes if axis.kind == "reduce"]
            self.under([*inside, *first], stmt.init)
        self.under(inside, stmt.body)
        del self.facts[count:]
        self.left_out = left


_CASES: dict[type[Stmt], Callable[[_Visitor, Any], None]] = {
    Seq: _Visitor.sequence,
    Store: _Visitor.store,
    For: _Visitor.loop,
    If: _Visitor.branches,
    Let: _Visitor.let,
    Allocate: _Visitor.allocation,
    View: _Visitor.a_view,
    Evaluate: _Visitor.evaluation,
    Assert: _Visitor.assertion,
    Block: _Visitor.block,
}
