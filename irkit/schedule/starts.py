"""The start of a reduction: whether its steps begin with the one that starts it, and a nest that
does nothing else."""

from collections.abc import Sequence

from irkit.core import Span, substitute
from irkit.ir import Block, Expr, For, PrimFunc, Stmt, Var, eq, loop_ranges, prove
from irkit.schedule.copies import new_name
from irkit.schedule.state import (
    guards_by_loops,
    joined,
    nest_again,
    reduced_over,
    variables,
)


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


def start_nest(func: PrimFunc, block: Block, inner: Sequence[For], span: Span) -> tuple[Stmt, str]:
    """Make a block ``NAME_init`` that starts what a block reduces, under loops like those of
    ``inner`` that are not reduced over."""
    assert block.init is not None
    reducing = reduced_over(block)
    kept = [loop for loop in inner if loop.var not in reducing]
    names = {loop.var: loop.var.copy() for loop in kept}
    spatial = [axis for axis in block.axes if axis.kind == "spatial"]
    own = {axis.var: axis.var.copy() for axis in spatial}
    guards = [part for part in guards_by_loops(block) if not variables(part) & reducing]
    made = block.replace(
        name=new_name(func, f"{block.name}_init"),
        axes=tuple(
            axis.replace(var=own[axis.var], binding=substitute(axis.binding, names))
            for axis in spatial
        ),
        body=substitute(block.init, own),
        init=None,
        predicate=joined([substitute(part, names) for part in guards]),
        reads=None,
        writes=None,
        span=span,
    )
    return nest_again(kept, names, made, span), made.name
