"""Which part of each buffer a statement reads and writes."""

from irkit.core import Node, analysis
from irkit.ir.analysis.boxes import (
    AccessFinder,
    Box,
    SymbolicInterval,
    distance,
    joined,
    sides_of,
)
from irkit.ir.arith import simplify
from irkit.ir.arith.bounds import NOTHING
from irkit.ir.buffer import Buffer
from irkit.ir.expr import Expr, const
from irkit.ir.function import PrimFunc
from irkit.ir.stmt import Block, Region, Stmt, Store

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
            self._known[stmt] = _regions(stmt)
        return self._known[stmt]


@analysis
def access_regions(func: PrimFunc) -> AccessRegions:  # pyright: ignore[reportUnusedParameter] -- the result is cached for it
    """Return which parts of buffers the statements of a function read and write."""
    return AccessRegions()


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
    return _regions(block.predicate, block.init, block.body)


def _regions(*roots: Node | None) -> Boxes:
    finder = AccessFinder()
    for root in roots:
        if root is not None:
            finder.add(root)
    reads, writes = _BoxList(), _BoxList()
    for access in finder.found:
        buffer = access.node.buffer
        if buffer in finder.own:
            continue
        into = writes if isinstance(access.node, Store) else reads
        source = finder.sources.get(buffer)
        if source is None:
            into.add(buffer, sides_of(access, NOTHING))
        else:  # Elements are not tracked through views.
            into.add(source, (None,) * source.rank)
    return reads.regions(), writes.regions()


class _BoxList:
    """Collected boxes; boxes of one buffer at a constant distance are merged."""

    def __init__(self) -> None:
        self._of: dict[Buffer, list[tuple[SymbolicInterval, ...]]] = {}

    def add(self, buffer: Buffer, box: Box) -> None:
        sides = tuple(
            SymbolicInterval(const(0, dim.dtype), dim - 1) if side is None else side
            for side, dim in zip(box, buffer.shape, strict=True)
        )
        known = self._of.setdefault(buffer, [])
        for number, other in enumerate(known):
            if all(_is_near(a, b) for a, b in zip(other, sides, strict=True)):
                pairs = zip(other, sides, strict=True)
                merged = [joined(a, b, NOTHING) for a, b in pairs]
                known[number] = tuple(side for side in merged if side is not None)
                return
        known.append(sides)

    def regions(self) -> tuple[Region, ...]:
        return tuple(
            Region(buffer, tuple(side.low for side in sides), tuple(map(_extent, sides)))
            for buffer, boxes in self._of.items()
            for sides in boxes
        )


def _is_near(a: SymbolicInterval, b: SymbolicInterval) -> bool:
    """Return True if two intervals have a constant distance, and the same or constant extents."""
    low, high = distance(a.low, b.low), distance(a.high, b.high)
    if low is None or high is None:
        return False
    return low == high == 0 or (distance(a.low, a.high) is not None)


def _extent(side: SymbolicInterval) -> Expr:
    return simplify(side.high - side.low + 1)
