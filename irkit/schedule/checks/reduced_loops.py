"""Check that the elements that a block computes can be told apart from the steps of their
reduction."""

from collections.abc import Sequence

from irkit.core import ScheduleError, walk
from irkit.ir import Block, For, PrimFunc, Store, Var, shape_vars
from irkit.schedule.analysis.accesses import variables
from irkit.schedule.analysis.guards import guards_by_loops


def check_unmixed(
    func: PrimFunc, block: Block, reducing: set[Var], what: str, inner: Sequence[For]
) -> None:
    """Check that no spatial axis, no spatial part of the predicate and no bound of a spatial loop
    depends on a reduction loop, and no place where the block stores on a reduce axis.

    Otherwise elements cannot be told apart from the steps of their reduction.
    """
    indexing = reduce_axis_in_stores(block)
    if indexing is not None:
        axis, buffer = indexing
        raise ScheduleError(
            f"cannot {what}: block {block.name!r} stores in {buffer!r} at a place that depends on "
            f"its reduce axis {axis!r}, so an element is not the result of a reduction over it",
            hint="A spatial axis can choose the element.",
            at=block,
        )
    spatial = [axis.binding for axis in block.axes if axis.kind == "spatial"]
    spatial += [end for loop in inner if loop.var not in reducing for end in (loop.begin, loop.end)]
    sizes = {*shape_vars(func), *(param for param in func.params if isinstance(param, Var))}
    parts = [part for part in guards_by_loops(block) if variables(part) - reducing - sizes]
    for expr in (*spatial, *parts):
        shared = variables(expr) & reducing
        if shared:
            raise ScheduleError(
                f"cannot {what}: loop {next(iter(shared)).name!r} of block {block.name!r} is used "
                "both as a reduction loop and otherwise",
                at=block,
            )


def reduce_axis_in_stores(block: Block) -> tuple[str, str] | None:
    """Return the names of a reduce axis that chooses which element a block stores or initialises,
    and of the buffer; None if there is none."""
    reducing = {axis.var for axis in block.axes if axis.kind == "reduce"}
    for store in walk(block, on=Store):
        used = {var for at in store.indices for var in variables(at)} & reducing
        if used:
            return next(iter(used)).name, store.buffer.name
    return None
