"""The primitives reindex, reindex_cache_read and reindex_cache_write: use a copy laid out by the
axes of a block."""

from collections.abc import Sequence

from irkit.core import MOST_ELEMENTS, Node, ScheduleError, Span, rewrite, walk
from irkit.ir import (
    Allocate,
    Axis,
    Block,
    Buffer,
    Expr,
    For,
    Interval,
    Load,
    PrimFunc,
    Stmt,
    Store,
    Var,
    as_int,
    bounds,
    const,
    index,
    replace_stmts,
    seq,
    shape_vars,
)
from irkit.schedule.analysis.accesses import variables
from irkit.schedule.analysis.domain import Points
from irkit.schedule.analysis.injective import is_injective
from irkit.schedule.analysis.ranges import inside_extents, ranges_at, stays_inside
from irkit.schedule.analysis.sizes import dims_at
from irkit.schedule.arguments.index_map import IndexMap, image_of
from irkit.schedule.checks.independence import check_whole_copy
from irkit.schedule.checks.recomputation import check_only_writer
from irkit.schedule.rewrite.clone import new_name
from irkit.schedule.rewrite.nests import computed_nest
from irkit.schedule.state.lookup import find_block, nest_of


def reindex(
    func: PrimFunc,
    name: str,
    buffer: Buffer,
    index_map: IndexMap | None,
    scope: str,
    *,
    only_reads: bool = False,
) -> tuple[PrimFunc, str]:
    """Make a block use a copy of a buffer laid out by its axes, or by ``index_map`` of them.

    Without a map the copy has one dimension for each axis that the access uses, in their order.
    Inputs are copied before the loops of the block, outputs after them.
    Raises: ScheduleError if the block accesses the buffer at more than one index, if that index may
    be outside the buffer where the block does not run, or if two points of the axes would share an
    element.
    """
    block = find_block(func, name)
    what = f"reindex {buffer.name!r} by the axes of {name!r}"
    reads = {load.indices for load in walk(block, on=Load) if load.buffer is buffer}
    writes = {store.indices for store in walk(block, on=Store) if store.buffer is buffer}
    if only_reads and writes:
        raise ScheduleError(f"cannot {what}: block {name!r} also writes it", at=block)
    if len(reads | writes) != 1:
        count = len(reads | writes)
        raise ScheduleError(f"cannot {what}: it is accessed at {count} different indices", at=block)
    (at,) = reads | writes
    copy = _ReindexedCopy(func, block, buffer, at, what)
    return copy.made(index_map, scope, written=bool(writes))


class _ReindexedCopy:
    """A block, the only index at which it accesses a buffer, and the copy to put there."""

    def __init__(
        self, func: PrimFunc, block: Block, buffer: Buffer, at: tuple[Expr, ...], what: str
    ) -> None:
        self.func, self.block, self.buffer, self.at = func, block, buffer, at
        self.what = what
        used = {var for item in at for var in variables(item)}
        self.axes = [axis for axis in block.axes if axis.var in used]
        self.ranges = inside_extents(block, ranges_at(func))
        strange = used - {axis.var for axis in self.axes} - set(shape_vars(func))
        if strange:
            raise self.error(
                f"its index depends on {next(iter(strange)).name!r}, which is not an axis"
            )

    def error(self, why: str) -> ScheduleError:
        return ScheduleError(f"cannot {self.what}: {why}", at=self.block)

    def made(
        self, index_map: IndexMap | None, scope: str, *, written: bool
    ) -> tuple[PrimFunc, str]:
        """Return the function with the copy, and the name of the block that copies."""
        image = self._image(index_map)
        top = nest_of(self.func, self.block)
        shape = dims_at(self.func, top, [self._room(item) for item in image])
        kind = "reindex_cache" if index_map else "reindex"
        new = Buffer(
            f"{self.buffer.name}_{scope if index_map else 'reindex'}",
            shape,
            self.buffer.dtype,
            scope,
            None,
            self.buffer.align,
            self.buffer.span,
        )
        span = Span("schedule", kind, parent=self.block.span)
        here, there = (new, image), (self.buffer, self.at)
        name = new_name(self.func, f"{self.block.name}_{new.name}")
        copied = _copy_nest(name, self.axes, *((here, there) if written else (there, here)), span)
        if written:
            self._check_written(top)
        elif not self._may_copy(copied):
            raise self.error("it may be accessed outside the buffer where the block does not")
        else:
            check_whole_copy(self.func, top, self.buffer, self.what)
        moved = _moved(self.block, self.buffer, new, image)
        changed = replace_stmts(top, {self.block: moved})
        parts = (changed, copied) if written else (copied, changed)
        whole = Allocate(new, seq(*parts), span=span)
        return replace_stmts(self.func, {top: whole}), name

    def _image(self, index_map: IndexMap | None) -> tuple[Expr, ...]:
        mine = [axis.var for axis in self.axes]
        if index_map is None:
            return tuple(mine)
        image = tuple(
            index(item) for item in image_of(index_map, [axis.var for axis in self.block.axes])
        )
        more = {var for item in image for var in variables(item)} - set(mine)
        if more:
            raise self.error(
                f"the map uses axis {next(iter(more)).name!r}, which the access does not use"
            )
        if not is_injective(image, self.axes):
            raise self.error("it cannot be proved that the map is injective")
        return image

    def _room(self, item: Expr) -> Expr:
        extents = {axis.var: axis.extent for axis in self.axes}
        if isinstance(item, Var):
            return extents[item]
        any_size = [var for var, extent in extents.items() if as_int(extent) is None]
        box = bounds(item, {**self.ranges, **dict.fromkeys(any_size, Interval(0, None))})
        if box.low is None or box.high is None or box.low < 0 or box.high >= MOST_ELEMENTS:
            raise self.error("the map is negative or has no constant bounds")
        return const(box.high + 1, item.dtype)

    def _may_copy(self, copied: Stmt) -> bool:
        block = next(walk(copied, on=Block))
        return stays_inside(block, inside_extents(block, ranges_at(self.func)))

    def _check_written(self, top: Stmt) -> None:
        """Check that the copy stores only what the block computed."""
        check_only_writer(self.func, self.block, self.what)
        loops = tuple(stmt for stmt in walk(top, on=For))
        if not Points(self.block, loops, ranges_at(self.func)).covers_every_element():
            raise self.error("it cannot be proved that its loops run at all points of its axes")
        if not is_injective(self.at, self.axes):
            raise self.error("it cannot be proved that each point writes a different element")


def _copy_nest(
    name: str,
    axes: Sequence[Axis],
    source: tuple[Buffer, Sequence[Expr]],
    to: tuple[Buffer, Sequence[Expr]],
    span: Span,
) -> Stmt:
    """Return a nest that copies between two buffers, both indexed by expressions over some axes."""
    value = source[0][tuple(source[1])]
    return computed_nest(name, axes, Store(to[0], tuple(to[1]), value), span)


def _moved(block: Block, old: Buffer, new: Buffer, image: tuple[Expr, ...]) -> Block:
    def move(node: Load | Store) -> Node | None:
        return node.replace(buffer=new, indices=image) if node.buffer is old else None

    return rewrite(block, move, on=(Load, Store)).replace(reads=None, writes=None)
