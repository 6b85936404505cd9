"""Solve for the axes of a block that write a given part of a buffer."""

from collections.abc import Mapping, Sequence

from irkit.ir import (
    Block,
    Expr,
    FloorDiv,
    Interval,
    Var,
    as_int,
    linear,
    simplify,
)
from irkit.ir.analysis import Box, SymbolicInterval


def solve_axes(
    indices: Sequence[Expr], box: Box, block: Block, ranges: Mapping[Var, Interval]
) -> dict[Var, SymbolicInterval]:
    """Return the interval of each axis that writes a box; a missing axis may be needed in full.

    An index can be an axis times a constant plus a constant, or an axis divided by a constant, as
    layout transformations produce them.
    """
    own = {axis.var: axis for axis in block.axes if axis.kind == "spatial"}
    found: dict[Var, SymbolicInterval] = {}
    for index, reach in zip(indices, box, strict=True):
        if reach is None:
            continue
        pair = inverse_interval(index, reach)
        if pair is None or pair[0] not in own:
            continue
        var = pair[0]
        made = SymbolicInterval(simplify(pair[1].low, ranges), simplify(pair[1].high, ranges))
        if made.low.dtype == var.dtype and _is_shorter(made, found.get(var), ranges):
            found[var] = made
    return found


def inverse_interval(index: Expr, reach: SymbolicInterval) -> tuple[Var, SymbolicInterval] | None:
    """Return the only variable of an index, and the interval of its values for which the index is
    in an interval; None if the index is not a simple function of one variable."""
    if isinstance(index, FloorDiv):
        by = as_int(index.b)
        if by is None or by < 1:
            return None
        above = reach.high * by + (by - 1)
        return inverse_interval(index.a, SymbolicInterval(reach.low * by, above))
    form = linear(index)
    if form is None or len(form.terms) != 1:
        return None
    ((atom, factor),) = form.terms
    low, high = reach.low - form.constant, reach.high - form.constant
    if factor < 0:
        low, high = -high, -low
    by = abs(factor)
    if by != 1:
        low, high = (low + (by - 1)) // by, high // by
    inner = SymbolicInterval(low, high)
    if isinstance(atom, Var):
        return atom, inner
    return inverse_interval(atom, inner) if isinstance(atom, FloorDiv) else None


def _is_shorter(
    a: SymbolicInterval, b: SymbolicInterval | None, ranges: Mapping[Var, Interval]
) -> bool:
    if b is None:
        return True
    ours = as_int(simplify(a.high - a.low, ranges))
    theirs = as_int(simplify(b.high - b.low, ranges))
    return ours is not None and (theirs is None or ours < theirs)
