"""Which part of each buffer a statement reads and writes."""

from irkit.core import Node, analysis, children, substitute, symbols_used, walk
from irkit.ir.arith import linear, simplify
from irkit.ir.buffer import Buffer, Load
from irkit.ir.build import as_int
from irkit.ir.dtype import I64
from irkit.ir.expr import Const, Expr, Var
from irkit.ir.function import PrimFunc
from irkit.ir.stmt import Allocate, Block, For, Let, Region, Stmt, Store, View

Boxes = tuple[tuple[Region, ...], tuple[Region, ...]]


class AccessRegions:
    """Boxes of buffers accessed by each statement of one function, computed on first request.

    Boxes are in terms of the variables bound around the statement. They are never too small but can
    be too large. Buffers allocated by the statement itself are left out.
    """

    def __init__(self) -> None:
        self._known: dict[Stmt, Boxes] = {}

    def reads(self, stmt: Stmt) -> tuple[Region, ...]:
        """Return the boxes that a statement and everything below it may read."""
        return self._of(stmt)[0]

    def writes(self, stmt: Stmt) -> tuple[Region, ...]:
        """Return the boxes that a statement and everything below it may write."""
        return self._of(stmt)[1]

    def _of(self, stmt: Stmt) -> Boxes:
        if stmt not in self._known:
            self._known[stmt] = stmt_regions(stmt)
        return self._known[stmt]


@analysis
def access_regions(func: PrimFunc) -> AccessRegions:  # pyright: ignore[reportUnusedParameter] -- the result is cached for it
    """Return which parts of buffers the statements of a function read and write."""
    return AccessRegions()


Dim = tuple[Expr, Expr]
"""The begin and extent of a box along one dimension."""


def block_reads(block: Block) -> tuple[Region, ...]:
    """Return the boxes that a block reads, as declared, or as inferred from body, init and
    predicate."""
    return block.reads if block.reads is not None else infer_regions(block)[0]


def block_writes(block: Block) -> tuple[Region, ...]:
    """Return the boxes that a block writes, as declared, or as inferred from body and init."""
    return block.writes if block.writes is not None else infer_regions(block)[1]


def infer_regions(block: Block) -> tuple[tuple[Region, ...], tuple[Region, ...]]:
    """Return the boxes that a block reads and those that it writes, in the order of first
    access."""
    finder = _RegionFinder()
    if block.predicate is not None:
        finder.expr(block.predicate, ())
    for part in (block.init, block.body):
        if part is not None:
            finder.stmt(part)
    return finder.reads.regions(), finder.writes.regions()


def stmt_regions(stmt: Stmt) -> tuple[tuple[Region, ...], tuple[Region, ...]]:
    """Return the boxes that a statement and everything below it read and write.

    They are in terms of the variables bound around the statement.
    """
    finder = _RegionFinder()
    finder.stmt(stmt)
    return finder.reads.regions(), finder.writes.regions()


Loops = tuple[For, ...]


class _RegionFinder:
    """Walk over the statements of a block that tracks the loops around each, outermost first."""

    def __init__(self) -> None:
        self.reads = _Boxes()
        self.writes = _Boxes()
        self._values: dict[Node, Node] = {}
        self._sources: dict[Buffer, Buffer] = {}
        self._own: set[Buffer] = set()

    def stmt(self, root: Stmt) -> None:
        stack: list[tuple[Node, Loops]] = [(root, ())]
        while stack:
            node, loops = stack.pop()
            if isinstance(node, Expr):
                self.expr(node, loops)
                continue
            inner = loops
            if isinstance(node, Store):
                self._access(self.writes, node.buffer, node.indices, loops)
            elif isinstance(node, For):
                inner = (*loops, node)
            else:
                self._bind(node)
            stack.extend((child, inner) for child in reversed(children(node)))

    def expr(self, root: Expr, loops: Loops) -> None:
        """Record the loads in an expression."""
        for load in walk(root, Load):
            self._access(self.reads, load.buffer, load.indices, loops)

    def _bind(self, node: Node) -> None:
        """Record the values of names bound inside the block."""
        if isinstance(node, Let):
            self._values[node.var] = substitute(node.value, self._values)
        elif isinstance(node, Block):
            for axis in node.axes:
                self._values[axis.var] = substitute(axis.binding, self._values)
        elif isinstance(node, Allocate):
            self._own.add(node.buffer)
        elif isinstance(node, View):
            self._sources[node.buffer] = self._sources.get(node.source, node.source)
            if node.source in self._own:
                self._own.add(node.buffer)

    def _access(
        self, boxes: "_Boxes", buffer: Buffer, indices: tuple[Expr, ...], loops: Loops
    ) -> None:
        if buffer in self._own:
            return
        source = self._sources.get(buffer)
        if source is not None:  # Elements are not tracked through views.
            boxes.add(source, tuple((Const(0, I64), dim) for dim in source.shape))
            return
        dims = tuple(
            self._dim(index, loops) or (Const(0, I64), extent)
            for index, extent in zip(indices, buffer.shape, strict=True)
        )
        boxes.add(buffer, dims)

    def _dim(self, index: Expr, loops: Loops) -> Dim | None:
        """Return the range of an index, or None if it is unknown."""
        if index.dtype.lanes != 1:
            return None
        index = substitute(index, self._values)
        if any(True for _ in walk(index, Load)):
            return None
        low = high = index
        for loop in reversed(loops):
            first = substitute(loop.begin, self._values)
            last = substitute(loop.end, self._values) - 1
            low_end, high_start = _ends(low, loop.var), _ends(high, loop.var)
            if low_end is None or high_start is None:
                return None
            low = substitute(low, {loop.var: first if low_end >= 0 else last})
            high = substitute(high, {loop.var: last if high_start >= 0 else first})
        if low is high:
            return index, Const(1, index.dtype)
        return simplify(low), simplify(high - low + 1)


def _ends(index: Expr, var: Var) -> int | None:
    """Return the factor of a loop variable in an index, or None if the index is not linear in
    it."""
    if var not in symbols_used(index):
        return 0
    form = linear(index)
    if form is None:
        return None
    factor = form.coefficient(var)
    others = [atom for atom, _ in form.terms if atom is not var]
    return None if any(var in symbols_used(atom) for atom in others) else factor


class _Boxes:
    """Collected boxes; boxes of one buffer at a constant distance are merged."""

    def __init__(self) -> None:
        self._of: dict[Buffer, list[tuple[Dim, ...]]] = {}

    def add(self, buffer: Buffer, dims: tuple[Dim, ...]) -> None:
        known = self._of.setdefault(buffer, [])
        for number, other in enumerate(known):
            joined = _joined(other, dims)
            if joined is not None:
                known[number] = joined
                return
        known.append(dims)

    def regions(self) -> tuple[Region, ...]:
        return tuple(
            Region(buffer, tuple(b for b, _ in dims), tuple(e for _, e in dims))
            for buffer, boxes in self._of.items()
            for dims in boxes
        )


def _joined(a: tuple[Dim, ...], b: tuple[Dim, ...]) -> tuple[Dim, ...] | None:
    dims = [_joined_dim(x, y) for x, y in zip(a, b, strict=True)]
    found = [dim for dim in dims if dim is not None]
    return tuple(found) if len(found) == len(dims) else None


def _joined_dim(a: Dim, b: Dim) -> Dim | None:
    """Return the range that covers two ranges of one dimension, or None if their distance is
    unknown."""
    begin_a, begin_b = linear(a[0]), linear(b[0])
    if begin_a is None or begin_b is None or a[0].dtype != b[0].dtype:
        return None
    apart = begin_b - begin_a
    if not apart.is_constant:
        return None
    extent_a, extent_b = as_int(a[1]), as_int(b[1])
    if extent_a is None or extent_b is None:
        one, other = linear(a[1]), linear(b[1])
        same = apart.constant == 0 and one is not None and one == other
        return a if same else None
    begin = a[0] if apart.constant >= 0 else b[0]
    end = max(extent_a, apart.constant + extent_b) - min(0, apart.constant)
    return begin, Const(end, a[1].dtype)
