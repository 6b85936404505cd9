"""Apply a plan of panels: pack columns, keep a tile of sums in registers, finish it in place."""

import math

from irkit.autoschedule.products.marks import (
    mark_epilogue,
    mark_panel,
    mark_tile,
    neighbours_last,
)
from irkit.autoschedule.products.packed_operands import move_last, packed_operands
from irkit.autoschedule.products.plan import Panels
from irkit.autoschedule.products.recognise import MatrixProduct
from irkit.autoschedule.structure import estimate
from irkit.autoschedule.threads import WORTH
from irkit.ir import as_int
from irkit.schedule import BlockRef, Schedule

_ENOUGH = 4
"""Panels of columns that are enough for the threads, so that rows need not be distributed."""
_AHEAD = 32
"""Steps that a panel in memory is fetched ahead: a tile of 8 rows takes 200 ns for them."""


def apply_panels(sch: Schedule, product: MatrixProduct, plan: Panels) -> None:
    """Schedule a product by a plan.

    A last tile of rows overlaps the one before it, or is guarded: where rows run in parallel, and
    where their number is not constant. Packed columns are padded with zeros.
    """
    ref = BlockRef(product.block.name)
    rows, columns, _ = product.sizes
    panel, stack, epilogue = packed_operands(sch, product, plan)
    # A tile of a transposed product goes to memory as vectors, and from there as elements.
    stage = sch.cache_write(ref) if product.is_turned else None
    rows = rows if stack is None else -(-rows // plan.rows) * plan.rows
    axes = [axis.var.name for axis in product.block.axes]
    by_axis = dict(zip(axes, sch.get_loops(ref), strict=True))
    row = None if product.rows is None else by_axis.pop(product.rows.var.name)
    column = by_axis.pop(product.columns.var.name)
    step = by_axis.pop(product.steps.var.name)
    outer = list(by_axis.values())
    far, near, lane = sch.split(column, [None, plan.vectors, plan.lanes])
    place, tiles, inner = far, None, [near, lane]
    repeated, apart = _open_rows(product), False
    if row is None:
        sch.reorder(*outer, far, step, near, lane)
    elif plan.by_rows:
        sch.reorder(*outer, row, far, step, near, lane)
        # Rows that overlap cannot run on several threads.
        work = math.prod(
            estimate(axis.extent, product.estimates) or 1 for axis in product.block.axes
        )
        overlaps = rows % plan.rows and work < WORTH and not repeated
        tiles, low = sch.split(row, [None, plan.rows], tail="shift" if overlaps else "guard")
        apart = rows % plan.rows > 0 and not overlaps
        sch.reorder(far, step, low, near, lane)
        inner.insert(0, low)
    else:
        sch.reorder(*outer, far, row, step, near, lane)
        overlaps = rows % plan.rows and -(-columns // plan.columns) >= _ENOUGH and not repeated
        tiles, low = sch.split(row, [None, plan.rows], tail="shift" if overlaps else "guard")
        apart = rows % plan.rows > 0 and not overlaps
        place = tiles
        sch.reorder(step, low, near, lane)
        inner.insert(0, low)
    if stage is not None:
        sch.reverse_compute_at(stage, place)
    sch.reverse_compute_at(epilogue, place)
    if panel is not None:
        if not plan.by_rows:
            sch.compute_at(panel, far)
        elif outer:
            sch.compute_at(panel, outer[-1])
        mark_panel(sch, panel, product, plan)
    sch.overcompute(ref, repeat=repeated)
    first = sch.decompose_reduction(ref, step)
    sch.set_scope(ref, "local")
    if stage is not None:
        at = product.position_in_result()
        for each in (ref, stage):
            move_last(sch, each, at)
    if product.panel and plan.fetches and product.sizes[2] > 2 * _AHEAD:
        sch.prefetch(ref, product.wide.load.buffer.name, step, _AHEAD)
    # No step tests whether its row exists.
    if tiles is not None and product.sizes[0] > plan.rows and (repeated or apart):
        sch.annotate(tiles, "partition", True)
    if plan.cut:
        sch.annotate(far, "partition", True)
    around = len(outer) + (1 if row is None else 2)
    for each in (ref, first):
        mark_tile(sch, each, len(inner))
    mark_epilogue(sch, stage or epilogue, around, plan)
    if stage is not None:
        neighbours_last(sch, epilogue, sch.get_loops(epilogue)[around:])


def _open_rows(product: MatrixProduct) -> list[int]:
    """Return the position of the rows among the axes if their number is not constant: a last tile
    then computes its last row several times, without a test in each step."""
    axes = product.block.axes
    found = None if product.rows is None else product.rows
    return [at for at, axis in enumerate(axes) if axis is found and as_int(axis.extent) is None]
