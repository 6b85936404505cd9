"""The conditions that make up a block's predicate."""

from collections.abc import Sequence

from irkit.core import substitute
from irkit.ir import Block, Expr, Var, conjuncts, logical_and
from irkit.schedule.analysis.accesses import variables


def guards_of(block: Block) -> list[Expr]:
    """List the conditions whose conjunction is the predicate of a block."""
    return [] if block.predicate is None else conjuncts(block.predicate)


def guards_by_loops(block: Block) -> list[Expr]:
    """List the conditions of a block's predicate over loops instead of axes, so that another block
    can use them."""
    values = {axis.var: axis.binding for axis in block.axes}
    return [substitute(part, values) for part in guards_of(block)]


def joined(guards: Sequence[Expr]) -> Expr | None:
    """Return the conjunction of some conditions; None if there are none."""
    return logical_and(*guards) if guards else None


def reduced_over(block: Block) -> set[Var]:
    """Collect the loops that reduce and opaque axes are bound to."""
    reducing = (axis for axis in block.axes if axis.kind != "spatial")
    return {var for axis in reducing for var in variables(axis.binding)}
