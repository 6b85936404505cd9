"""Simplify comparisons, minimum and maximum, selections, and logic."""

from math import gcd

from irkit.ir.arith.emit import emit
from irkit.ir.arith.knowledge import Knowledge, negated
from irkit.ir.arith.sums import Sum
from irkit.ir.arith.transfer import verdict
from irkit.ir.conditional import Conditional, Select
from irkit.ir.dtype import DType
from irkit.ir.expr import (
    EQ,
    GE,
    GT,
    LE,
    NE,
    And,
    BitAnd,
    BitOr,
    Broadcast,
    Compare,
    Const,
    Expr,
    Max,
    Min,
    Not,
    Or,
)


def truth(value: bool, dtype: DType) -> Expr:
    """Return True or False as a constant, with the lanes of the type."""
    made = Const(value, dtype.element)
    return made if dtype.lanes == 1 else Broadcast(made, dtype)


def as_bool(node: Expr) -> bool | None:
    """Return the value of a constant condition, or None."""
    if isinstance(node, Broadcast):
        node = node.value
    return node.value if isinstance(node, Const) and isinstance(node.value, bool) else None


def compare(known: Knowledge, node: Compare, a: Expr, b: Expr) -> Expr:
    """Decide a comparison of integers by the range of the difference, or cancel common parts."""
    if known.settled:
        now = known.sum_of(node.replace(a=a, b=b)).key
        if now in known.settled:
            return truth(known.settled[now], node.dtype)
    if not a.dtype.is_integer:
        return node.replace(a=a, b=b)
    left, right = known.sum_of(a), known.sum_of(b)
    cls, dtype = node.__class__, a.dtype
    if left.key == right.key:
        return truth(cls in (EQ, LE, GE), node.dtype)
    if known.fits(left, dtype) and known.fits(right, dtype):
        found = verdict(cls, *known.span(left - right))
        if found is None:
            return _reduced(known, node.replace(a=a, b=b), left, right)
    else:
        (low, high), (bottom, top) = known.range_of(a), known.range_of(b)
        found = verdict(cls, low - top, high - bottom)
    return node.replace(a=a, b=b) if found is None else truth(found, node.dtype)


def _reduced(known: Knowledge, node: Compare, left: Sum, right: Sum) -> Expr:
    """Cancel common parts of both sides and divide by common factors, if that simplifies
    anything."""
    cls, dtype = node.__class__, node.a.dtype
    diff = left - right
    shared = _shares(left, right, diff)
    if not shared and not _steps(diff):
        return node
    # All but == and != become diff < 0, which is easy to round, and then return to their own form.
    flip = cls in (GT, GE)
    strict = 0 if cls not in (LE, GE) else 1
    work = diff.scaled(-1) if flip else diff
    if cls in (EQ, NE):
        step = gcd(*work.terms.values())
        if work.constant % step:
            return truth(cls is NE, node.dtype)
        work = _divided(work, step)
    else:
        work = _lowered(known, work - Sum({}, strict)) + Sum({}, strict)
    work = work.scaled(-1) if flip else work
    return node if not shared and work.key == diff.key else _rebuilt(known, node, work, dtype)


def _rebuilt(known: Knowledge, node: Compare, diff: Sum, dtype: DType) -> Expr:
    left = {product: c for product, c in diff.terms.items() if c > 0}
    right = {product: -c for product, c in diff.terms.items() if c < 0}
    if left:
        a, b = Sum(left), Sum(right, -diff.constant)
    else:
        a, b = Sum(left, diff.constant), Sum(right)
    if not (known.fits(a, dtype) and known.fits(b, dtype)):
        return node
    return node.replace(a=emit(known, a, dtype), b=emit(known, b, dtype))


def _shares(left: Sum, right: Sum, diff: Sum) -> bool:
    """Return True if a term, or a constant that can be moved, is on both sides."""
    if len(diff.terms) < len(left.terms) + len(right.terms):
        return True
    if left.constant and (right.constant or not right.terms):
        return True
    return bool(right.constant) and not left.terms


def _steps(diff: Sum) -> list[int]:
    return sorted({abs(c) for c in diff.terms.values()} - {1}, reverse=True)[:8]


def _divided(diff: Sum, step: int) -> Sum:
    return Sum({p: c // step for p, c in diff.terms.items()}, diff.constant // step)


def _lowered(known: Knowledge, diff: Sum) -> Sum:
    """Return an equivalent of ``diff < 0`` with smaller numbers.

    With diff = step * t + rest and 0 <= rest < step it is t < 0.
    """
    for step in _steps(diff):
        rest = {p: c for p, c in diff.terms.items() if c % step}
        low, high = Sum(rest, diff.constant % step).exact(known.spans)
        if low >= 0 and high < step:
            upper = {p: c // step for p, c in diff.terms.items() if c % step == 0}
            return _lowered(known, Sum(upper, diff.constant // step))
    step = gcd(*diff.terms.values())
    return _divided(diff, step) if step > 1 else diff


def extremum(known: Knowledge, node: Min | Max, a: Expr, b: Expr) -> Expr:
    """Return the smaller or larger side if the range of the difference decides."""
    cls = node.__class__
    while a.__class__ is cls and isinstance(a, (Min, Max)):  # min(min(x, 3), 5)
        for kept, other in ((a.a, a.b), (a.b, a.a)):
            winner = _winner(known, cls, other, b)
            if winner is other:
                return a
            if winner is b:
                a = kept
                break
        else:
            break
    winner = _winner(known, cls, a, b)
    return node.replace(a=a, b=b) if winner is None else winner


def _winner(known: Knowledge, cls: type[Min | Max], a: Expr, b: Expr) -> Expr | None:
    left, right, dtype = known.sum_of(a), known.sum_of(b), a.dtype
    if left.key == right.key:
        return a
    if dtype.is_float:
        return None
    if known.fits(left, dtype) and known.fits(right, dtype):
        low, high = known.span(left - right)
    else:
        (bottom, top), (least, most) = known.range_of(a), known.range_of(b)
        low, high = bottom - most, top - least
    if high <= 0:
        return a if cls is Min else b
    if low >= 0:
        return b if cls is Min else a
    return None


def select(known: Knowledge, node: Select | Conditional, parts: tuple[Expr, ...]) -> Expr:
    """Return the side that a known condition chooses, or the common value of both sides."""
    cond, then, otherwise = parts
    while isinstance(cond, Not):
        cond, then, otherwise = cond.a, otherwise, then
    chosen = as_bool(cond)
    if chosen is not None:
        return then if chosen else otherwise
    if known.sum_of(then).key == known.sum_of(otherwise).key:
        return then
    if node.dtype.is_bool and as_bool(then) is True and as_bool(otherwise) is False:
        return cond
    return node.replace(cond=cond, then=then, otherwise=otherwise)


def invert(known: Knowledge, node: Not, a: Expr) -> Expr:
    """Negate constants, comparisons and negations."""
    value = as_bool(a)
    if value is not None:
        return truth(not value, node.dtype)
    opposite = negated(a) if node.dtype.is_bool or isinstance(a, Not) else None
    if opposite is None:
        return node.replace(a=a)
    return (
        opposite
        if isinstance(a, Not) or not isinstance(opposite, Compare)
        else compare(known, opposite, opposite.a, opposite.b)
    )


def junction(known: Knowledge, node: And | Or | BitAnd | BitOr, a: Expr, b: Expr) -> Expr:
    """Apply the laws of and, or on bools: constants, x and x, x and not x, absorption."""
    conjunctive = isinstance(node, (And, BitAnd))
    for side, other in ((a, b), (b, a)):
        value = as_bool(side)
        if value is not None:
            return other if value is conjunctive else side
    left, right = known.sum_of(a).key, known.sum_of(b).key
    if left == right:
        return a
    for side, key in ((a, right), (b, left)):
        opposite = negated(side)
        if opposite is not None and known.sum_of(opposite).key == key:
            return truth(not conjunctive, node.dtype)
    for side, other, key in ((a, b, right), (b, a, left)):
        if isinstance(side, (And, Or, BitAnd, BitOr)) and key in (
            known.sum_of(side.a).key,
            known.sum_of(side.b).key,
        ):
            return side if isinstance(side, (And, BitAnd)) is conjunctive else other
    return node.replace(a=a, b=b)
