"""Recognise a sum over blocks of what a sum of products over each block is, times its scale.

S[.., m, g, n] = sum over k: A[.., m, g * block + k] * unpacked(B[n // w, .., n % w])
C[.., m, n]    = sum over g: S[.., m, g, n] * scale[n // w, g, n % w]
"""

from math import prod

import msgspec

from irkit.autoschedule.products.recognise import Factor
from irkit.autoschedule.structure import Estimates, estimate, reduce_axes, spatial_axes
from irkit.core import walk
from irkit.ir import Add, Axis, Block, Expr, Load, Mul, Store, as_int, is_const
from irkit.schedule import Schedule, only_store, reads_of, variables


class ScaledProduct(msgspec.Struct, frozen=True):
    """A sum ``total`` over ``groups`` of the ``sums`` of a block of steps.

    ``columns`` is the last axis of both, and the one that the packed operand ``wide`` moves with;
    ``rows``, if there are several, moves the other operand. ``panel`` columns lie in a panel.
    """

    sums: Block
    total: Block
    store: Store
    rows: Axis | None
    columns: Axis
    groups: Axis
    wide: Load
    panel: int
    estimates: Estimates

    @property
    def row_count(self) -> int:
        """The number of rows, an estimate where it is not constant."""
        return 1 if self.rows is None else estimate(self.rows.extent, self.estimates) or 1

    @property
    def steps(self) -> int:
        """The number of rows of weights."""
        axes = (self.groups, *reduce_axes(self.sums))
        return prod(as_int(axis.extent) or 1 for axis in axes)


def _moves(load: Load) -> set[object]:
    """Return the variables that the element that is loaded depends on."""
    return {var for index in load.indices for var in variables(index)}


def scaled_product_of(sch: Schedule, block: Block, estimates: Estimates) -> ScaledProduct | None:
    """Return the product whose sums of blocks a block computes; None if it computes others, or an
    extent but that of the rows is not constant."""
    store, spatial, steps = only_store(block), spatial_axes(block), reduce_axes(block)
    if store is None or not _is_sum(block, store) or len(spatial) < 2 or not steps:
        return None
    readers = reads_of(sch.func, store.buffer)
    total = readers[0] if len(readers) == 1 else None
    target = None if total is None else only_store(total)
    if total is None or target is None or not _is_sum(total, target):
        return None
    groups = reduce_axes(total)
    if len(groups) != 1 or not store.buffer.dtype.is_float:
        return None
    scaled = _factors(target)
    (own,) = _loads_of(scaled, store) or (None,)
    if own is None or not _reads_in_order(own, total, groups[0]):
        return None
    columns, inner = spatial_axes(total)[-1], spatial[-1]
    tall, wide, panel = _operands(store, inner)
    sizes = [as_int(axis.extent) for axis in (columns, *groups, *steps)]
    if wide is None or tall is None or None in sizes:
        return None
    moving = [axis for axis in spatial[:-2] if axis.var in _moves(tall)]
    if any(axis.var in _moves(wide) for axis in spatial[:-2]):
        return None
    if len(moving) < len(spatial) - 2:
        return None
    counts = {id(axis): estimate(axis.extent, estimates) or 1 for axis in moving}
    longest = max(reversed(moving), key=lambda axis: counts[id(axis)], default=None)
    rows = None
    if longest is not None and not is_const(longest.extent, 1):
        rows = spatial_axes(total)[spatial.index(longest)]
    return ScaledProduct(
        block, total, target, rows, columns, groups[0], wide, panel, dict(estimates)
    )


def _is_sum(block: Block, store: Store) -> bool:
    """Return True if a block is a sum from 0 on that stores at its axes, all of them in order."""
    return (
        isinstance(block.init, Store)
        and is_const(block.init.value, 0)
        and block.predicate is None
        and isinstance(store.value, Add)
        and isinstance(store.value.a, Load)
        and store.value.a.buffer is store.buffer
        and list(store.indices) == [axis.var for axis in spatial_axes(block)]
    )


def _factors(store: Store) -> list[Expr]:
    """Return the factors of the product that is added; none if it is no product."""
    assert isinstance(store.value, Add)
    term = store.value.b
    return [term.a, term.b] if isinstance(term, Mul) else []


def _loads_of(factors: list[Expr], store: Store) -> list[Load]:
    """Return the one factor that loads what a store stores, if there is one."""
    return [f for f in factors if isinstance(f, Load) and f.buffer is store.buffer][:1]


def _reads_in_order(load: Load, total: Block, group: Axis) -> bool:
    """Return True if a load has the axes of a block as indices, its group before the last."""
    spatial = [axis.var for axis in spatial_axes(total)]
    return list(load.indices) == [*spatial[:-1], group.var, spatial[-1]]


def _operands(store: Store, columns: Axis) -> tuple[Load | None, Load | None, int]:
    """Return the element that all columns share, the packed one of each column, and how many
    columns lie in a panel."""
    tall: Load | None = None
    wide: Load | None = None
    panel = 0
    for side in _factors(store):
        loads = list(walk(side, on=Load))
        if any(load.mask is not None for load in loads):
            return None, None, 0
        moving = [load for load in loads if columns.var in _moves(load)]
        if not moving and len(loads) == 1:
            (tall,) = loads
        elif len(moving) == len(loads) > 0:
            widths = {Factor(load, {}).panel_of(columns) for load in loads}
            # The weights are what is read most often; the others are zero points.
            wide = max(loads, key=lambda load: len(_moves(load)))
            panel = widths.pop() if len(widths) == 1 else 0
    return (tall, wide, panel) if panel else (None, None, 0)
