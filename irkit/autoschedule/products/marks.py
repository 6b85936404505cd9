"""Unroll and vectorize the loops inside of a tile of a product."""

from irkit.autoschedule.products.plan import Panels
from irkit.autoschedule.products.recognise import MatrixProduct
from irkit.ir import as_int
from irkit.schedule import BlockRef, LoopRef, Schedule, only_store, variables


def mark_panel(sch: Schedule, panel: BlockRef, product: MatrixProduct, plan: Panels) -> None:
    """Copy columns that are neighbours as vectors."""
    at = product.wide.position_of(product.columns)
    loops = sch.get_loops(panel)[-len(product.wide.load.indices) :]
    if not product.wide.is_contiguous_along(product.columns):
        return
    near, lane = sch.split(loops[at], [None, plan.lanes])
    sch.unroll(near)
    sch.vectorize(lane)


def neighbours_last(sch: Schedule, block: BlockRef, loops: list[LoopRef]) -> None:
    """Make the loop over neighbours in what a block writes the innermost, and unroll it; nothing if
    the last axis has one element, and no loop."""
    found = sch.get(block)
    store = only_store(found)
    assert store is not None
    last = next(axis for axis in found.axes if axis.var is store.indices[-1])
    used = variables(last.binding)
    near = [loop for loop in loops if loop.var in used]
    if near:
        sch.reorder(*(loop for loop in loops if loop not in near), *near)
        sch.unroll(near[-1])


def mark_tile(sch: Schedule, block: BlockRef, depth: int) -> None:
    """Unroll the innermost loops around a block, and vectorize the last one."""
    *unrolled, lane = sch.get_loops(block)[-depth:]
    for loop in unrolled:
        sch.unroll(loop)
    sch.vectorize(lane)


def mark_epilogue(sch: Schedule, epilogue: BlockRef, around: int, plan: Panels) -> None:
    """Unroll what finishes a tile inside so many loops, with vectors of as many lanes."""
    *unrolled, lane = sch.get_loops(epilogue)[around:]
    if as_int(sch.loop(lane).end) != plan.lanes:
        near, lane = sch.split(lane, [None, plan.lanes])
        unrolled.append(near)
    for loop in unrolled:
        sch.unroll(loop)
    sch.vectorize(lane)
