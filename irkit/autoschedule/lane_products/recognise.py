"""Recognise a sum of products of an element of one operand by a vector of another."""

import math

import msgspec

from irkit.autoschedule.machine import Machine
from irkit.autoschedule.structure import reduce_axes, spatial_axes
from irkit.core import walk
from irkit.ir import Add, Axis, Block, Interval, Load, Mul, Store, as_int, bounds, is_const
from irkit.schedule import only_store, variables

_MOST_VECTORS = 4
_FEWEST_STEPS = 4


class LaneProduct(msgspec.Struct, frozen=True):
    """A sum of products of an element of ``tall`` by ``vectors`` of ``lanes`` elements of ``wide``.

    Only ``tall`` moves with the ``rows`` and only ``wide`` with the ``columns``, both in the order
    of the result, whose last axis is the ``line``; ``others`` are the rest.
    """

    block: Block
    store: Store
    line: Axis
    lanes: int
    rows: tuple[Axis, ...]
    columns: tuple[Axis, ...]
    others: tuple[Axis, ...]
    tall: Load
    wide: Load

    @property
    def vectors(self) -> int:
        return size_of(self.line) // self.lanes

    @property
    def steps(self) -> int:
        return math.prod(size_of(axis) for axis in reduce_axes(self.block))

    def read(self, load: Load, axes: tuple[Axis, ...]) -> int:
        """Return how many bytes of an operand all steps read, for all values of some axes and the
        first of the others."""
        moving = {axis.var for axis in (*axes, *reduce_axes(self.block), self.line)}
        ranges = {
            axis.var: Interval(0, size_of(axis) - 1 if axis.var in moving else 0)
            for axis in self.block.axes
        }
        found = load.buffer.dtype.bytes
        for index, dim in zip(load.indices, load.buffer.shape, strict=True):
            high, most = bounds(index, ranges).high, as_int(dim) or 1
            found *= most if high is None else min(high + 1, most)
        return found


def size_of(axis: Axis) -> int:
    """Return the extent of an axis; 1 if it is not constant."""
    return as_int(axis.extent) or 1


def lane_product_of(block: Block, machine: Machine) -> LaneProduct | None:
    """Return the product that a block computes; None if it computes anything else, or an extent but
    that of the first axis is not constant."""
    store, spatial = only_store(block), spatial_axes(block)
    if store is None or not isinstance(block.init, Store) or not is_const(block.init.value, 0):
        return None
    if block.predicate is not None or list(store.indices) != [axis.var for axis in spatial]:
        return None
    if len(spatial) < 2 or any(as_int(axis.extent) is None for axis in block.axes[1:]):
        return None
    factors, line = _factors(store), spatial[-1]
    lanes = max(1, machine.vector_bytes // store.buffer.dtype.bytes)
    whole = size_of(line) % lanes == 0 and 1 <= size_of(line) // lanes <= _MOST_VECTORS
    if factors is None or not whole or not store.buffer.dtype.is_float:
        return None
    wide = [load for load in factors if line.var in _used(load)]
    tall = [load for load in factors if line.var not in _used(load)]
    if len(wide) != 1 or len(tall) != 1 or not _is_line(wide[0], line):
        return None
    by_wide, by_tall = _used(wide[0]), _used(tall[0])
    rest = spatial[:-1]
    rows = tuple(axis for axis in rest if axis.var in by_tall and axis.var not in by_wide)
    columns = tuple(axis for axis in rest if axis.var in by_wide and axis.var not in by_tall)
    others = tuple(axis for axis in rest if axis not in rows and axis not in columns)
    found = LaneProduct(block, store, line, lanes, rows, columns, others, tall[0], wide[0])
    return found if rows and found.steps >= _FEWEST_STEPS else None


def _used(load: Load) -> set[object]:
    return {var for index in load.indices for var in variables(index)}


def _is_line(load: Load, line: Axis) -> bool:
    """Return True if the line is the last dimension of an operand."""
    *others, last = load.indices
    dim = load.buffer.shape[-1]
    return (
        last is line.var
        and load.buffer.strides is None
        and as_int(dim) == size_of(line)
        and not any(line.var in variables(index) for index in others)
    )


def _factors(store: Store) -> list[Load] | None:
    """Return the two elements whose product is added to what is stored."""
    value = store.value
    if not isinstance(value, Add) or not isinstance(value.a, Load):
        return None
    if value.a.buffer is not store.buffer or value.a.indices != store.indices:
        return None
    if not isinstance(value.b, Mul):
        return None
    loads = [list(walk(side, on=Load)) for side in (value.b.a, value.b.b)]
    if any(not _is_element(each) for each in loads):
        return None
    return [each[0] for each in loads]


def _is_element(loads: list[Load]) -> bool:
    """Return True if the first of some loads is all that is computed with; others may say which
    element that is."""
    if not loads or any(each.mask is not None for each in loads):
        return False
    first, *others = loads
    inside = {id(each) for index in first.indices for each in walk(index, on=Load)}
    return all(id(each) in inside for each in others)
