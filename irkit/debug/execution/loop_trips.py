"""How much a function computes, from the bounds of its loops alone."""

from irkit.core import children, deep_recursion
from irkit.ir import For, PrimFunc, Stmt, as_int


@deep_recursion
def loop_trips(func: PrimFunc) -> int:
    """Return how often its innermost loops run in all; one whose bounds are not constant counts as
    one iteration, and a condition as true."""
    return _trips(func.body)


def _trips(stmt: Stmt) -> int:
    inside = 0
    for child in children(stmt):
        if isinstance(child, Stmt):
            inside += _trips(child)
    if isinstance(stmt, For):
        begin, end = as_int(stmt.begin), as_int(stmt.end)
        trips = 1 if begin is None or end is None else max(0, end - begin)
        return trips * max(1, inside)
    return inside
