"""The primitive overcompute: replace the guard of a block by additional elements."""

from collections.abc import Mapping, Sequence

from irkit.core import ScheduleError, rewrite
from irkit.ir import (
    Axis,
    Block,
    Buffer,
    Expr,
    Interval,
    Load,
    PrimFunc,
    Store,
    Var,
    as_int,
    bounds,
    const,
    if_then_else,
    logical_and,
    loop_ranges,
    lt,
    replace_stmts,
)
from irkit.schedule.analysis.accesses import only_store, variables
from irkit.schedule.analysis.domain import points_of
from irkit.schedule.state.lookup import allocation, find_block
from irkit.schedule.state.replace import replace_buffer


def overcompute(func: PrimFunc, name: str) -> PrimFunc:
    """Drop the predicate of a block: it then also computes elements that nobody reads.

    The buffer it writes and its axes grow to hold them. Loads outside other buffers give 0 there;
    loads inside give what is stored. Thus the accumulators of a last, partial tile need no guard
    and stay in registers.
    Raises: ScheduleError if the buffer is a parameter, an extent is not constant, or the guard
    restricts a reduction.
    """
    block = find_block(func, name)
    if block.predicate is None:
        return func
    store = _store(func, block)
    old = store.buffer
    grown = _grown(func, block)
    shape = tuple(
        _room(index, dim, grown) for index, dim in zip(store.indices, old.shape, strict=True)
    )
    new = old.replace(shape=shape)
    guarded = {axis.var: axis.extent for axis in block.axes if axis.var in grown}
    ranges = {
        axis.var: Interval(0, (as_int(grown.get(axis.var, axis.extent)) or 1) - 1)
        for axis in block.axes
    }
    if not _is_inside(store.indices, new, ranges):
        raise ScheduleError(
            f"cannot overcompute block {name!r}: it does not store to {old.name!r} at its own axes",
            at=block,
        )
    axes = tuple(axis.replace(extent=grown.get(axis.var, axis.extent)) for axis in block.axes)

    def guard(load: Load) -> Expr | None:
        if load.buffer is old or _is_inside(load.indices, load.buffer, ranges):
            return None
        used = {var for index in load.indices for var in variables(index)}
        conditions = [lt(var, extent) for var, extent in guarded.items() if var in used]
        zero = const(0, load.dtype)
        return if_then_else(logical_and(*conditions), load, zero) if conditions else None

    body = rewrite(block.body, guard, on=Load)
    changed = block.replace(axes=axes, body=body, predicate=None, reads=None, writes=None)
    return replace_buffer(replace_stmts(func, {block: changed}), old, new)


def _store(func: PrimFunc, block: Block) -> Store:
    """Return the only store of a block whose buffer can grow.

    Raises: ScheduleError if there are more stores, if the buffer cannot grow, or if the guard
    protects existing elements.
    """
    what = f"cannot overcompute block {block.name!r}"
    store = only_store(block)
    home = None if store is None else allocation(func, store.buffer)
    if store is None or home is None:
        raise ScheduleError(
            f"{what}: it must be a single store to an intermediate buffer",
            at=block,
        )
    old = store.buffer
    if old.strides is not None:
        raise ScheduleError(
            f"{what}: {old.name!r} already has strides",
            hint="Use storage_align afterwards.",
            at=block,
        )
    if not points_of(func, block).predicate_is_implied():
        raise ScheduleError(
            f"{what}: its guard can be false for an existing element",
            at=block,
        )
    return store


def _is_inside(indices: Sequence[Expr], buffer: Buffer, ranges: Mapping[Var, Interval]) -> bool:
    """Return True if an access provably is inside its buffer."""
    for index, dim in zip(indices, buffer.shape, strict=True):
        box, extent = bounds(index, ranges), as_int(dim)
        inside = box.low is not None and box.low >= 0 and box.high is not None
        if extent is None or not inside or box.high is None or box.high >= extent:
            return False
    return True


def _grown(func: PrimFunc, block: Block) -> dict[Var, Expr]:
    """Return the spatial axes that exceed their extent where the predicate is false, with their new
    extents."""
    ranges = loop_ranges(func)
    found: dict[Var, Expr] = {}
    for axis in block.axes:
        box, extent = bounds(axis.binding, ranges), as_int(axis.extent)
        if extent is None or box.high is None or box.low is None or box.low < 0:
            raise _cannot(block, axis, "has no constant bounds")
        if box.high >= extent:
            if axis.kind != "spatial":
                raise _cannot(block, axis, "is a reduce axis, so its guard affects the result")
            found[axis.var] = const(box.high + 1, axis.extent.dtype)
    return found


def _cannot(block: Block, axis: Axis, why: str) -> ScheduleError:
    message = f"cannot overcompute block {block.name!r}: axis {axis.var.name!r} {why}"
    return ScheduleError(message, at=block)


def _room(index: Expr, dim: Expr, grown: dict[Var, Expr]) -> Expr:
    return grown.get(index, dim) if isinstance(index, Var) else dim
