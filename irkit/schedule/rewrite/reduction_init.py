"""Build a separate nest for the initialisation of a reduction."""

from collections.abc import Sequence

from irkit.core import Span, substitute
from irkit.ir import Block, Expr, For, PrimFunc, Stmt
from irkit.schedule.analysis.accesses import variables
from irkit.schedule.analysis.guards import guards_by_loops, joined, reduced_over
from irkit.schedule.rewrite.clone import new_name
from irkit.schedule.rewrite.nests import nest_like


def init_nest(
    func: PrimFunc,
    block: Block,
    inner: Sequence[For],
    span: Span,
    conditions: Sequence[Expr] = (),
) -> tuple[Stmt, str]:
    """Return a block ``NAME_init`` that initialises the reduction of a block under some conditions,
    in copies of the spatial loops of ``inner``."""
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
        predicate=joined([substitute(part, names) for part in (*conditions, *guards)]),
        reads=None,
        writes=None,
        span=span,
    )
    return nest_like(kept, names, made, span), made.name
