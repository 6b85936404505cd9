"""The primitive overcompute: replace the guard of a block by additional elements."""

from collections.abc import Mapping, Sequence, Set

import msgspec

from irkit.core import MOST_ELEMENTS, ScheduleError, rewrite, substitute
from irkit.ir import (
    Axis,
    Block,
    Buffer,
    Expr,
    Interval,
    Load,
    PrimFunc,
    Stmt,
    Store,
    Var,
    as_int,
    const,
    ge,
    if_then_else,
    le,
    logical_and,
    lt,
    prove,
    replace_stmts,
    simplify,
)
from irkit.ir.analysis import interval
from irkit.schedule.analysis.accesses import only_store, variables
from irkit.schedule.analysis.domain import points_of
from irkit.schedule.analysis.ranges import ranges_at
from irkit.schedule.analysis.sizes import dims_at
from irkit.schedule.state.lookup import allocation, find_block, loops_above
from irkit.schedule.state.replace import replace_buffer


def overcompute(func: PrimFunc, name: str, repeat: Sequence[int] = ()) -> PrimFunc:
    """Drop the predicate of a block: it then also computes elements that nobody reads.

    The buffer it writes and its axes grow to hold them. Loads outside other buffers give 0 there,
    or, along the axes at the positions ``repeat``, the last element inside; loads inside give what
    is stored. Thus the accumulators of a last, partial tile need no guard and stay in registers.
    Raises: ScheduleError if the buffer is a parameter, the values of an axis have no known end, or
    the guard restricts a reduction.
    """
    block = find_block(func, name)
    for at in repeat:
        if not 0 <= at < len(block.axes):
            number = len(block.axes)
            raise ScheduleError(f"block {name!r} has {number} axes, none at {at}", at=block)
    if block.predicate is None:
        return func
    store = _store(func, block)
    old = store.buffer
    grown = _grown(func, block)
    shape = tuple(
        _room(index, dim, grown) for index, dim in zip(store.indices, old.shape, strict=True)
    )
    home = allocation(func, old)
    assert home is not None  # _store refuses parameters.
    new = old.replace(shape=dims_at(func, home, shape))
    ranges = ranges_at(func)
    extents = {axis.var: grown.get(axis.var, axis.extent) for axis in block.axes}
    inside = _Inside(ranges, extents)
    if not all(map(inside, store.indices, shape)):
        raise ScheduleError(
            f"cannot overcompute block {name!r}: it does not store to {old.name!r} at its own axes",
            at=block,
        )
    axes = tuple(axis.replace(extent=extents[axis.var]) for axis in block.axes)
    repeated = {block.axes[at].var for at in repeat if block.axes[at].var in grown}
    for axis in block.axes:
        if axis.var in repeated and not _is_empty_with(axis, grown[axis.var], ranges):
            raise _cannot(block, axis, "may have no element to repeat")
    body = _Loads(block, old, inside, grown, repeated).guarded()
    changed = block.replace(axes=axes, body=body, predicate=None, reads=None, writes=None)
    return replace_buffer(replace_stmts(func, {block: changed}), old, new)


class _Inside:
    """Whether an index is inside a dimension at all points of the axes of a block."""

    def __init__(self, ranges: Mapping[Var, Interval], extents: Mapping[Var, Expr]) -> None:
        ends = {var: as_int(extent) for var, extent in extents.items()}
        known = {v: Interval(0, MOST_ELEMENTS if e is None else e - 1) for v, e in ends.items()}
        self._ranges = {**ranges, **known}
        self._facts = [lt(var, extents[var]) for var, end in ends.items() if end is None]

    def __call__(self, index: Expr, dim: Expr) -> bool:
        if not prove(ge(index, 0), self._ranges):
            return False
        return prove(lt(index, dim), self._ranges) or (
            bool(self._facts) and prove(lt(index, dim), self._ranges, self._facts)
        )


class _Loads(msgspec.Struct, frozen=True):
    """The loads of a block whose spatial axes have ``grown``, by some of which loads are repeated
    beyond the old extents."""

    block: Block
    own: Buffer
    inside: _Inside
    grown: Mapping[Var, Expr]
    repeated: Set[Var]

    def guarded(self) -> Stmt:
        return rewrite(self.block.body, self._guarded, on=Load)

    def _guarded(self, load: Load) -> Expr | None:
        if load.buffer is self.own:
            return None
        pairs = list(zip(load.indices, load.buffer.shape, strict=True))
        if all(self.inside(index, dim) for index, dim in pairs):
            return None
        indices = tuple(self._repeated(index, dim) for index, dim in pairs)
        left = [own for own, (index, _) in zip(indices, pairs, strict=True) if own is index]
        used = {var for index in left for var in variables(index)}
        load = load.replace(indices=indices)
        old = {axis.var: axis.extent for axis in self.block.axes if axis.var in self.grown}
        conditions = [lt(var, extent) for var, extent in old.items() if var in used]
        zero = const(0, load.dtype)
        return if_then_else(logical_and(*conditions), load, zero) if conditions else load

    def _repeated(self, index: Expr, dim: Expr) -> Expr:
        """Return an index that stays at the last element; the same one if that is not wanted."""
        if not isinstance(index, Var) or index not in self.repeated or self.inside(index, dim):
            return index
        axis = next(axis for axis in self.block.axes if axis.var is index)
        return if_then_else(lt(index, axis.extent), index, axis.extent - 1)


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


def _grown(func: PrimFunc, block: Block) -> dict[Var, Expr]:
    """Return the spatial axes that exceed their extent where the predicate is false, with their new
    extents."""
    ranges = ranges_at(func)
    loops = loops_above(func, block)
    found: dict[Var, Expr] = {}
    for axis in block.axes:
        box = interval(axis.binding, loops, ranges)
        if box is None or not prove(ge(box.low, 0), ranges):
            raise _cannot(block, axis, "has no known end")
        end = simplify(box.high + 1, ranges)
        if not prove(le(end, axis.extent), ranges):
            if axis.kind != "spatial":
                raise _cannot(block, axis, "is a reduce axis, so its guard affects the result")
            found[axis.var] = end
    return found


def _is_empty_with(axis: Axis, end: Expr, ranges: Mapping[Var, Interval]) -> bool:
    """Return True if no value of an axis is computed where its extent is 0."""
    extent = axis.extent
    if prove(ge(extent, 1), ranges):
        return True
    if not isinstance(extent, Var):
        return False
    empty = simplify(substitute(end, {extent: const(0, extent.dtype)}))
    return prove(le(empty, 0))


def _cannot(block: Block, axis: Axis, why: str) -> ScheduleError:
    message = f"cannot overcompute block {block.name!r}: axis {axis.var.name!r} {why}"
    return ScheduleError(message, at=block)


def _room(index: Expr, dim: Expr, grown: dict[Var, Expr]) -> Expr:
    return grown.get(index, dim) if isinstance(index, Var) else dim
