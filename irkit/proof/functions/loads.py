"""The loads that an expression performs, each with the condition under which it does.

A step may leave a load out, but not add one: it could lie outside its buffer.
"""

from collections.abc import Iterable

import msgspec

from irkit.core import any_node, children, equal, postorder
from irkit.ir import (
    BOOL,
    I64,
    And,
    Conditional,
    Const,
    Expr,
    Load,
    Or,
    convert,
    eq,
    logical_and,
    logical_not,
    logical_or,
)

MOST_LOADS = 200


class TooManyLoads(Exception):
    """An expression that performs more loads than are compared."""


class PerformedLoad(msgspec.Struct, frozen=True):
    """A load, and the condition under which it is performed; None is always."""

    load: Load
    guard: Expr | None

    @property
    def is_plain(self) -> bool:
        """True if its place, and whether it is performed, depends on no memory."""
        parts = [*self.load.indices, self.performed]
        return not any(any_node(part, Load) for part in parts)

    @property
    def performed(self) -> Expr:
        """The condition under which, or the lanes in which, it touches memory."""
        parts = [part for part in (self.guard, self.load.mask) if part is not None]
        return logical_and(*parts) if parts else Const(True, BOOL)


def loads_of(exprs: Iterable[Expr]) -> list[PerformedLoad]:
    """Return the loads of expressions.

    Raises: TooManyLoads.
    """
    found: list[PerformedLoad] = []
    for expr in exprs:
        reading = _reading(expr)
        stack: list[tuple[Expr, Expr | None]] = [(expr, None)]
        seen: set[tuple[int, int]] = set()
        while stack:
            node, guard = stack.pop()
            if (id(node), id(guard)) in seen or id(node) not in reading:
                continue
            seen.add((id(node), id(guard)))
            if len(found) > MOST_LOADS or len(seen) > 10 * MOST_LOADS:
                raise TooManyLoads
            if isinstance(node, Load):
                found.append(PerformedLoad(node, guard))
            stack += _below(node, guard)
    return found


def _reading(root: Expr) -> set[int]:
    """Return the nodes that a load is below, or that are loads."""
    found: set[int] = set()
    for node in postorder(root):
        if isinstance(node, Load) or not found.isdisjoint(map(id, children(node))):
            found.add(id(node))
    return found


def _below(node: Expr, guard: Expr | None) -> list[tuple[Expr, Expr | None]]:
    match node:
        case Conditional(cond, then, otherwise):
            no = logical_not(cond)
            return [(cond, guard), (then, _both(guard, cond)), (otherwise, _both(guard, no))]
        case And(a, b):
            return [(a, guard), (b, _both(guard, a))]
        case Or(a, b):
            return [(a, guard), (b, _both(guard, logical_not(a)))]
        case _:
            return [(child, guard) for child in children(node) if isinstance(child, Expr)]


def _both(guard: Expr | None, cond: Expr) -> Expr:
    return cond if guard is None else logical_and(guard, cond)


def covering(new: PerformedLoad, old: Iterable[PerformedLoad]) -> Expr | None:
    """Return the condition that one of some loads touches the element that a load touches, or None
    if there is no such load."""
    lanes = new.load.dtype.lanes
    cases: list[Expr] = []
    for each in old:
        if each.load.buffer is new.load.buffer and each.load.dtype.lanes in (1, lanes):
            pairs = zip(each.load.indices, new.load.indices, strict=True)
            apart = [eq(as_index(a), as_index(b)) for a, b in pairs if not equal(a, b)]
            if not apart and _as_often(each, new):
                return Const(True, BOOL)
            cases.append(logical_and(each.performed, *apart))
    return logical_or(*cases) if cases else None


def _as_often(old: PerformedLoad, new: PerformedLoad) -> bool:
    """Return True if a load is plainly performed wherever another is."""
    pairs = ((old.guard, new.guard), (old.load.mask, new.load.mask))
    return all(a is None or (b is not None and equal(a, b)) for a, b in pairs)


def as_index(expr: Expr) -> Expr:
    """Return an index as the number of 64 bits that it stands for."""
    return convert(expr, I64.with_lanes(expr.dtype.lanes))
