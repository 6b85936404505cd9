"""The range of every variable bound in a function; each is bound once, so one table is enough."""

from typing import cast

from irkit.core import STATEMENTS, Node, analysis, walk
from irkit.ir.arith.bounds import bounds
from irkit.ir.arith.interval import Interval, Ranges, limits
from irkit.ir.expr import Var
from irkit.ir.function import PrimFunc
from irkit.ir.stmt import Block, For, Let, Stmt, Store


def loop_ranges(root: PrimFunc | Stmt, outer: Ranges | None = None) -> dict[Var, Interval]:
    """Return the interval of every loop variable, block axis and let variable.

    Dimensions of parameters are not negative. ``outer`` has the ranges of variables bound outside a
    statement; they are included in the result.
    """
    if isinstance(root, PrimFunc) and not outer:
        return dict(_of_function(root))
    return _collect(root, dict(outer or {}))


@analysis
def _of_function(func: PrimFunc) -> dict[Var, Interval]:
    return _collect(func, {})


def _collect(root: PrimFunc | Stmt, known: dict[Var, Interval]) -> dict[Var, Interval]:
    body = root
    if isinstance(root, PrimFunc):
        body = root.body
        for param in root.params:
            for dim in () if isinstance(param, Var) else param.shape:
                if isinstance(dim, Var):
                    known[dim] = Interval(0, None)
    stack: list[Node] = [body]
    while stack:  # Parents first, so that outer ranges are known.
        node = stack.pop()
        if isinstance(node, For):
            known[node.var] = _of_loop(node, known)
        elif isinstance(node, Block):
            _add_axes(node, known)
        elif isinstance(node, Let) and node.value.dtype.is_integer:
            known[node.var] = _open(bounds(node.value, known), node.var)
        if node.__class__ is not Store:
            below = STATEMENTS[node.__class__](node)
            stack += [each for each in below[::-1] if not each.expression]
    return known


def _of_loop(loop: For, known: Ranges) -> Interval:
    low, high = bounds(loop.begin, known).low, bounds(loop.end, known).high
    assert low is not None
    assert high is not None
    # For a loop that never runs, any value keeps the interval well formed.
    return _open(Interval(low, max(low, high - 1)), loop.var)


def _open(interval: Interval, var: Var) -> Interval:
    """Replace limits that are just those of the type by None."""
    low, high = limits(var.dtype)
    assert interval.low is not None
    assert interval.high is not None
    return Interval(
        None if interval.low <= low else interval.low,
        None if interval.high >= high - 1 else interval.high,
    )


def _add_axes(block: Block, known: dict[Var, Interval]) -> None:
    """Bound the axes by their bindings, and by their extents unless a predicate checks them.

    A predicate over an axis is what keeps it inside its extent: using the extent first would prove
    the predicate away.
    """
    predicate = block.predicate
    asked = set(walk(predicate, Var)) if predicate is not None else set[Var]()
    for axis in block.axes:
        if not axis.var.dtype.is_integer:
            continue
        found = bounds(axis.binding, known)
        extent = bounds(axis.extent, known).high
        if axis.var not in asked and extent is not None:
            inside = found.intersect(Interval(0, max(extent - 1, 0)))
            low, high = cast(int, inside.low), cast(int, inside.high)
            found = inside if low <= high else Interval(0, 0)
        known[axis.var] = _open(found, axis.var)
