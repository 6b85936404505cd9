"""The values of block axes."""

from collections.abc import Set

from irkit.core import Node, substitute, walk
from irkit.ir.expr import Expr, Var
from irkit.ir.function import PrimFunc
from irkit.ir.stmt import Block, Stmt


def axis_values(root: PrimFunc | Stmt, only: Set[Node] | None = None) -> dict[Var, Expr]:
    """Map every block axis to its binding, outer blocks first, with outer axes replaced by their
    values.

    With ``only``, axes that are not among those stay in the bindings.
    """
    values: dict[Var, Expr] = {}
    seen: dict[Node, Node] = {}
    for block in walk(root, Block):
        for axis in block.axes:
            value = substitute(axis.binding, seen) if seen else axis.binding
            values[axis.var] = value
            if only is None or axis.var in only:
                seen[axis.var] = value
    return values
