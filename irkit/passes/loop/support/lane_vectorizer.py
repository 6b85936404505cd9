"""Expressions evaluated in all lanes at once.

An expression that does not depend on the lane stays a scalar until it is combined with a vector.
Conditions that differ from lane to lane become masks on the loads they guard.
"""

from typing import cast

from irkit.core import children, fields, postorder
from irkit.ir import (
    Add,
    And,
    Binary,
    BitAnd,
    BitOr,
    Broadcast,
    Cast,
    Conditional,
    Const,
    Expr,
    Load,
    Mul,
    Not,
    Or,
    Ramp,
    Select,
    Sub,
    Var,
    as_int,
    convert,
)
from irkit.ir.analysis import is_in_bounds
from irkit.ir.arith import Ranges, bounds

Mask = Expr | None


class CannotVectorize(Exception):
    """A loop has to run one iteration at a time, for this reason; the pass catches it."""


class LaneVectorizer:
    """Turns scalar expressions into vectors of ``lanes`` values.

    ``values`` holds vectors for the variables that differ from lane to lane; ``facts`` are
    conditions that hold in all lanes at this point.
    """

    def __init__(self, lanes: int, values: dict[Var, Expr], ranges: Ranges) -> None:
        self.lanes = lanes
        self.values = values
        self.ranges = ranges
        self.facts: list[Expr] = []
        self._made: dict[tuple[int, int], Expr] = {}
        self._alive: list[object] = []
        self._varying: set[int] = set()
        self._loading: set[int] = set()

    def vector(self, expr: Expr, mask: Mask) -> Expr:
        """Return the values in the lanes where ``mask`` holds; a scalar if all are equal."""
        self._look(expr)
        self._alive.append((expr, mask))
        return self._visit(expr, mask)

    def forget(self) -> None:
        """Forget the expressions made so far, since ``facts`` change."""
        self._made.clear()

    def wide(self, expr: Expr) -> Expr:
        """Repeat a scalar in every lane."""
        if expr.dtype.lanes == self.lanes:
            return expr
        return Broadcast(expr, expr.dtype.with_lanes(self.lanes))

    def both(self, mask: Mask, cond: Expr) -> Expr:
        """Restrict a mask by a condition."""
        cond = self.wide(cond)
        return cond if mask is None else BitAnd(mask, cond, cond.dtype)

    def neither(self, mask: Mask, cond: Expr) -> Expr:
        """Restrict a mask by the opposite of a condition."""
        cond = self.wide(cond)
        return self.both(mask, Not(cond, cond.dtype))

    def _look(self, root: Expr) -> None:
        varying, loading = self._varying, self._loading
        for node in postorder(root):
            below = children(node)
            # Only variables are looked up: hashing an expression would walk over all of it.
            own = isinstance(node, Var) and node in self.values
            if own or any(id(child) in varying for child in below):
                varying.add(id(node))
            if isinstance(node, Load) or any(id(child) in loading for child in below):
                loading.add(id(node))

    def _visit(self, expr: Expr, mask: Mask) -> Expr:
        known = self._made.get((id(expr), id(mask)))
        if known is not None:
            return known
        if expr.dtype.lanes > 1:
            raise CannotVectorize("it holds vectors already")
        guarded = mask is not None and id(expr) in self._loading
        if isinstance(expr, Var) and expr in self.values:
            made = self.values[expr]
        elif id(expr) not in self._varying and not guarded:
            return expr
        else:
            made = self._combine(expr, mask)
        self._alive.append(mask)
        self._made[id(expr), id(mask)] = made
        return made

    def _combine(self, expr: Expr, mask: Mask) -> Expr:
        match expr:
            case Load():
                return self._load(expr, mask)
            case Conditional(cond, then, otherwise):
                test = self.wide(self._visit(cond, mask))
                a = self._visit(then, self.both(mask, test))
                b = self._visit(otherwise, self.neither(mask, test))
                return Select(test, self.wide(a), self.wide(b), self._typed(expr))
            case And(a, b):
                left = self.wide(self._visit(a, mask))
                right = self._visit(b, self.both(mask, left))
                return BitAnd(left, self.wide(right), self._typed(expr))
            case Or(a, b):
                left = self.wide(self._visit(a, mask))
                right = self._visit(b, self.neither(mask, left))
                return BitOr(left, self.wide(right), self._typed(expr))
            case _:
                below = cast(tuple[Expr, ...], children(expr))
                return self._apply(expr, {id(part): self._visit(part, mask) for part in below})

    def _load(self, load: Load, mask: Mask) -> Expr:
        if load.mask is not None:
            mask = self.both(mask, self._visit(load.mask, mask))
        elif mask is not None and self._is_own(load):
            # A register is read whole: nobody uses the lanes that the mask leaves out.
            return self._visit(load, None)
        indices = [self._visit(index, mask) for index in load.indices]
        same = all(index.dtype.lanes == 1 for index in indices)
        if same and load.mask is None and is_in_bounds(load, self.ranges, self.facts):
            return load.replace(indices=tuple(indices))
        if mask is not None or not same:
            wide = tuple(self.wide(index) for index in indices)
            if not wide:
                raise CannotVectorize("it reads a buffer of rank 0 under a condition")
            return load.replace(indices=wide, mask=mask, dtype=self._typed(load))
        return load.replace(indices=tuple(indices))

    def _is_own(self, load: Load) -> bool:
        """Return True if this thread alone writes what is loaded, and no lane is out of bounds."""
        return load.buffer.scope == "local" and is_in_bounds(load, self.ranges, self.facts)

    def _apply(self, expr: Expr, parts: dict[int, Expr]) -> Expr:
        if all(part.dtype.lanes == 1 for part in parts.values()):
            return _rebuilt(expr, parts)
        if isinstance(expr, Cast):
            made = self._cast_ramp(expr, parts[id(expr.value)])
            if made is not None:
                return made
        if isinstance(expr, (Add, Sub, Mul)):
            made = _ramp(expr, parts[id(expr.a)], parts[id(expr.b)], self.lanes)
            if made is not None:
                return made
        wide = {key: self.wide(part) for key, part in parts.items()}
        return _rebuilt(expr, wide).replace(dtype=self._typed(expr))

    def _cast_ramp(self, expr: Cast, value: Expr) -> Expr | None:
        if not isinstance(value, Ramp) or not expr.dtype.is_integer:
            return None
        wide, narrow = expr.dtype, value.dtype.element
        if wide.bits > narrow.bits:  # A ramp that wraps around is not a ramp in a wider type.
            base, stride = bounds(value.base, self.ranges), as_int(value.stride)
            if stride is None or base.low is None or base.high is None:
                return None
            ends = (0, stride * (self.lanes - 1))
            if base.low + min(ends) < narrow.low or base.high + max(ends) > narrow.high:
                return None
        return Ramp(
            convert(value.base, wide), convert(value.stride, wide), wide.with_lanes(self.lanes)
        )

    def _typed(self, expr: Expr):
        return expr.dtype.with_lanes(self.lanes)


def _rebuilt(expr: Expr, parts: dict[int, Expr]) -> Expr:
    changes: dict[str, object] = {}
    for field in fields(type(expr)):
        if field.kind == "child":
            value = getattr(expr, field.name)
            changes[field.name] = (
                tuple(parts[id(item)] for item in value) if field.many else parts[id(value)]
            )
    return expr.replace(**changes)


def _ramp(expr: Binary, a: Expr, b: Expr, lanes: int) -> Expr | None:
    """Return a ramp for evenly spaced values, which make a load one vector load."""
    if not expr.dtype.is_integer:
        return None
    match expr, a, b:
        case ((Add() | Sub()), Ramp(p, s), Ramp(q, t)):
            return Ramp(_op(expr, p, q), _op(expr, s, t), a.dtype)
        case ((Add() | Sub()), Ramp(p, s), _) if b.dtype.lanes == 1:
            return Ramp(_op(expr, p, b), s, a.dtype)
        case Add(), _, Ramp(p, s) if a.dtype.lanes == 1:
            return Ramp(_op(expr, a, p), s, b.dtype)
        case Sub(), _, Ramp(p, s) if a.dtype.lanes == 1:
            return Ramp(_op(expr, a, p), 0 - s, b.dtype)
        case Mul(), Ramp(p, s), _ if b.dtype.lanes == 1:
            return Ramp(_op(expr, p, b), _op(expr, s, b), a.dtype)
        case Mul(), _, Ramp(p, s) if a.dtype.lanes == 1:
            return Ramp(_op(expr, a, p), _op(expr, a, s), b.dtype)
        case _:
            return None


def _op(like: Binary, a: Expr, b: Expr) -> Expr:
    match like, a, b:
        case Add(), Const(0), _:
            return b
        case ((Add() | Sub()), _, Const(0)):
            return a
        case Mul(), Const(1), _:
            return b
        case Mul(), _, Const(1):
            return a
        case Mul(), Const(int() as x), Const(int() as y) if abs(x * y) < 1 << (a.dtype.bits - 1):
            return Const(x * y, a.dtype)
        case Mul(), Const(0), _:
            return a
        case _:
            return type(like)(a, b, a.dtype)
