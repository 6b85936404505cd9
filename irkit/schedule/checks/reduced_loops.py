"""Check that no loop of a block is used both as a reduction loop and otherwise."""

from collections.abc import Sequence

from irkit.core import ScheduleError
from irkit.ir import Block, For, PrimFunc, Var, shape_vars
from irkit.schedule.analysis.accesses import variables
from irkit.schedule.analysis.guards import guards_by_loops


def check_unmixed(
    func: PrimFunc, block: Block, reducing: set[Var], what: str, inner: Sequence[For]
) -> None:
    """Check that no spatial axis, no spatial part of the predicate and no bound of a spatial loop
    depends on a reduction loop.

    Otherwise elements cannot be told apart from the steps of their reduction.
    """
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
