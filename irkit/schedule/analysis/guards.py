"""The conditions of a block's predicate."""

from collections.abc import Sequence

from irkit.core import substitute
from irkit.ir import Block, Expr, Var, conjuncts, logical_and
from irkit.schedule.analysis.accesses import variables


def guards_of(block: Block) -> list[Expr]:
    """List the conditions that the predicate of a block joins."""
    return [] if block.predicate is None else conjuncts(block.predicate)


def guards_by_loops(block: Block) -> list[Expr]:
    """List the conditions that the predicate of a block joins, over loops and no axes, so that
    another block may ask them too."""
    values = {axis.var: axis.binding for axis in block.axes}
    return [substitute(part, values) for part in guards_of(block)]


def joined(guards: Sequence[Expr]) -> Expr | None:
    """Join conditions to a predicate, of which there is none where there are none."""
    return logical_and(*guards) if guards else None


def reduced_over(block: Block) -> set[Var]:
    """Collect the loops that any axis but a spatial one is bound to."""
    reducing = (axis for axis in block.axes if axis.kind != "spatial")
    return {var for axis in reducing for var in variables(axis.binding)}
