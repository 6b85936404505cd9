"""Ranges of loop variables and axes, and whether loads stay inside their buffers."""

from collections.abc import Mapping, Sequence

from irkit.core import Node, children
from irkit.ir import (
    Block,
    Conditional,
    Expr,
    For,
    Interval,
    Load,
    PrimFunc,
    Var,
    as_int,
    conjuncts,
    ge,
    loop_ranges,
    lt,
    prove,
    seq,
)

# No array is longer, so index arithmetic on extents does not wrap around.
_LONGEST = 1 << 47
_NOTHING = seq()


def ranges_at(func: PrimFunc, loops: Sequence[For] = ()) -> dict[Var, Interval]:
    """Return the ranges of the variables of a function and of additional loops; extents are bounded
    by the size of memory."""
    known = dict(loop_ranges(func))
    for loop in loops:
        known = loop_ranges(loop.replace(body=_NOTHING), known)
    return {
        var: Interval(box.low, _LONGEST) if box.low is not None and box.high is None else box
        for var, box in known.items()
    }


def facts_of(loops: Sequence[For]) -> list[Expr]:
    """Return a condition ``var < end`` for each loop whose end is not constant."""
    return [lt(loop.var, loop.end) for loop in loops if as_int(loop.end) is None]


def inside_extents(block: Block, ranges: Mapping[Var, Interval]) -> dict[Var, Interval]:
    """Bound the axes of a block by their extents alone."""
    known = dict(ranges)
    for axis in block.axes:
        extent = as_int(axis.extent)
        known[axis.var] = Interval(0, _LONGEST if extent is None else max(extent - 1, 0))
    return known


def stays_inside(block: Block, ranges: Mapping[Var, Interval]) -> bool:
    """Return True if all loads of a block provably stay inside their buffers, even where its
    predicate is false."""
    extents = [lt(axis.var, axis.extent) for axis in block.axes]
    roots = [block.body] if block.init is None else [block.init, block.body]
    stack: list[tuple[Node, list[Expr]]] = [(root, extents) for root in roots]
    while stack:
        node, facts = stack.pop()
        if isinstance(node, Conditional):
            stack.append((node.then, [*facts, *conjuncts(node.cond)]))
            stack.extend((part, facts) for part in (node.cond, node.otherwise))
            continue
        for at, dim in _places(node):
            if not (prove(ge(at, 0), ranges, facts) and prove(lt(at, dim), ranges, facts)):
                return False
        stack.extend((child, facts) for child in children(node))
    return True


def _places(node: Node) -> list[tuple[Expr, Expr]]:
    if not isinstance(node, Load):
        return []
    return list(zip(node.indices, node.buffer.shape, strict=True))
