"""Apply a plan of panels: pack columns, keep a tile of sums in registers, finish it in place."""

from irkit.autoschedule.epilogue import epilogue_of
from irkit.autoschedule.products.plan import Panels
from irkit.autoschedule.products.recognise import MatrixProduct
from irkit.ir import Expr, as_int
from irkit.schedule import BlockRef, LoopRef, Schedule

_ENOUGH = 4
"""Panels of columns that are enough for the threads, so that rows need not be distributed."""


def apply_panels(sch: Schedule, product: MatrixProduct, plan: Panels) -> None:
    """Schedule a product by a plan.

    A last tile of rows overlaps the one before it, or is guarded where rows run in parallel. Packed
    columns are padded with zeros.
    """
    ref = BlockRef(product.block.name)
    rows, columns, _ = product.sizes
    panel, epilogue = _packed(sch, product, plan)
    axes = [axis.var.name for axis in product.block.axes]
    by_axis = dict(zip(axes, sch.get_loops(ref), strict=True))
    row = None if product.rows is None else by_axis.pop(product.rows.var.name)
    column = by_axis.pop(product.columns.var.name)
    step = by_axis.pop(product.steps.var.name)
    outer = list(by_axis.values())
    far, near, lane = sch.split(column, [None, plan.vectors, plan.lanes])
    down: list[LoopRef] = [] if row is None else [row]
    sch.reorder(*outer, far, *down, step, near, lane)
    place, inner = far, [near, lane]
    if row is not None:
        overlaps = rows % plan.rows and -(-columns // plan.columns) >= _ENOUGH
        tail = "shift" if overlaps else "guard"
        place, low = sch.split(row, [None, plan.rows], tail=tail)
        inner.insert(0, low)
        sch.reorder(step, low, near, lane)
    sch.reverse_compute_at(epilogue, place)
    if panel is not None:
        sch.compute_at(panel, far)
        _mark_panel(sch, panel, product, plan)
    sch.overcompute(ref)
    first = sch.decompose_reduction(ref, step)
    sch.set_scope(ref, "local")
    around = len(outer) + (1 if row is None else 2)
    for each in (ref, first):
        _mark_tile(sch, each, len(inner))
    _mark_epilogue(sch, epilogue, around, plan)


def _packed(
    sch: Schedule, product: MatrixProduct, plan: Panels
) -> tuple[BlockRef | None, BlockRef]:
    """Copy the columns where the plan says so; return the block that copies and the epilogue."""
    ref = BlockRef(product.block.name)
    epilogue = epilogue_of(sch, product.block, product.store)
    _, columns, _ = product.sizes
    panel: BlockRef | None = None
    if plan.packed and columns % plan.columns:
        padding = [plan.columns if axis is product.columns else 1 for axis in product.block.axes]
        panel, unpad = sch.pad_einsum(ref, padding)
        if epilogue is None:
            epilogue = unpad
        else:
            sch.compute_inline(unpad)
    elif plan.packed:
        panel = sch.cache_read(ref, product.wide.load.buffer)
    if panel is not None and not product.wide.is_contiguous_along(product.columns):
        _transpose(sch, panel, product)
    return panel, epilogue or sch.cache_write(ref)


def _transpose(sch: Schedule, panel: BlockRef, product: MatrixProduct) -> None:
    """Lay out a packed operand such that columns are neighbours in memory."""
    indices = product.wide.load.indices
    at = next(n for n, index in enumerate(indices) if index is product.columns.var)

    def columns_last(*own: Expr) -> list[Expr]:
        return [*own[:at], *own[at + 1 :], own[at]]

    sch.transform_layout(panel, columns_last)


def _mark_panel(sch: Schedule, panel: BlockRef, product: MatrixProduct, plan: Panels) -> None:
    indices = product.wide.load.indices
    at = next(n for n, index in enumerate(indices) if index is product.columns.var)
    loops = sch.get_loops(panel)[-len(indices) :]
    if not product.wide.is_contiguous_along(product.columns):
        return
    near, lane = sch.split(loops[at], [None, plan.lanes])
    sch.unroll(near)
    sch.vectorize(lane)


def _mark_tile(sch: Schedule, block: BlockRef, depth: int) -> None:
    *unrolled, lane = sch.get_loops(block)[-depth:]
    for loop in unrolled:
        sch.unroll(loop)
    sch.vectorize(lane)


def _mark_epilogue(sch: Schedule, epilogue: BlockRef, around: int, plan: Panels) -> None:
    *unrolled, lane = sch.get_loops(epilogue)[around:]
    if as_int(sch.loop(lane).end) != plan.lanes:
        near, lane = sch.split(lane, [None, plan.lanes])
        unrolled.append(near)
    for loop in unrolled:
        sch.unroll(loop)
    sch.vectorize(lane)
