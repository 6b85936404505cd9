"""Which part of a buffer a statement touches: a box, with one side for each dimension.

A box is never too small. It can be too large and reach beyond the buffer: a guarded access counts
as if it always happened. Every answer rests on ``ends``, the smallest and the largest value of an
index while some variables vary:

- ``interval``, ``box_of``: loops run from their begin to their end, which can be symbolic, and the
  ends are expressions over the variables bound around the statement;
- ``IndexBoxes``: variables vary within their ranges, so that each side has a constant extent, and
  only its corner is symbolic.
"""

from collections.abc import Iterable, Mapping, Sequence, Set

import msgspec

from irkit.core import (
    Node,
    any_node,
    children,
    deep_recursion,
    equal,
    substitute,
    symbols_bound,
    walk,
)
from irkit.ir.analysis.axes import axis_values
from irkit.ir.arith import IndexSums, Interval, Product, Sum, linear, loop_ranges, prove, simplify
from irkit.ir.arith.emit import emit
from irkit.ir.arith.sums import Atoms, add_terms, normal
from irkit.ir.buffer import Buffer, Load
from irkit.ir.build import le
from irkit.ir.expr import Expr, Var
from irkit.ir.function import PrimFunc
from irkit.ir.stmt import Allocate, Block, For, Let, Stmt, Store, View

MAX_REACH = 1 << 31
"""A range this wide comes from a shape variable or a type; the dimension itself is a better one."""


class BufferAccess(msgspec.Struct, frozen=True):
    """An access below some statement, with the loops in between and the block around it.

    Axes and variables bound by ``let`` in between are replaced by their values.
    """

    node: Load | Store
    indices: tuple[Expr, ...]
    loops: tuple[For, ...]
    block: Block | None


class AccessFinder:
    """Visitor that lists the accesses below some statements and expressions, in text order; with
    ``only``, those of one buffer."""

    def __init__(self, only: Buffer | None = None) -> None:
        self._only = only
        self.found: list[BufferAccess] = []
        self.own: set[Buffer] = set()  # Allocated there, and views of those.
        self.viewed: list[Buffer] = []  # What the views bound there are of.
        self.sources: dict[Buffer, Buffer] = {}  # The memory of each of those views.
        self._values: dict[Node, Node] = {}

        self._loops: list[For] = []
        self._block: Block | None = None

    @deep_recursion
    def add(self, root: Node) -> None:
        self._visit(root)

    def _visit(self, node: Node) -> None:
        match node:
            case Expr():
                for load in walk(node, Load):
                    self._access(load)
                return
            case For():
                self._visit(node.begin)  # Its bounds are evaluated outside.
                self._visit(node.end)
                self._loops.append(self._with_values(node))
                self._visit(node.body)
                self._loops.pop()
                return
            case Store():
                self._access(node)
            case Let():
                self._values[node.var] = substitute(node.value, self._values)
            case Block():
                self._enter_block(node)
                return
            case Allocate():
                self.own.add(node.buffer)
            case View():
                self.viewed.append(node.source)
                self.sources[node.buffer] = self.sources.get(node.source, node.source)
                if node.source in self.own:
                    self.own.add(node.buffer)
            case _:
                pass
        for child in children(node):
            self._visit(child)

    def _enter_block(self, block: Block) -> None:
        for axis in block.axes:
            self._values[axis.var] = substitute(axis.binding, self._values)
        around, self._block = self._block, block
        for child in children(block):
            self._visit(child)
        self._block = around

    def _with_values(self, loop: For) -> For:
        begin, end = substitute(loop.begin, self._values), substitute(loop.end, self._values)
        same = begin is loop.begin and end is loop.end
        return loop if same else loop.replace(begin=begin, end=end)

    def _access(self, node: Load | Store) -> None:
        if self._only is not None and node.buffer is not self._only:
            return
        indices = tuple([substitute(at, self._values) for at in node.indices])
        self.found.append(BufferAccess(node, indices, tuple(self._loops), self._block))


def touches(
    root: Stmt, buffer: Buffer, kind: type[Load] | type[Store]
) -> list[BufferAccess] | None:
    """List the accesses to a buffer below a statement; None if a view aliases the buffer."""
    finder = AccessFinder(only=buffer)
    finder.add(root)
    if any(source is buffer for source in finder.viewed):
        return None
    return [access for access in finder.found if isinstance(access.node, kind)]


def ends(
    sums: Atoms, index: Expr, loops: Sequence[For], moving: Set[Node]
) -> tuple[Sum, Sum] | None:
    """Return the smallest and the largest value of an index while some loops, outermost first, run,
    and the ``moving`` variables vary within their ranges; None if it is unknown."""
    if index.dtype.lanes != 1 or not index.dtype.is_integer:
        return None
    running = {loop.var for loop in loops}
    form = sums.sum_of(index)
    kept: dict[Product, int] = {}
    low = high = form.constant
    for product, c in form.terms.items():
        atom = sums.atom(product)
        if isinstance(atom, Var):
            stays = atom not in moving or atom in running
        else:
            used = set(walk(atom, Var))
            stays = used.isdisjoint(running) and used.isdisjoint(moving)
            if stays and any_node(atom, Load):
                return None  # The loaded value may be overwritten in between.
        if stays:
            kept[product] = c
            continue
        least, most = Sum({product: 1}).exact(sums.spans)
        if most - least >= MAX_REACH and max(-least, most) >= MAX_REACH:
            return None
        low, high = low + min(c * least, c * most), high + max(c * least, c * most)
    if not loops:
        return Sum(kept, low), Sum(kept, high)
    first: Sum | None = Sum(kept, low)
    last: Sum | None = Sum(kept, high)
    for loop in reversed(loops):
        first = _at_end(sums, first, loop, upwards=False)
        last = _at_end(sums, last, loop, upwards=True)
    if first is None or last is None or _mention(sums, (first, last), running):
        return None
    return first, last


def _at_end(sums: Atoms, found: Sum | None, loop: For, *, upwards: bool) -> Sum | None:
    """Replace a loop variable by its first or last value, whichever gives the minimum or
    maximum."""
    if found is None or not _mention(sums, (found,), {loop.var}):
        return found
    (own,) = sums.sum_of(loop.var).terms
    terms: dict[Product, int] = {}
    constant = found.constant
    for product, c in found.terms.items():
        if product != own:
            if loop.var in walk(sums.atom(product), Var):
                return None
            add_terms(terms, {product: c}, 1)
            continue
        at = sums.sum_of(loop.end) - Sum({}, 1) if (c > 0) == upwards else sums.sum_of(loop.begin)
        add_terms(terms, at.terms, c)
        constant += c * at.constant
    return Sum(terms, constant)


def _mention(sums: Atoms, found: Sequence[Sum], variables: Set[Node]) -> bool:
    atoms = {product for each in found for product in each.terms}
    return any(var in variables for product in atoms for var in walk(sums.atom(product), Var))


class SymbolicInterval(msgspec.Struct, frozen=True):
    """The integers from ``low`` to ``high``, both included."""

    low: Expr
    high: Expr

    def is_same(self, other: "SymbolicInterval") -> bool:
        """Return True if two intervals have the same expressions as bounds."""
        return equal(self.low, other.low) and equal(self.high, other.high)


Box = tuple[SymbolicInterval | None, ...]
"""An interval for each dimension; None stands for all of it."""
Ranges = Mapping[Var, Interval]


def interval(index: Expr, loops: Sequence[For], ranges: Ranges) -> SymbolicInterval | None:
    """Return the interval of the values of an index while some loops run; None if unknown."""
    sums = Atoms(ranges)
    found = ends(sums, simplify(index, ranges), loops, frozenset())
    if found is None:
        return None
    dtype = index.dtype
    low, high = (simplify(emit(sums, normal(end, dtype), dtype), ranges) for end in found)
    return SymbolicInterval(low, high)


def sides_of(access: BufferAccess, ranges: Ranges) -> Box:
    """Return the box of the elements that an access touches while its loops run."""
    return tuple([interval(at, access.loops, ranges) for at in access.indices])


def box_of(found: Sequence[BufferAccess], ranges: Ranges) -> Box:
    """Return the bounding box of some accesses to one buffer."""
    boxes = [sides_of(access, ranges) for access in found]
    whole = boxes[0]
    for box in boxes[1:]:
        whole = tuple([joined(a, b, ranges) for a, b in zip(whole, box, strict=True)])
    return whole


def joined(
    a: SymbolicInterval | None, b: SymbolicInterval | None, ranges: Ranges
) -> SymbolicInterval | None:
    """Return an interval that contains two, or None if it is unknown which ends come first."""
    if a is None or b is None:
        return None
    low, less = _least(a.low, b.low, ranges), _least(a.high, b.high, ranges)
    if low is None or less is None:
        return None
    return SymbolicInterval(low, b.high if less is a.high else a.high)


def _least(a: Expr, b: Expr, ranges: Ranges) -> Expr | None:
    """Return the one of two expressions that is never larger, if that is known."""
    gap = distance(a, b)
    if gap is not None:
        return a if gap >= 0 else b
    if a.dtype != b.dtype:
        return None
    if prove(le(a, b), ranges):
        return a
    return b if prove(le(b, a), ranges) else None


def distance(a: Expr, b: Expr) -> int | None:
    """Return the constant ``b - a``, or None if it is not constant; sums do not wrap around."""
    one, other = linear(a), linear(b)
    if one is None or other is None or a.dtype != b.dtype:
        return None
    gap = other - one
    return gap.constant if gap.is_constant else None


class BoxSide(msgspec.Struct, frozen=True):
    """One dimension of a box: from ``corner + low`` to ``corner + high``, inclusive."""

    corner: Sum
    low: int
    high: int

    @property
    def extent(self) -> int:
        return self.high - self.low + 1


class IndexBoxes:
    """Indices of one function as sides of boxes with constant extents."""

    def __init__(self, func: PrimFunc) -> None:
        lets = walk(func.body, Let)
        values = {let.var: let.value for let in lets if not any_node(let.value, Load)}
        self.ranges = loop_ranges(func)
        self.axes = axis_values(func)
        self.sums = IndexSums(self.ranges, values | self.axes)

    def side(self, index: Expr, inner: Set[Node]) -> BoxSide | None:
        """Return the range of an index while the ``inner`` variables vary, or None if it is
        unknown."""
        found = ends(self.sums, index, (), inner)
        if found is None:
            return None
        low, high = found
        return BoxSide(Sum(low.terms), low.constant, high.constant)

    def inside(self, index: Expr, side: BoxSide) -> Expr:
        """Return an index relative to the lowest corner of a side that contains it."""
        lowest = Sum(side.corner.terms, side.low)
        return self.sums.expr(self.sums.sum_of(index) - lowest)


def merged_sides(sides: Iterable[BoxSide | None]) -> BoxSide | None:
    """Return a side that contains several, or None if their distance is not constant."""
    found: BoxSide | None = None
    for side in sides:
        if side is None or (found is not None and found.corner.key != side.corner.key):
            return None
        if found is None:
            found = side
        else:
            low, high = min(found.low, side.low), max(found.high, side.high)
            found = BoxSide(side.corner, low, high)
    return found


def bound_inside(stmt: Stmt) -> set[Node]:
    """Return the variables introduced by a statement and those below it."""
    return {symbol for symbol in symbols_bound(stmt) if isinstance(symbol, Var)}
