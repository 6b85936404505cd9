"""Programs whose unordered loops run backwards: what depends on an order then shows."""

from collections.abc import Callable

from irkit.core import any_node, rewrite, substitute
from irkit.ir import Expr, For, Let, Load, PrimFunc, Stmt, Var

ORDERLESS = ("parallel", "vectorized", "thread")


def has_no_order(loop: For) -> bool:
    """Return True if the iterations of a loop may run in any order that barriers allow."""
    return loop.kind in ORDERLESS


def backwards(func: PrimFunc, chosen: Callable[[For], bool] = has_no_order) -> PrimFunc:
    """Turn chosen loops round: they run from the last iteration to the first, and threads from the
    last to the first between two barriers. The same function is returned if there are none."""

    def turn(loop: For) -> Stmt | None:
        if not chosen(loop):
            return None
        named: list[tuple[Var, Expr]] = []

        def once(bound: Expr, name: str) -> Expr:
            if not any_node(bound, Load):
                return bound
            named.append((Var(f"{loop.var.name}_{name}", bound.dtype), bound))
            return named[-1][0]

        begin, end = once(loop.begin, "begin"), once(loop.end, "end")
        turned = end - 1 - loop.var + begin
        body = substitute(loop.body, {loop.var: turned})
        made: Stmt = loop.replace(begin=begin, end=end, body=body)
        for var, value in reversed(named):
            made = Let(var, value, made, span=loop.span)
        return made

    return rewrite(func, turn, on=For)
