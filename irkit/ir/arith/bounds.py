"""The interval in which an integer expression lies."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import cast

from irkit.core import postorder
from irkit.ir.arith.interval import Interval, Pair, Ranges, fitted, limits, var_pair
from irkit.ir.arith.transfer import times, transfer
from irkit.ir.expr import Add, Const, Expr, Mul, Neg, Sub, Var

NOTHING: Ranges = MappingProxyType(cast(Mapping[Var, Interval], {}))


def bounds(expr: Expr, ranges: Ranges = NOTHING) -> Interval:
    """Return an interval that contains every value of an expression; of floats, everything.

    Sums are taken as a whole: the answer is the whole type only if the final result can leave the
    type, as intermediate wrap-around cancels.
    """
    if expr.dtype.is_float:
        return Interval.everything
    if isinstance(expr, Const):
        return Interval(int(expr.value), int(expr.value))
    if expr.__class__ is Var:
        return Interval(*var_pair(cast(Var, expr), ranges))
    return Interval(*pairs(expr, ranges)[id(expr)])


def pairs(expr: Expr, ranges: Ranges) -> dict[int, Pair]:
    """Return the ranges of all integer and bool nodes of an expression, by ``id``."""
    known: dict[int, Pair] = {}
    exact: dict[int, Pair] = {}  # Ranges of sums before wrap-around.

    def of(node: Expr) -> Pair:
        return known[id(node)]

    for visited in postorder(expr):
        node = cast(Expr, visited)
        if node.dtype.is_float:
            continue
        cls = node.__class__
        if cls is Const:
            value = int(cast(Const, node).value)
            known[id(node)] = (value, value)
        elif cls is Var:
            known[id(node)] = var_pair(cast(Var, node), ranges)
        elif isinstance(node, (Add, Sub, Mul, Neg)):
            low, high = exact[id(node)] = _exact(node, exact, known)
            known[id(node)] = fitted(low, high, limits(node.dtype))
        else:
            known[id(node)] = transfer(node, of)
    return known


_HUGE = 1 << 4096


def _exact(node: Add | Sub | Mul | Neg, exact: dict[int, Pair], known: dict[int, Pair]) -> Pair:
    a = exact.get(id(node.a)) or known[id(node.a)]
    if isinstance(node, Neg):
        return -a[1], -a[0]
    b = exact.get(id(node.b)) or known[id(node.b)]
    if isinstance(node, Add):
        found = a[0] + b[0], a[1] + b[1]
    elif isinstance(node, Sub):
        found = a[0] - b[1], a[1] - b[0]
    else:
        found = times(a, b)
    # Chains of products would otherwise grow without bound; wrapping early is also correct.
    return found if found[0] > -_HUGE and found[1] < _HUGE else limits(node.dtype)
