"""Numbers for expressions: equal expressions, and only those, have the same number.

The expressions' own ``==`` and ``hash`` recurse and see sharing as copies; numbering visits each
node once, whatever the depth.
"""

from collections.abc import Callable, Hashable

from irkit.core import Field, children, fields, postorder
from irkit.ir.expr import Const, Expr, Var


class ValueNumbering:
    """Give equal expressions equal numbers, from 0 in order of first sight.

    ``version`` says which numbers two loads may not share: those with different versions differ.
    """

    def __init__(self, version: Callable[[Expr], Hashable] = lambda load: 0) -> None:
        self.version = version
        self.exprs: list[Expr] = []
        self._numbers: dict[Hashable, int] = {}
        self._seen: dict[int, int] = {}
        self._alive: list[Expr] = []

    def of(self, expr: Expr) -> int:
        """Number an expression, and everything below it."""
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
        """Look at expressions anew from here on: what they load may have changed."""
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
