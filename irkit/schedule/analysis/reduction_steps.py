"""Whether the steps of a reduction begin with the one that initialises it."""

from collections.abc import Sequence

from irkit.core import substitute
from irkit.ir import Block, Expr, For, PrimFunc, Var, eq, loop_ranges, prove
from irkit.schedule.analysis.accesses import variables
from irkit.schedule.analysis.guards import guards_by_loops


def starts_at_first(
    func: PrimFunc, block: Block, steps: Sequence[For], facts: Sequence[Expr] = ()
) -> bool:
    """Say whether all reduce axes of a block are 0 in the first iteration of the loops that it
    reduces over, given outermost first, and its predicate then holds as far as it asks about
    them."""
    ranges = loop_ranges(func)
    first: dict[Var, Expr] = {}
    for loop in steps:
        first[loop.var] = substitute(loop.begin, first)
    asked = [eq(axis.binding, 0) for axis in block.axes if axis.kind == "reduce"]
    asked += [part for part in guards_by_loops(block) if variables(part) & set(first)]
    return all(prove(substitute(each, first), ranges, facts) for each in asked)
