"""Proofs by trying every value, where there are few: without a solver."""

from collections.abc import Mapping
from itertools import combinations
from math import prod
from typing import Any, cast

import numpy as np

from irkit.core import Node, any_node, children, postorder, rewrite, walk, with_fields
from irkit.ir import (
    I64,
    Broadcast,
    Buffer,
    Const,
    DType,
    Expr,
    Load,
    Ramp,
    Var,
    evaluate,
    numpy_dtype,
)
from irkit.ir.arith import Claim
from irkit.proof.outcome import Outcome, Proved, Refuted
from irkit.proof.texts import expr_text

MOST_BITS = 16
"""The unknown bits of all values together: two numbers of 8 bits, or one of 16."""
LANES = 1 << 14
MOST_NODES = 400


def by_exhaustion(claim: Claim) -> Outcome | None:
    """Compute both expressions for every value of what is unknown; None if there are too many.

    A load counts as one unknown, whatever its indices are.
    """
    if not _is_small(claim):
        return None
    plain, loads = _without_loads(claim)
    unknown = plain.variables
    if sum(var.dtype.bits for var in unknown) > MOST_BITS:
        return None
    columns = _columns([_values(var, plain) for var in unknown])
    count = len(columns[0]) if columns else 1
    for at in range(0, count, LANES):
        part = {var: column[at : at + LANES] for var, column in zip(unknown, columns, strict=True)}
        wrong = _first_wrong(plain, part)
        if wrong is not None:
            return _refuted(plain, loads, part, wrong)
    return Proved("all values" if unknown else "its value")


def _is_small(claim: Claim) -> bool:
    """Return True for scalars of few nodes; what is not known is cut down in the end."""
    for part in (claim.before, claim.after, *claim.facts):
        order = postorder(part)
        if len(order) > MOST_NODES:
            return False
        if any(cast(Expr, node).dtype.lanes > 1 for node in order):
            return False
    return True


def _without_loads(claim: Claim) -> tuple[Claim, dict[Var, Load]]:
    """Put a variable in the place of each load; equal loads become one."""
    names: dict[Expr, Var] = {}

    def named(node: Load) -> Expr:
        # An outer load is met after those in its indices, so equal ones look alike.
        return names.setdefault(node, Var(f"loaded{len(names)}", node.dtype))

    before, after, *facts = (
        rewrite(part, named, on=Load) for part in (claim.before, claim.after, *claim.facts)
    )
    made = Claim(before, after, claim.ranges, tuple(facts))
    return made, {var: cast(Load, load) for load, var in names.items()}


def _values(var: Var, claim: Claim) -> Any:
    dtype = var.dtype
    kind = numpy_dtype(dtype)
    if dtype.is_bool:
        return np.array([False, True])
    if dtype.is_float:
        return np.arange(1 << dtype.bits, dtype=np.uint16).view(kind)
    found = np.arange(dtype.low, dtype.high + 1)
    known = claim.ranges.get(var)
    if known is not None:
        inside = found[[known.contains(int(value)) for value in found]]
        found = inside if len(inside) else found
    return found.astype(kind)


def _columns(values: list[Any]) -> list[Any]:
    """Return all combinations as columns of equal length."""
    count = prod(map(len, values))
    columns: list[Any] = []
    repeat = count
    for column in values:
        repeat //= len(column)
        columns.append(np.tile(np.repeat(column, repeat), count // (repeat * len(column))))
    return columns


def _first_wrong(claim: Claim, part: Mapping[Var, Any]) -> int | None:
    """Return the position of the first values for which the facts hold and the sides differ."""
    count = len(next(iter(part.values()))) if part else 1
    holds = np.ones(count, bool)
    for fact in claim.facts:
        holds &= np.asarray(_computed(fact, part, count), bool)
    sides = (np.asarray(_computed(side, part, count)) for side in (claim.before, claim.after))
    wrong = holds & ~same_values(*sides)
    return int(np.argmax(wrong)) if wrong.any() else None


def same_values(a: Any, b: Any) -> Any:
    """Return where two arrays hold the same values: the same bits, or NaN both."""
    x, y = np.atleast_1d(np.ascontiguousarray(a)), np.atleast_1d(np.ascontiguousarray(b))
    if x.dtype.kind in "biu":
        return x == y
    bits = f"u{x.dtype.itemsize}"
    with np.errstate(all="ignore"):
        return (x.view(bits) == y.view(bits)) | ((x != x) & (y != y))


def _computed(expr: Expr, part: Mapping[Var, Any], count: int) -> Any:
    """Evaluate an expression for columns of values, as one vector."""
    if count == 1:
        return evaluate(expr, {var: column[0] for var, column in part.items()})
    buffers = {var: Buffer(var.name, (Const(count, I64),), var.dtype) for var in part}
    places = Ramp(Const(0, I64), Const(1, I64), I64.with_lanes(count))
    done: dict[int, Expr] = {}
    for visited in postorder(expr):
        node = cast(Expr, visited)
        wide = node.dtype.with_lanes(count)
        if isinstance(node, Var):
            done[id(node)] = Load(buffers[node], (places,), None, wide)
        elif isinstance(node, Const):
            done[id(node)] = Broadcast(node, wide)
        else:
            new: dict[int, Node] = {id(child): done[id(child)] for child in children(node)}
            done[id(node)] = _with_dtype(cast(Expr, with_fields(node, new)), wide)
    return evaluate(done[id(expr)], {buffers[var]: column for var, column in part.items()})


def _with_dtype(node: Expr, dtype: DType) -> Expr:
    return cast(Any, node).replace(dtype=dtype)


def _refuted(
    claim: Claim, loads: dict[Var, Load], part: Mapping[Var, Any], at: int
) -> Refuted | None:
    """Return the values as a refutation, unless two loads may not differ as they do here."""
    if not _independent(claim, loads):
        return None
    values = {var: column[at] for var, column in part.items()}
    before, after = evaluate(claim.before, values), evaluate(claim.after, values)
    shown = {expr_text(loads[var]) if var in loads else var.name: values[var] for var in values}
    return Refuted({name: value.item() for name, value in shown.items()}, before, after)


def _independent(claim: Claim, loads: dict[Var, Load]) -> bool:
    """Return True if memory can hold any value for each load, whatever the variables are."""
    buffers = [load.buffer for load in loads.values()]
    if any(a is b for a, b in combinations(buffers, 2)):
        return False
    inside = {var for load in loads.values() for var in walk(load, Var)}
    others = (claim.before, claim.after, *claim.facts)
    return not any(any_node(part, Var, inside.__contains__) for part in others)
