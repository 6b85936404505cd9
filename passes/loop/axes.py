"""What the axes of blocks stand for."""

from irkit.core import Node, substitute, walk
from irkit.ir import Block, Expr, PrimFunc, Stmt, Var


def axis_values(root: PrimFunc | Stmt) -> dict[Var, Expr]:
    """Map every block axis to its binding over variables that are no axes, outer blocks first."""
    values: dict[Var, Expr] = {}
    seen: dict[Node, Node] = {}
    for block in walk(root, Block):
        for axis in block.axes:
            value = substitute(axis.binding, seen) if seen else axis.binding
            values[axis.var] = seen[axis.var] = value
    return values
