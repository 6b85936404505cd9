"""Value numbering: equal expressions, and only those, have the same number.

The ``==`` and ``hash`` of expressions recurse and do not see sharing; numbering visits each node
once, at any depth.
"""

from collections.abc import Callable, Hashable

from irkit.core import Field, children, fields, postorder
from irkit.ir.expr import Const, Expr, Var


class ValueNumbering:
    """Numbers of expressions, from 0 in order of first occurrence; equal expressions share a
    number.

    Two loads with different results of ``version`` never share a number.
    """

    def __init__(self, version: Callable[[Expr], Hashable] = lambda load: 0) -> None:
        self.version = version
        self.exprs: list[Expr] = []
        self._numbers: dict[Hashable, int] = {}
        self._seen: dict[int, int] = {}
        self._alive: list[Expr] = []

    def of(self, expr: Expr) -> int:
        """Return the number of an expression, after numbering everything below it."""
        seen = self._seen
        if id(expr) in seen:
            return seen[id(expr)]
        self._alive.append(expr)
        below = children(expr)
        known = all(id(child) in seen for child in below)
        for node in (expr,) if known else postorder(expr):
            if id(node) not in seen:
                assert isinstance(node, Expr)
                seen[id(node)] = self._number(node)
        return seen[id(expr)]

    def forget(self) -> None:
        """Forget all nodes seen: from here on, loads can return other values."""
        self._seen.clear()

    def _number(self, node: Expr) -> int:
        key = self._key(node)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.exprs)
            self.exprs.append(node)
        return number

    def _key(self, node: Expr) -> Hashable:
        if isinstance(node, (Var, Const)):
            return node
        own = [_own(node, field) for field in fields(type(node)) if field.kind != "child"]
        below = [self._seen[id(child)] for child in children(node)]
        return (type(node), self.version(node), *own, *below)


def _own(node: Expr, field: Field) -> Hashable:
    value = getattr(node, field.name)
    return id(value) if field.kind == "use" else value
