"""A vector at one lane, as a scalar expression over the number of the lane."""

from typing import Any, cast

from irkit.core import Node, children, postorder, with_fields
from irkit.ir import I64, Broadcast, Expr, Ramp, Var, convert


class SingleLane:
    """One lane of vectors; ``number`` stands for its number."""

    def __init__(self) -> None:
        self.number = Var("lane", I64)
        self._variables: dict[Var, Var] = {}

    def of(self, root: Expr) -> Expr:
        """Return the value of an expression at the lane; a scalar is the same in each."""
        if root.dtype.lanes == 1:
            return root
        done: dict[int, Expr] = {}
        for visited in postorder(root):
            node = cast(Expr, visited)
            done[id(node)] = self._at(node, done) if node.dtype.lanes > 1 else node
        return done[id(root)]

    def _at(self, node: Expr, done: dict[int, Expr]) -> Expr:
        if isinstance(node, Broadcast):
            return node.value
        if isinstance(node, Ramp):
            return done[id(node.base)] + convert(self.number, node.base.dtype) * node.stride
        if isinstance(node, Var):
            return self._variables.setdefault(node, Var(node.name, node.dtype.element))
        made: dict[int, Node] = {id(below): done[id(below)] for below in children(node)}
        changed = cast(Any, with_fields(node, made))
        return changed.replace(dtype=node.dtype.element)
