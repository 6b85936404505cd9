"""Primitives that trade guards for room: overcompute."""

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
)
from irkit.schedule.analysis.accesses import only_store, variables
from irkit.schedule.analysis.domain import points_of
from irkit.schedule.state.lookup import allocation, find_block
from irkit.schedule.state.replace import replace_buffer, replace_stmts


def overcompute(func: PrimFunc, name: str) -> PrimFunc:
    """Let a block also run where its predicate fails, on elements that nobody reads.

    The buffer it writes and its axes grow to hold them; what it loads from elsewhere is 0 there,
    or whatever stands there in a buffer that has room for it. So the accumulators of a last,
    partial tile need no guard and stay in registers.
    Raises: ScheduleError if the buffer is a parameter, an extent is not constant, or the guard is
    about a reduction.
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
    """Return the one store of a block whose buffer may grow, and whose guard spares nothing that is
    there; raises ScheduleError if it is no such block."""
    what = f"cannot overcompute block {block.name!r}"
    store = only_store(block)
    home = None if store is None else allocation(func, store.buffer)
    if store is None or home is None:
        raise ScheduleError(
            f"{what}: it must be one store to a buffer of the function's own",
            at=block,
        )
    old = store.buffer
    if old.strides is not None:
        raise ScheduleError(
            f"{what}: {old.name!r} has strides for the room that it has",
            hint="Use storage_align afterwards.",
            at=block,
        )
    if not points_of(func, block).runs_where_its_axes_are():
        raise ScheduleError(
            f"{what}: its guard may fail for an element that is there",
            at=block,
        )
    return store


def _is_inside(indices: Sequence[Expr], buffer: Buffer, ranges: Mapping[Var, Interval]) -> bool:
    """Say whether an access is surely inside of its buffer."""
    for index, dim in zip(indices, buffer.shape, strict=True):
        box, extent = bounds(index, ranges), as_int(dim)
        inside = box.low is not None and box.low >= 0 and box.high is not None
        if extent is None or not inside or box.high is None or box.high >= extent:
            return False
    return True


def _grown(func: PrimFunc, block: Block) -> dict[Var, Expr]:
    """Find the spatial axes that leave their extent where the predicate fails, and how far they
    go."""
    ranges = loop_ranges(func)
    found: dict[Var, Expr] = {}
    for axis in block.axes:
        box, extent = bounds(axis.binding, ranges), as_int(axis.extent)
        if extent is None or box.high is None or box.low is None or box.low < 0:
            raise _cannot(block, axis, "has no constant bounds")
        if box.high >= extent:
            if axis.kind != "spatial":
                raise _cannot(block, axis, "is reduced over, so its guard decides the result")
            found[axis.var] = const(box.high + 1, axis.extent.dtype)
    return found


def _cannot(block: Block, axis: Axis, why: str) -> ScheduleError:
    message = f"cannot overcompute block {block.name!r}: axis {axis.var.name!r} {why}"
    return ScheduleError(message, at=block)


def _room(index: Expr, dim: Expr, grown: dict[Var, Expr]) -> Expr:
    return grown.get(index, dim) if isinstance(index, Var) else dim
