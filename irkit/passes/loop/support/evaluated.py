"""Which expressions a statement evaluates whatever its conditions are."""

from irkit.core import Node, children
from irkit.ir import And, Assert, Block, Conditional, Expr, Or, Stmt


def always_evaluated(stmt: Stmt, roots: list[Expr]) -> set[int]:
    """Return the expressions, by ``id``, of ``roots`` in a statement that are always computed."""
    if isinstance(stmt, Block):  # What it holds is about its axes, which are bound in it.
        return set()
    # The values in the message of an assertion are computed only if it fails.
    stack: list[Node] = [*(roots[:1] if isinstance(stmt, Assert) else roots)]
    found: set[int] = set()
    while stack:
        node = stack.pop()
        if id(node) in found:
            continue
        found.add(id(node))
        match node:
            case Conditional(cond):
                stack.append(cond)
            case And(a) | Or(a):
                stack.append(a)
            case _:
                stack += children(node)
    return found
