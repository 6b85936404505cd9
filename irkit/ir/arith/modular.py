"""Residues of expressions: the basis of divisibility and alignment."""

from math import gcd
from typing import cast

from irkit.core import postorder
from irkit.ir.arith.bounds import NOTHING, pairs
from irkit.ir.arith.interval import Pair, Ranges, limits, wrap
from irkit.ir.buffer import Ramp
from irkit.ir.conditional import Conditional, Select
from irkit.ir.expr import (
    Add,
    Broadcast,
    Cast,
    Const,
    Expr,
    FloorDiv,
    FloorMod,
    Max,
    Min,
    Mul,
    Neg,
    Sub,
)

# (coefficient, residue): value = coefficient * k + residue; coefficient 0 means exactly residue.
Residue = tuple[int, int]
_ANY: Residue = (1, 0)


def modular(expr: Expr, ranges: Ranges = NOTHING) -> Residue:
    """Return ``(c, b)`` such that ``expr`` is ``b`` modulo ``c``; if c is 0, it is exactly b.

    Nothing is known about expressions that are not integers: (1, 0).
    """
    if not expr.dtype.is_integer:
        return _ANY
    known = pairs(expr, ranges)
    found: dict[int, Residue] = {}
    for visited in postorder(expr):
        node = cast(Expr, visited)
        if not node.dtype.is_integer:
            continue
        pair = known[id(node)]
        if pair[0] == pair[1]:
            found[id(node)] = (0, pair[0])
        else:
            found[id(node)] = _wrapped(node, _residue(node, found), pair)
    return found[id(expr)]


def _wrapped(node: Expr, exact: Residue, pair: Pair) -> Residue:
    """Return the part of a residue that survives wrap-around: all of it if nothing wraps."""
    coefficient, residue = exact
    if pair == limits(node.dtype) and not isinstance(node, (Min, Max, FloorMod)):
        coefficient = gcd(coefficient, 1 << node.dtype.bits)
    if coefficient == 0:
        return 0, wrap(residue, node.dtype)
    return coefficient, residue % coefficient


def _join(a: Residue, b: Residue) -> Residue:
    return gcd(a[0], b[0], a[1] - b[1]), a[1]


def _times(a: Residue, b: Residue) -> Residue:
    return gcd(a[0] * b[0], a[0] * b[1], a[1] * b[0]), a[1] * b[1]


def _plus(a: Residue, b: Residue) -> Residue:
    return gcd(a[0], b[0]), a[1] + b[1]


def _residue(node: Expr, found: dict[int, Residue]) -> Residue:
    match node:
        case Add(a, b):
            return _plus(found[id(a)], found[id(b)])
        case Sub(a, b):
            return _plus(found[id(a)], _times((0, -1), found[id(b)]))
        case Neg(a):
            return _times((0, -1), found[id(a)])
        case Mul(a, b):
            return _times(found[id(a)], found[id(b)])
        case Min(a, b) | Max(a, b) | Select(_, a, b) | Conditional(_, a, b):
            return _join(found[id(a)], found[id(b)])
        case FloorDiv(a, b) | FloorMod(a, b):
            return _quotient(node, found[id(a)], found[id(b)])
        case Cast(value) if value.dtype.is_integer:
            return found[id(value)]
        case Broadcast(value):
            return found[id(value)]
        case Ramp(base, stride):
            return _plus(found[id(base)], _times((1, 0), found[id(stride)]))
        case Const(value):
            return 0, int(value)
        case _:
            return _ANY


def _quotient(node: FloorDiv | FloorMod, a: Residue, b: Residue) -> Residue:
    coefficient, residue = a
    divisor = b[1]
    if b[0] != 0 or divisor == 0:
        return _ANY
    if isinstance(node, FloorMod):
        # x % d = x - d * k, so only what c and d share survives.
        return gcd(coefficient, divisor), residue
    if coefficient % divisor == 0:
        return abs(coefficient // divisor), residue // divisor
    return _ANY
