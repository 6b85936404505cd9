"""Ranges of loop variables and axes, and whether loads stay inside their buffers."""

from collections.abc import Mapping, Sequence

from irkit.core import MOST_ELEMENTS, Node, children, deep_recursion
from irkit.ir import (
    Block,
    Conditional,
    Expr,
    FloorDiv,
    For,
    Interval,
    Load,
    Mul,
    PrimFunc,
    Var,
    as_int,
    conjuncts,
    loop_ranges,
    lt,
    seq,
    simplify,
)
from irkit.ir.analysis import is_in_bounds

_NOTHING = seq()


def ranges_at(func: PrimFunc, loops: Sequence[For] = ()) -> dict[Var, Interval]:
    """Return the ranges of the variables of a function and of additional loops; extents are bounded
    by the size of memory."""
    known = dict(loop_ranges(func))
    for loop in loops:
        known = loop_ranges(loop.replace(body=_NOTHING), known)
    return {
        var: Interval(box.low, MOST_ELEMENTS) if box.low is not None and box.high is None else box
        for var, box in known.items()
    }


def facts_of(loops: Sequence[For]) -> list[Expr]:
    """Return a condition ``var < end`` for each loop whose end is not constant."""
    return [lt(loop.var, loop.end) for loop in loops if as_int(loop.end) is None]


def rounded_up(dim: Expr) -> Expr | None:
    """Return what a dimension is, rounded up to a multiple: ``m`` for ``(m + 15) // 16 * 16``; None
    if it has another form."""
    by = as_int(dim.b) if isinstance(dim, Mul) else None
    if by is None or not isinstance(dim, Mul) or not isinstance(dim.a, FloorDiv):
        return None
    same = by > 0 and as_int(dim.a.b) == by
    return simplify(dim.a.a - (by - 1)) if same else None


def inside_extents(block: Block, ranges: Mapping[Var, Interval]) -> dict[Var, Interval]:
    """Bound the axes of a block by their extents alone."""
    known = dict(ranges)
    for axis in block.axes:
        extent = as_int(axis.extent)
        known[axis.var] = Interval(0, MOST_ELEMENTS if extent is None else max(extent - 1, 0))
    return known


@deep_recursion
def stays_inside(block: Block, ranges: Mapping[Var, Interval]) -> bool:
    """Return True if all loads of a block provably stay inside their buffers, even where its
    predicate is false."""
    extents = [lt(axis.var, axis.extent) for axis in block.axes]
    parts = [block.body] if block.init is None else [block.init, block.body]
    return _stay_inside(parts, ranges, extents)


def _stay_inside(
    nodes: Sequence[Node], ranges: Mapping[Var, Interval], facts: Sequence[Expr]
) -> bool:
    for node in nodes:
        below = children(node)
        if isinstance(node, Conditional):
            below = (node.cond, node.otherwise)
            if not _stay_inside((node.then,), ranges, [*facts, *conjuncts(node.cond)]):
                return False
        if isinstance(node, Load) and not is_in_bounds(node, ranges, facts):
            return False
        if not _stay_inside(below, ranges, facts):
            return False
    return True
