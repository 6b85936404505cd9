"""Which nodes of an expression are to be simplified, and which only as parts of a sum."""

from typing import Any

from irkit.core import CHILDREN
from irkit.ir.arith.sums import SUMMING, is_region
from irkit.ir.expr import Const, Expr, Var


def unsimplified(root: Expr, done: dict[int, Expr]) -> tuple[list[Expr], set[int]]:
    """List the nodes that are not ``done``, children first, and add the leaves to those that are.

    Also return the nodes that only occur as parts of the sum of their one parent.
    """
    order: list[Expr] = []
    seen: set[int] = set()
    regions: set[int] = set()
    inside: set[int] = set()
    outside: set[int] = {id(root)}
    stack: list[Any] = [root]
    while stack:
        node = stack.pop()
        if node is None:
            order.append(stack.pop())
            continue
        key = id(node)
        if key in seen or key in done:
            continue
        cls = node.__class__
        if cls is Var or cls is Const:
            done[key] = node
            continue
        seen.add(key)
        below = CHILDREN[cls](node)
        if cls in SUMMING and is_region(node):
            regions.add(key)
            for child in below:
                # A shared node is simplified once, as a sum of its own.
                (outside if id(child) in inside else inside).add(id(child))
        else:
            outside.update([id(child) for child in below])
        stack += (node, None, *below[::-1])
    return order, (regions & inside) - outside
