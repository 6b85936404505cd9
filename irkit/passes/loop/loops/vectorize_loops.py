"""Turn loops marked vectorized into vector loads, stores and arithmetic.

Before::

    def f(A: f32[64], C: f32[64]):
        for i in serial(0, 4):
            for j in vectorized(0, 16):
                C[i * 16 + j] = A[i * 16 + j] * f32(2.0)

After::

    def f(A: f32[64], C: f32[64]):
        for i in serial(0, 4):
            C[ramp(i * 16, 1, 16)] = A[ramp(i * 16, 1, 16)] * broadcast(f32(2.0), 16)

A condition that differs from lane to lane becomes a mask. A loop that cannot run in lockstep, such
as a sum over the lanes, becomes a serial loop, with a remark.
"""

from collections.abc import Callable

from irkit.core import (
    Node,
    allowed,
    any_node,
    deep_recursion,
    fresh,
    remark,
    substitute,
    walk,
    with_span_of,
)
from irkit.ir import (
    Allocate,
    And,
    Assert,
    Buffer,
    Expr,
    For,
    If,
    Let,
    Load,
    PrimFunc,
    Seq,
    Stmt,
    Store,
    Var,
    View,
    as_int,
    conjuncts,
    const,
    flat_access,
    logical_and,
    logical_not,
    map_below,
    no_vectorized_loops,
    ramp,
    seq,
)
from irkit.ir.analysis import lane_conflict, uses_of
from irkit.ir.arith import IndexSums, Interval, Ranges, loop_ranges
from irkit.passes.loop.support.lane_vectorizer import CannotVectorize, LaneVectorizer, Mask
from irkit.transform import define_pass

Memory = Callable[[Buffer], Buffer]


@define_pass(idempotent=True, needs=(flat_access,), gives=(no_vectorized_loops,))
def vectorize_loops(func: PrimFunc, *, lanes: int = 16) -> PrimFunc:
    """Run up to ``lanes`` iterations of each vectorized loop at once; a longer loop becomes a
    serial loop over vectors, and a shorter vector for the rest."""
    if not any(loop.kind == "vectorized" for loop in walk(func.body, For)):
        return func
    ranges = loop_ranges(func)
    memory = uses_of(func).memory

    def vectorized(stmt: Stmt) -> Stmt:
        below = map_below(stmt, vectorized)
        if not isinstance(below, For) or below.kind != "vectorized":
            return below
        try:
            made = with_span_of(_vectors(below, lanes, ranges, memory), below)
        except CannotVectorize as why:
            remark(below, f"{why}: left as a serial loop")
            made = below.replace(kind="serial")
        return made if allowed("vectorize", below, made) else below

    with deep_recursion:
        return func.replace(body=vectorized(func.body))


def _vectors(loop: For, lanes: int, ranges: Ranges, memory: Memory) -> Stmt:
    extent = _extent(loop)
    if extent is None:
        raise CannotVectorize("its extent is not constant")
    if extent <= 0:
        return seq()
    size = min(extent, lanes)
    if size < 2:
        return loop.replace(kind="serial")
    why = lane_conflict(loop, size, ranges, memory)
    if why is not None:
        raise CannotVectorize(why)
    if extent <= lanes:
        return _lockstep(loop, loop.begin, extent, ranges)
    if any_node(loop.begin, Load):
        raise CannotVectorize("it begins at a value in memory, and is too long for one vector")
    whole, rest = divmod(extent, lanes)
    step = loop.var.copy(f"{loop.var.name}_o")
    first, last = const(0, step.dtype), const(whole, step.dtype)
    ranges = {**ranges, step: Interval(0, whole - 1)}
    main = _lockstep(loop, _plus(loop.begin, step * lanes), lanes, ranges)
    parts: list[Stmt] = [For(step, first, last, main, span=loop.span)]
    if rest:
        at = _plus(loop.begin, const(whole * lanes, step.dtype))
        parts.append(fresh(_lockstep(loop, at, rest, ranges)))
    return seq(*parts)


def _extent(loop: For) -> int | None:
    sums = IndexSums({})
    extent = sums.sum_of(loop.end) - sums.sum_of(loop.begin)
    return None if extent.terms else extent.constant


def _plus(begin: Expr, offset: Expr) -> Expr:
    return offset if as_int(begin) == 0 else begin + offset


def _lockstep(loop: For, begin: Expr, lanes: int, ranges: Ranges) -> Stmt:
    """Run ``lanes`` iterations from ``begin`` on, statement by statement."""
    if lanes == 1:  # The rest can be a single iteration.
        first: dict[Node, Node] = {loop.var: begin}
        return substitute(loop.body, first)
    values = LaneVectorizer(lanes, {loop.var: ramp(begin, 1, lanes)}, ranges)
    return _Statements(values).visit(loop.body, None)


class _Statements:
    """The statements of a loop body, for all lanes at once."""

    def __init__(self, values: LaneVectorizer) -> None:
        self.values = values

    def visit(self, stmt: Stmt, mask: Mask) -> Stmt:
        match stmt:
            case Store():
                return self._store(stmt, mask)
            case Seq():
                return seq(*[self.visit(inner, mask) for inner in stmt.stmts]).replace(
                    span=stmt.span
                )
            case If():
                return self._branch(stmt, mask)
            case Let():
                return self._let(stmt, mask)
            case For() if stmt.kind != "thread":
                begin, end = self._same(stmt.begin, mask), self._same(stmt.end, mask)
                kind = "serial" if stmt.kind == "parallel" else stmt.kind
                body = self.visit(stmt.body, mask)
                return stmt.replace(begin=begin, end=end, body=body, kind=kind)
            case View():
                offset = self._same(stmt.offset, mask)
                return stmt.replace(offset=offset, body=self.visit(stmt.body, mask))
            case Assert() if mask is None:
                values = tuple(self._same(value, mask) for value in stmt.values)
                return stmt.replace(cond=self._same(stmt.cond, mask), values=values)
            case Allocate():
                raise CannotVectorize(f"it allocates {stmt.buffer.name!r} in each iteration")
            case _:
                name = type(stmt).__name__.lower()
                raise CannotVectorize(f"it holds a statement that has no vector form ({name})")

    def _same(self, expr: Expr, mask: Mask) -> Expr:
        made = self.values.vector(expr, mask)
        if made.dtype.lanes > 1:
            raise CannotVectorize("a bound or an offset inside it differs from lane to lane")
        return made

    def _store(self, store: Store, mask: Mask) -> Stmt:
        values = self.values
        if store.mask is not None:
            mask = values.both(mask, values.vector(store.mask, mask))
        indices = tuple(values.vector(index, mask) for index in store.indices)
        if all(index.dtype.lanes == 1 for index in indices):
            raise CannotVectorize(
                f"every iteration writes the same element of {store.buffer.name!r}"
            )
        return store.replace(
            indices=tuple(values.wide(index) for index in indices),
            value=values.wide(values.vector(store.value, mask)),
            mask=mask,
        )

    def _branch(self, stmt: If, mask: Mask) -> Stmt:
        if stmt.otherwise is None and isinstance(stmt.cond, And):
            agreed, differing = self._sorted(conjuncts(stmt.cond))
            if (
                agreed and differing
            ):  # A condition that is the same in all lanes becomes a branch, not part of a mask.
                inner = If(logical_and(*differing), stmt.then, None, span=stmt.span)
                return self.visit(stmt.replace(cond=logical_and(*agreed), then=inner), mask)
        cond = self.values.vector(stmt.cond, mask)
        if cond.dtype.lanes == 1:
            then = self._knowing(conjuncts(cond), stmt.then, mask)
            otherwise = stmt.otherwise
            if otherwise is not None:
                otherwise = self._knowing([logical_not(cond)], otherwise, mask)
            return stmt.replace(cond=cond, then=then, otherwise=otherwise)
        name: Var | None = None
        test = cond
        if any_node(cond, Load):  # What the branches store must not change which lanes take them.
            name = Var("taken", cond.dtype)
            test = name
        made = with_span_of(self.visit(stmt.then, self.values.both(mask, test)), stmt)
        if stmt.otherwise is not None:
            other = self.visit(stmt.otherwise, self.values.neither(mask, test))
            made = seq(made, other).replace(span=stmt.span)
        return made if name is None else Let(name, cond, made, span=stmt.span)

    def _sorted(self, conds: list[Expr]) -> tuple[list[Expr], list[Expr]]:
        agreed: list[Expr] = []
        differing: list[Expr] = []
        for cond in conds:
            # The conditions before a load can be its guards.
            free = not any_node(cond, Load)
            same = free and self.values.vector(cond, None).dtype.lanes == 1
            (agreed if same else differing).append(cond)
        return agreed, differing

    def _knowing(self, conds: list[Expr], stmt: Stmt, mask: Mask) -> Stmt:
        facts = self.values.facts
        known = len(facts)
        facts += [cond for cond in conds if not any_node(cond, Load)]
        self.values.forget()
        made = self.visit(stmt, mask)
        del facts[known:]
        self.values.forget()
        return made

    def _let(self, stmt: Let, mask: Mask) -> Stmt:
        value = self.values.vector(stmt.value, mask)
        if value.dtype.lanes == 1:
            return stmt.replace(value=value, body=self.visit(stmt.body, mask))
        var = Var(stmt.var.name, value.dtype)
        self.values.values[stmt.var] = var
        return stmt.replace(var=var, value=value, body=self.visit(stmt.body, mask))
