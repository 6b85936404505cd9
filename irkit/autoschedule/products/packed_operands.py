"""Copy the operands of a product as a plan of panels says: columns, rows, or both."""

from irkit.autoschedule.epilogue import epilogue_of
from irkit.autoschedule.products.padded_factors import PaddedFactors
from irkit.autoschedule.products.plan import Panels
from irkit.autoschedule.products.recognise import MatrixProduct
from irkit.autoschedule.structure import divides
from irkit.ir import Expr
from irkit.schedule import BlockRef, Schedule

_COPIED_TILES = 16
"""Tiles of rows that are copied together."""


def packed_operands(
    sch: Schedule, product: MatrixProduct, plan: Panels
) -> tuple[BlockRef | None, BlockRef | None, BlockRef]:
    """Copy what a plan says; return the blocks that copy columns and rows, and the epilogue."""
    ref = BlockRef(product.block.name)
    epilogue = epilogue_of(sch, product.block, product.store)
    made = PaddedFactors()
    by = {product.columns.var: plan.columns if plan.packed else 1}
    if product.rows is not None and plan.stacked:
        by[product.rows.var] = plan.rows
    if plan.deep:
        by[product.steps.var] = plan.deep
    padding = [by.get(axis.var, 1) for axis in product.block.axes]
    grown = [
        axis
        for axis, each in zip(product.block.axes, padding, strict=True)
        if each > 1 and not divides(each, axis.extent)
    ]
    if grown:
        *_, last = made.pad(sch, product, padding)
        if any(axis is not product.steps for axis in grown):
            if epilogue is not None:
                sch.reverse_compute_inline(epilogue)
            epilogue = last  # The block that copies the results out of the padded ones.
        rows = made.get(product.tall)
        if rows is not None and not plan.stacked:
            sch.compute_inline(rows)
    panel = made.copy(sch, product, product.wide) if plan.packed else None
    stack = made.copy(sch, product, product.tall) if plan.stacked else None
    if panel is not None and not product.wide.is_contiguous_along(product.columns):
        move_last(sch, panel, product.wide.position_of(product.columns))
    if stack is not None and product.rows is not None:
        _stack(sch, stack, product, plan.rows)
    return panel, stack, epilogue or sch.cache_write(ref)


def move_last(sch: Schedule, block: BlockRef, at: int) -> None:
    """Lay out what a block writes such that neighbours along a dimension are neighbours."""

    def moved(*own: Expr) -> list[Expr]:
        return [*own[:at], *own[at + 1 :], own[at]]

    sch.transform_layout(block, moved)


def _stack(sch: Schedule, stack: BlockRef, product: MatrixProduct, rows: int) -> None:
    """Lay out the rows tile by tile, the rows of a step together.

    The copy reads lines of several tiles in each step: steps may be pages apart.
    """
    assert product.rows is not None
    at, step = product.tall.position_of(product.rows), product.tall.position_of(product.steps)

    def by_tile(*own: Expr) -> list[Expr]:
        rest = [index for n, index in enumerate(own) if n not in (at, step)]
        return [*rest, own[at] // rows, own[step], own[at] % rows]

    sch.transform_layout(stack, by_tile)
    loops = sch.get_loops(stack)
    far, tile, near = sch.split(loops[at], [None, _COPIED_TILES, rows])
    sch.reorder(far, loops[step], tile, near)
    sch.vectorize(near)
