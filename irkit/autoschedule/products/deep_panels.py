"""Apply a plan of panels whose steps are cut into blocks, so that a panel stays in a near cache.

A block of steps is a sum of its own: a tile of it is computed in registers, and added to the
results of the panel, which lie in memory until the last block is done.
"""

from irkit.autoschedule.products.marks import (
    mark_epilogue,
    mark_panel,
    mark_tile,
    neighbours_last,
)
from irkit.autoschedule.products.packed_operands import move_last, packed_operands
from irkit.autoschedule.products.plan import Panels
from irkit.autoschedule.products.recognise import MatrixProduct
from irkit.schedule import BlockRef, Schedule


def apply_deep_panels(sch: Schedule, product: MatrixProduct, plan: Panels) -> None:
    """Schedule a product by a plan with blocks of steps.

    The steps are padded with zeros to whole blocks where columns are packed; rows beyond the last
    are computed and dropped.
    """
    ref = BlockRef(product.block.name)
    panel, stack, epilogue = packed_operands(sch, product, plan)
    assert product.rows is not None
    assert panel is not None
    axes = [axis.var.name for axis in product.block.axes]
    by_axis = dict(zip(axes, sch.get_loops(ref), strict=True))
    blocks, _ = sch.split(by_axis[product.steps.var.name], [None, plan.deep])
    part = sch.rfactor(blocks, 0)
    by_axis = dict(zip(axes, sch.get_loops(ref), strict=True))
    row, column, blocks = (
        by_axis.pop(axis.var.name) for axis in (product.rows, product.columns, product.steps)
    )
    outer = list(by_axis.values())
    far, near, lane = sch.split(column, [None, plan.vectors, plan.lanes])
    sch.reorder(*outer, far, blocks, row, near, lane)
    tiles, low = sch.split(row, [None, plan.rows])
    sch.reorder(low, near, lane)
    first = sch.decompose_reduction(ref, blocks)
    sch.set_scope(ref, "global")
    sch.compute_at(part, tiles)
    sch.compute_at(panel, blocks)
    sch.reverse_compute_at(epilogue, far)
    mark_panel(sch, panel, product, plan)
    _mark_part(sch, part, product, plan, len(outer) + 3)
    if product.is_turned:
        move_last(sch, ref, product.position_in_result())
    if stack is None and product.sizes[0] % plan.rows:
        sch.annotate(tiles, "partition", True)  # No step tests whether its row exists.
    if product.sizes[2] % plan.deep:
        sch.annotate(blocks, "partition", True)
    mark_tile(sch, ref, 3)
    inside = len(outer) + 2
    mark_epilogue(sch, first, inside, plan)
    if product.is_turned:
        neighbours_last(sch, epilogue, sch.get_loops(epilogue)[inside:])
    else:
        mark_epilogue(sch, epilogue, inside, plan)


def _mark_part(
    sch: Schedule, part: BlockRef, product: MatrixProduct, plan: Panels, around: int
) -> None:
    """Keep a tile of the sums of one block of steps in registers."""
    loops = sch.get_loops(part)[around:]
    own = dict(zip((axis.var.name for axis in product.block.axes), loops, strict=False))
    row, column = (own.pop(axis.var.name) for axis in (product.rows, product.columns) if axis)
    step = loops[-1]
    rest = [loop for loop in loops if loop not in (row, column, step)]
    near, lane = sch.split(column, [None, plan.lanes])
    sch.reorder(*rest, step, row, near, lane)
    sch.overcompute(part)
    first = sch.decompose_reduction(part, step)
    sch.set_scope(part, "local")
    if product.is_turned:
        move_last(sch, part, product.position_in_result() + 1)
    for each in (part, first):
        mark_tile(sch, each, 3)
