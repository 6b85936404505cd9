"""Reductions that choose one of their elements, as an argmax does."""

import math
from collections.abc import Iterator
from itertools import product

from irkit.core import Node, equal, rewrite, substitute, walk
from irkit.ir import (
    And,
    BitAnd,
    BitOr,
    Call,
    Compare,
    Conditional,
    Const,
    Expr,
    Interval,
    Load,
    Not,
    Or,
    Select,
    Var,
    const,
    evaluate,
)
from irkit.ir.analysis import same_place
from irkit.schedule.analysis.combination import Combination


def condition_of(combine: Combination) -> Expr | None:
    """Return the condition on which all results so far are kept, and else all values of the new
    element taken; None if a reduction does not choose like that."""
    values: dict[Node, Node] = {}
    for let in combine.lets:
        values[let.var] = substitute(let.value, values)
    found: list[Expr] = []
    for store, right in zip(combine.stores, combine.rights, strict=False):
        value = substitute(store.value, values)
        if not isinstance(value, (Select, Conditional)) or value.otherwise is not right:
            return None
        if not isinstance(value.then, Load) or not same_place(value.then, store):
            return None
        found.append(value.cond)
    return found[0] if found and all(equal(each, found[0]) for each in found) else None


def begins_neutral(combine: Combination, cond: Expr, ranges: dict[Var, Interval]) -> bool:
    """Return True if the first element always replaces what a choice was initialised with.

    ``ranges`` bound the new values. The condition must consist of comparisons: then it is enough to
    try values on either side of each constant.
    """
    if combine.begun is None or not all(isinstance(s.value, Const) for s in combine.begun):
        return False
    started = {s.buffer: s.value for s in combine.begun}

    def begun(load: Load) -> Expr:
        return started[load.buffer]

    asked = rewrite(cond, begun, on=Load)
    if not _only_compares(asked):
        return False
    constants = list(walk(asked, on=Const))
    constants += [value for value in started.values() if isinstance(value, Const)]
    initial = [started[store.buffer] for store in combine.stores]
    tried = [list(_edges(var, constants, ranges.get(var))) for var in combine.rights]
    for values in product(*tried):
        if all(equal(a, b) for a, b in zip(values, initial, strict=True)):
            continue
        if evaluate(substitute(asked, dict(zip(combine.rights, values, strict=True)))):
            return False
    return True


def _only_compares(cond: Expr) -> bool:
    """Return True for a condition of comparisons of values as they are, and tests for NaN."""
    waiting = [cond]
    while waiting:
        each = waiting.pop()
        if isinstance(each, (And, Or, BitAnd, BitOr)) and each.dtype.is_bool:
            waiting += [each.a, each.b]
        elif isinstance(each, Not) and each.dtype.is_bool:
            waiting.append(each.a)
        elif isinstance(each, Compare):
            if not isinstance(each.a, (Var, Const)) or not isinstance(each.b, (Var, Const)):
                return False
        elif isinstance(each, Call) and each.name == "isnan":
            if not isinstance(each.args[0], (Var, Const)):
                return False
        elif not isinstance(each, Const):
            return False
    return True


def _edges(var: Var, constants: list[Const], range_: Interval | None) -> Iterator[Expr]:
    """Yield values of a variable before, at and after each constant of its type, and extremes."""
    own = [each.value for each in constants if each.dtype == var.dtype]
    if var.dtype.is_float:
        floats = [float(each) for each in own]
        near = [math.nextafter(each, end) for each in floats for end in (-math.inf, math.inf)]
        for value in {-math.inf, -1.0, 0.0, 1.0, math.inf, *floats, *near}:
            yield const(value, var.dtype)
        yield const(math.nan, var.dtype)
        return
    low, high = (None, None) if range_ is None else (range_.low, range_.high)
    low, high = var.dtype.low if low is None else low, var.dtype.high if high is None else high
    near = [int(each) + by for each in own for by in (-1, 0, 1)]
    for value in sorted({low, high, *[each for each in near if low <= each <= high]}):
        yield const(value, var.dtype)
