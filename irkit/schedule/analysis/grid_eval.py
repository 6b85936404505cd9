"""Evaluate integer expressions over all iterations of loops at once."""

from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from irkit.core import postorder
from irkit.ir import (
    EQ,
    GE,
    GT,
    I64,
    LE,
    LT,
    NE,
    Add,
    And,
    Binary,
    BitAnd,
    BitOr,
    BitXor,
    Cast,
    Const,
    Expr,
    FloorDiv,
    FloorMod,
    Max,
    Min,
    Mul,
    Neg,
    Not,
    Or,
    Sub,
    Var,
)

Values = NDArray[Any]
_FUNCTIONS: dict[type[Binary], Callable[[Values, Values], Values]] = {
    Add: np.add,
    Sub: np.subtract,
    Mul: np.multiply,
    Min: np.minimum,
    Max: np.maximum,
    LT: np.less,
    LE: np.less_equal,
    GT: np.greater,
    GE: np.greater_equal,
    EQ: np.equal,
    NE: np.not_equal,
    And: np.logical_and,
    Or: np.logical_or,
    BitAnd: np.bitwise_and,
    BitOr: np.bitwise_or,
    BitXor: np.bitwise_xor,
}


def values_on_grid(expr: Expr, grid: Mapping[Var, Values]) -> Values | None:
    """Evaluate an expression for many values of its variables; None if it contains anything but
    integer arithmetic.

    Values have 64 bits: this is meant for indices, which do not wrap around.
    """
    known: dict[int, Values] = {}
    for visited in postorder(expr):
        node = cast(Expr, visited)
        made = _value(node, known, grid)
        if made is None:
            return None
        known[id(node)] = made
    return known[id(expr)]


def _value(node: Expr, known: Mapping[int, Values], grid: Mapping[Var, Values]) -> Values | None:
    match node:
        case Const(value) if not node.dtype.is_float:
            return np.asarray(value)
        case Var():
            return grid.get(node)
        case Cast(value) if node.dtype == I64 and not value.dtype.is_float:
            return known[id(value)].astype(np.int64)
        case Neg(a):
            return -known[id(a)]
        case Not(a) if node.dtype.is_bool:
            return ~known[id(a)]
        case FloorDiv(a, b) | FloorMod(a, b):
            left, right = known[id(a)], known[id(b)]
            if not np.all(right > 0):
                return None
            return left // right if isinstance(node, FloorDiv) else left % right
        case Binary(a, b):
            function = _FUNCTIONS.get(type(node))
            return None if function is None else function(known[id(a)], known[id(b)])
        case _:
            return None
