"""The part of a buffer that a loop body touches: an interval for each dimension, over the variables
bound around the body.

The intervals are never too small. They can be too large and reach beyond the buffer: a guarded
access counts as if it always happened.
"""

from collections.abc import Mapping, Sequence

import msgspec

from irkit.core import Node, children, equal, substitute, walk
from irkit.ir import (
    Block,
    Buffer,
    Const,
    Expr,
    For,
    Interval,
    Let,
    Load,
    Stmt,
    Store,
    Var,
    View,
    bounds,
    le,
    linear,
    prove,
    simplify,
)
from irkit.schedule.analysis.accesses import variables
from irkit.schedule.limits import MOST_EXTENT

_Ranges = Mapping[Var, Interval]


class SymbolicInterval(msgspec.Struct, frozen=True):
    """The integers from ``low`` to ``high``, both included."""

    low: Expr
    high: Expr

    def is_same(self, other: "SymbolicInterval") -> bool:
        """Return True if two intervals have the same expressions as bounds."""
        return equal(self.low, other.low) and equal(self.high, other.high)


Box = tuple[SymbolicInterval | None, ...]
"""An interval for each dimension; None stands for all of it."""


class BufferAccess(msgspec.Struct, frozen=True):
    """An access below some statement, with the loops in between and the block around it."""

    node: Load | Store
    indices: tuple[Expr, ...]
    loops: tuple[For, ...]
    block: Block | None


def touches(
    root: Stmt, buffer: Buffer, kind: type[Load] | type[Store]
) -> list[BufferAccess] | None:
    """List the accesses to a buffer below a statement, with axes replaced by their bindings; None
    if a view aliases the buffer."""
    found: list[BufferAccess] = []
    values: dict[Node, Node] = {}
    stack: list[tuple[Node, tuple[For, ...], Block | None]] = [(root, (), None)]
    while stack:
        node, loops, block = stack.pop()
        inner = loops
        if isinstance(node, For):
            # Its bounds are evaluated outside the loop.
            stack.append((node.body, (*loops, node), block))
            stack.extend((part, loops, block) for part in (node.end, node.begin))
            continue
        if isinstance(node, View) and node.source is buffer:
            return None
        if isinstance(node, Let):
            values[node.var] = substitute(node.value, values)
        elif isinstance(node, Block):
            block = node
            for axis in node.axes:
                values[axis.var] = substitute(axis.binding, values)
        if isinstance(node, kind) and node.buffer is buffer:
            indices = tuple(substitute(at, values) for at in node.indices)
            found.append(BufferAccess(node, indices, loops, block))
        stack.extend((child, inner, block) for child in reversed(children(node)))
    return found


def box_of(found: Sequence[BufferAccess], ranges: _Ranges) -> Box:
    """Return the bounding box of some accesses to one buffer."""
    boxes = [[interval(at, touch.loops, ranges) for at in touch.indices] for touch in found]
    return tuple(_joined(list(dim), ranges) for dim in zip(*boxes, strict=True))


def interval(index: Expr, loops: Sequence[For], ranges: _Ranges) -> SymbolicInterval | None:
    """Return the interval of the values of an index while some loops run; None if unknown."""
    if index.dtype.lanes != 1:
        return None
    inner = {loop.var for loop in loops}
    plain = simplify(index, ranges)
    low, high = _end(plain, inner, ranges, -1), _end(plain, inner, ranges, 1)
    for loop in reversed(loops):
        if low is None or high is None:
            return None
        low = _at_end(low, loop, ranges, -1)
        high = _at_end(high, loop, ranges, 1)
    if low is None or high is None or (variables(low) | variables(high)) & inner:
        return None
    return SymbolicInterval(simplify(low, ranges), simplify(high, ranges))


def _end(index: Expr, inner: set[Var], ranges: _Ranges, side: int) -> Expr | None:
    """Return the minimum or maximum of an index over the inner loops, by replacing terms that are
    not linear in them by constant bounds."""
    form = linear(index)
    if form is None:
        return None
    total: Expr = Const(form.constant, index.dtype)
    for atom, factor in form.terms:
        part = atom
        if not isinstance(atom, Var) and variables(atom) & inner:
            box = bounds(atom, ranges)
            number = box.high if (factor > 0) == (side > 0) else box.low
            # A bound this large comes from a shape variable; the dimension itself is a better one.
            if number is None or not -MOST_EXTENT < number < MOST_EXTENT:
                return None
            part = Const(number, index.dtype)
        elif any(True for _ in walk(atom, on=Load)):
            return None  # The loaded value may be overwritten in between.
        total = total + part * factor
    return simplify(total, ranges)


def _at_end(value: Expr, loop: For, ranges: _Ranges, side: int) -> Expr | None:
    """Replace a loop variable by its first or last value, whichever gives the minimum or
    maximum."""
    if loop.var not in variables(value):
        return value
    form = linear(value)
    if form is None:
        return None
    if any(atom is not loop.var and loop.var in variables(atom) for atom, _ in form.terms):
        return None
    upwards = (form.coefficient(loop.var) > 0) == (side > 0)
    put = loop.end - 1 if upwards else loop.begin
    return simplify(substitute(value, {loop.var: put}), ranges)


def _joined(dims: list[SymbolicInterval | None], ranges: _Ranges) -> SymbolicInterval | None:
    found: SymbolicInterval | None = None
    for dim in dims:
        if dim is None:
            return None
        if found is None:
            found = dim
            continue
        low = _least(found.low, dim.low, ranges)
        less = _least(found.high, dim.high, ranges)
        if low is None or less is None:
            return None
        found = SymbolicInterval(low, dim.high if less is found.high else found.high)
    return found


def _least(a: Expr, b: Expr, ranges: _Ranges) -> Expr | None:
    """Return the one of two expressions that provably is never larger."""
    if prove(le(a, b), ranges):
        return a
    return b if prove(le(b, a), ranges) else None
