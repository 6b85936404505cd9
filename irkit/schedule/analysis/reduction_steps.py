"""Whether a reduction has steps, and whether the first one initialises it."""

from collections.abc import Sequence

from irkit.core import substitute
from irkit.ir import Block, Expr, For, PrimFunc, Var, eq, ge, loop_ranges, prove
from irkit.schedule.analysis.accesses import variables
from irkit.schedule.analysis.guards import guards_by_loops
from irkit.schedule.analysis.ranges import ranges_at


def has_steps(block: Block) -> list[Expr]:
    """Return conditions that together hold if the reduction of a block has steps."""
    return [ge(axis.extent, 1) for axis in block.axes if axis.kind == "reduce"]


def unless_empty(func: PrimFunc, block: Block) -> list[Expr]:
    """Return those of the conditions that need not hold: a block whose reduction is empty
    initialises nothing."""
    ranges = ranges_at(func)
    return [cond for cond in has_steps(block) if not prove(cond, ranges)]


def first_step_initialises(
    func: PrimFunc, block: Block, steps: Sequence[For], facts: Sequence[Expr] = ()
) -> bool:
    """Return True if the first iteration of the loops ``steps`` (outermost first) initialises the
    reduction of a block.

    That is, all reduce axes are 0 there, and the parts of the predicate that depend on them hold.
    """
    ranges = loop_ranges(func)
    first: dict[Var, Expr] = {}
    for loop in steps:
        first[loop.var] = substitute(loop.begin, first)
    asked = [eq(axis.binding, 0) for axis in block.axes if axis.kind == "reduce"]
    asked += [part for part in guards_by_loops(block) if variables(part) & set(first)]
    return all(prove(substitute(each, first), ranges, facts) for each in asked)
