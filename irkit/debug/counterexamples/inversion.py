"""Values of an unknown that make the two sides of a comparison equal, or nearly so.

A branch that is taken for one number of 2**32, or a tie of a float sum, is never met by drawing.
From one side of a comparison, computed for many values of the other unknowns, operations are undone
one after the other until an unknown is left. What is undone need not have an exact inverse: whether
two expressions differ is computed afterwards.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from irkit.core import postorder
from irkit.ir import (
    Add,
    BitXor,
    Call,
    Cast,
    Compare,
    Const,
    Div,
    Expr,
    FloorDiv,
    FloorMod,
    Mul,
    Neg,
    Not,
    Shl,
    Shr,
    Sub,
    Var,
    numpy_dtype,
)

Array = NDArray[Any]
Computed = Callable[[Expr], Array]
MOST_COMPARISONS = 6


class Turn(NamedTuple):
    """Values of an unknown at which a comparison may turn from true to false."""

    unknown: Var
    values: Array


def turns(root: Expr, computed: Computed) -> Iterator[Turn]:
    """Yield the turns of the comparisons in an expression; ``computed`` gives the values of an
    expression on a batch."""
    comparisons = [node for node in postorder(root) if isinstance(node, Compare)]
    for node in comparisons[:MOST_COMPARISONS]:
        for side, other in ((node.a, node.b), (node.b, node.a)):
            if not isinstance(side, Const):
                yield from _undone(side, computed(other), computed)


def _undone(node: Expr, target: Array, computed: Computed) -> Iterator[Turn]:
    """Yield values for which an expression is near a target, one operation after the other."""
    with np.errstate(all="ignore"):
        while not isinstance(node, Var):
            step = _step(node, target, computed)
            if step is None:
                return
            node, target = step
    yield Turn(node, target.astype(numpy_dtype(node.dtype)))


def _step(node: Expr, target: Array, computed: Computed) -> tuple[Expr, Array] | None:
    match node:
        case Cast(value):
            return value, target.astype(numpy_dtype(value.dtype))
        case Neg(a):
            return a, -target
        case Not(a) if not node.dtype.is_bool:
            return a, ~target
        case Call("sqrt", (a,)):
            return a, target * target
        case Call("abs", (a,)):
            return a, target
        case Add(a, b) | Sub(a, b) | Mul(a, b) | BitXor(a, b) | Div(a, b):
            first = _has_unknown(a)
            own, other = (a, b) if first else (b, a)
            undo = _UNDO[node.__class__]
            return (own, undo(target, computed(other), first)) if _has_unknown(own) else None
        case FloorDiv(a, b) if _has_unknown(a):
            return a, target * computed(b)
        case FloorMod(a, b) if _has_unknown(a):
            return a, target + computed(b) * (np.arange(len(target)) % 1009).astype(target.dtype)
        case Shl(a, b) if _has_unknown(a):
            return a, target >> computed(b)
        case Shr(a, b) if _has_unknown(a):
            return a, target << computed(b)
        case _:
            return None


def _has_unknown(node: Expr) -> bool:
    return isinstance(node, Var) or any(isinstance(each, Var) for each in postorder(node))


def _difference(target: Array, other: Array, first: bool) -> Array:
    return target - other


def _minuend(target: Array, other: Array, first: bool) -> Array:
    return target + other if first else other - target


def _quotient(target: Array, other: Array, first: bool) -> Array:
    """Divide; an odd factor of an integer has an inverse among the numbers of its width."""
    if target.dtype.kind not in "iu":
        return target / other
    factor, bits = int(other[0]), 8 * target.dtype.itemsize
    if factor % 2:
        inverse = np.array(pow(factor, -1, 1 << bits) % (1 << bits), f"u{target.dtype.itemsize}")
        return target * inverse.view(target.dtype)
    return target // np.where(other == 0, 1, other).astype(target.dtype)


def _dividend(target: Array, other: Array, first: bool) -> Array:
    return target * other if first else other / target


def _either(target: Array, other: Array, first: bool) -> Array:
    return target ^ other


_UNDO: dict[type[Expr], Callable[[Array, Array, bool], Array]] = {
    Add: _difference,
    Sub: _minuend,
    Mul: _quotient,
    Div: _dividend,
    BitXor: _either,
}
