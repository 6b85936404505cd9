"""Reductions that choose one of their elements, such as an argmax: cheaper steps in order."""

from irkit.autoschedule.structure import reduce_axes, spatial_axes
from irkit.core import ScheduleError, walk
from irkit.ir import DType, Interval, Let, Store, Var, as_int, bounds
from irkit.schedule import BlockRef, Schedule, allocation


def choose_in_order(sch: Schedule, ref: BlockRef) -> None:
    """Begin a choice among elements with the first of them, and keep positions in few bits, where
    that is legal."""
    block = sch.get(ref)
    stores = list(walk(block.body, on=Store))
    if len(stores) < 2:
        return
    try:
        sch.begin_at_first(ref)
    except ScheduleError:
        return
    ranges = _ranges(sch, ref)
    lets = list(walk(block.body, on=Let))[: len(stores)]
    narrowest = min(store.buffer.dtype.bits for store in stores)
    for let, store in zip(lets, stores, strict=True):
        dtype = store.buffer.dtype
        if not dtype.is_integer or allocation(sch.func, store.buffer) is None:
            continue
        found = _narrow(dtype, bounds(let.value, ranges), narrowest)
        if found is not None:
            sch.unsafe_set_dtype(ref, found, store.buffer)


def _ranges(sch: Schedule, ref: BlockRef) -> dict[Var, Interval]:
    axes = [*spatial_axes(sch.get(ref)), *reduce_axes(sch.get(ref))]
    sizes = [(axis.var, as_int(axis.extent)) for axis in axes]
    return {var: Interval(0, None if size is None else size - 1) for var, size in sizes}


def _narrow(dtype: DType, values: Interval, narrowest: int) -> DType | None:
    """Return the type of the fewest bits, but so many, that holds all values; None if none is
    narrower."""
    if values.low is None or values.high is None:
        return None
    for bits in (8, 16, 32):
        made = DType("i", bits)
        if narrowest <= bits < dtype.bits and made.low <= values.low and values.high <= made.high:
            return made
    return None
