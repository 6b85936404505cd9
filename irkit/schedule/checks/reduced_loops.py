"""Check that no loop of a block is both reduced over and not."""

from collections.abc import Sequence

from irkit.core import ScheduleError
from irkit.ir import Block, For, PrimFunc, Var, shape_vars
from irkit.schedule.analysis.accesses import variables
from irkit.schedule.analysis.guards import guards_by_loops


def check_unmixed(
    func: PrimFunc, block: Block, reducing: set[Var], what: str, inner: Sequence[For]
) -> None:
    """Refuse where a spatial axis, a part of the predicate, or the bounds of a loop that is not
    reduced over also depend on a reduced loop: then there is no telling the elements apart from the
    steps of their reduction."""
    spatial = [axis.binding for axis in block.axes if axis.kind == "spatial"]
    spatial += [end for loop in inner if loop.var not in reducing for end in (loop.begin, loop.end)]
    sizes = {*shape_vars(func), *(param for param in func.params if isinstance(param, Var))}
    parts = [part for part in guards_by_loops(block) if variables(part) - reducing - sizes]
    for expr in (*spatial, *parts):
        shared = variables(expr) & reducing
        if shared:
            raise ScheduleError(
                f"cannot {what}: loop {next(iter(shared)).name!r} of block {block.name!r} is both "
                "reduced over and not",
                at=block,
            )
