"""A vectorized loop as statements on vectors: all lanes of one statement, then those of the next.

That is the same only if no two iterations touch one element, one of them writing; each pair of
accesses is proved to be apart.
"""

from itertools import product
from typing import Any, cast

import msgspec

from irkit.core import (
    Node,
    any_node,
    children,
    postorder,
    substitute,
    symbols_used,
    walk,
    with_fields,
)
from irkit.ir import (
    BOOL,
    Binary,
    Broadcast,
    Call,
    Cast,
    Conditional,
    Const,
    Expr,
    For,
    If,
    Interval,
    Ldexp,
    Load,
    Neg,
    Not,
    Ramp,
    Reinterpret,
    Select,
    Seq,
    Stmt,
    Store,
    Var,
    as_int,
    const,
    logical_and,
    logical_not,
    logical_or,
    ne,
    seq,
)
from irkit.ir.arith import Claim
from irkit.proof.functions.loads import as_index, loads_of
from irkit.proof.functions.scope import NotShown, Scope, Side
from irkit.proof.outcome import Proved

MOST_LANES = 256

_LANE_BY_LANE = (
    Binary, Neg, Not, Cast, Reinterpret, Ldexp, Call, Select, Conditional, Load,
)  # fmt: skip


class _Access(msgspec.Struct, frozen=True):
    memory: Node
    buffer: Node
    indices: tuple[Expr, ...]
    writes: bool


def in_lanes(loop: For, side: Side, scope: Scope) -> Stmt:
    """Return the statements of a vectorized loop as statements on vectors.

    Raises: NotShown if it has other statements than stores under conditions, or if two iterations
    may touch one element.
    """
    first, last = as_int(loop.begin), as_int(loop.end)
    if first is None or last is None or not 1 < last - first <= MOST_LANES:
        raise NotShown("a vectorized loop has an unknown number of lanes")
    _check_independent(loop, Interval(first, last - 1), side, scope)
    dtype = loop.var.dtype
    lanes = Ramp(Const(first, dtype), Const(1, dtype), dtype.with_lanes(last - first))
    return _vector(loop.body, loop.var, lanes, None)


def _vector(stmt: Stmt, var: Var, lanes: Ramp, mask: Expr | None) -> Stmt:
    match stmt:
        case Seq(inner):
            return seq(*[_vector(each, var, lanes, mask) for each in inner])
        case If(cond, then, otherwise) if var not in symbols_used(cond):
            other = None if otherwise is None else _vector(otherwise, var, lanes, mask)
            return If(cond, _vector(then, var, lanes, mask), other)
        case If(cond, then, otherwise):
            if any_node(cond, Load) and sum(1 for _ in walk(stmt, Store)) > 1:
                raise NotShown("a condition of a vectorized loop reads memory, for several stores")
            made = [_vector(then, var, lanes, _both(mask, cond))]
            if otherwise is not None:
                made.append(_vector(otherwise, var, lanes, _both(mask, logical_not(cond))))
            return seq(*made)
        case Store(buffer, indices, value, None):
            full = None if mask is None else _as_wide(_widened(mask, var, lanes), lanes)
            wide = tuple(_guarded(_widened(index, var, lanes), full) for index in indices)
            made = _guarded(_as_wide(_widened(value, var, lanes), lanes), full)
            return Store(buffer, wide, made, full)
        case _:
            raise NotShown(f"a vectorized loop holds {stmt.__class__.__name__}")


def _guarded(expr: Expr, mask: Expr | None) -> Expr:
    """Perform the loads of an expression only in the lanes of a mask."""
    if mask is None or not any_node(expr, Load):
        return expr
    wide = (
        expr if expr.dtype.lanes > 1 else Broadcast(expr, expr.dtype.with_lanes(mask.dtype.lanes))
    )
    return Conditional(mask, wide, const(0, wide.dtype), wide.dtype)


def _both(mask: Expr | None, cond: Expr) -> Expr:
    return cond if mask is None else logical_and(mask, cond)


def _as_wide(expr: Expr, lanes: Ramp) -> Expr:
    count = lanes.dtype.lanes
    return expr if expr.dtype.lanes == count else Broadcast(expr, expr.dtype.with_lanes(count))


def _widened(root: Expr, var: Var, lanes: Ramp) -> Expr:
    """Return an expression for all lanes; what is the same in each stays a scalar."""
    done: dict[int, Expr] = {}
    for visited in postorder(root):
        node = cast(Expr, visited)
        below = cast("tuple[Expr, ...]", children(node))
        if node is var:
            done[id(node)] = lanes
        elif all(done[id(child)] is child for child in below):
            done[id(node)] = node
        elif not isinstance(node, _LANE_BY_LANE):
            raise NotShown(f"a vectorized loop holds {node.__class__.__name__}")
        else:
            made = {id(child): _as_wide(done[id(child)], lanes) for child in below}
            changed = cast(Any, with_fields(node, cast("dict[int, Node]", made)))
            done[id(node)] = changed.replace(dtype=node.dtype.with_lanes(lanes.dtype.lanes))
    return done[id(root)]


def _check_independent(loop: For, span: Interval, side: Side, scope: Scope) -> None:
    """Prove that no iteration touches an element that another one writes."""
    accesses = _accesses(loop.body, side, scope)
    var, other = loop.var, loop.var.copy()
    ranges = scope.ranges | {var: span, other: span}
    facts = (*scope.facts, ne(var, other))
    for one, two in product(accesses, accesses):
        if not one.writes or one.memory is not two.memory:
            continue
        if one.buffer is not two.buffer:
            raise NotShown("two buffers of a vectorized loop are the same memory")
        there = [substitute(index, {var: other}) for index in two.indices]
        pairs = zip(one.indices, there, strict=True)
        apart = logical_or(*(ne(as_index(a), as_index(b)) for a, b in pairs))
        claim = Claim(apart, Const(True, BOOL), ranges, facts)
        scope.pairs += 1
        if not isinstance(scope.prover.prove(claim), Proved):
            raise NotShown("two iterations of a vectorized loop may touch one element")


def _accesses(body: Stmt, side: Side, scope: Scope) -> list[_Access]:
    found: list[_Access] = []
    stack = [body]
    while stack:
        match stack.pop():
            case Seq(inner):
                stack += inner
            case If(cond, then, otherwise):
                stack += [then, *([] if otherwise is None else [otherwise])]
                found += _loaded([side.read(cond)], scope)
            case Store() as store:
                indices = [side.read(index) for index in store.indices]
                found += _loaded([*indices, side.read(store.value)], scope)
                buffer, places = side.place(store.buffer, indices)
                memory = scope.root(side, store.buffer)
                found.append(_Access(memory, buffer, tuple(places), True))
            case stmt:
                raise NotShown(f"a vectorized loop holds {stmt.__class__.__name__}")
    return found


def _loaded(exprs: list[Expr], scope: Scope) -> list[_Access]:
    loads = [each.load for each in loads_of(exprs)]
    return [_Access(scope.memory(load.buffer), load.buffer, load.indices, False) for load in loads]
