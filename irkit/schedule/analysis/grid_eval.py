"""Evaluate integer expressions over all iterations of loops at once."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from irkit.core import postorder, walk
from irkit.ir import (
    EQ,
    GE,
    GT,
    LE,
    LT,
    NE,
    Add,
    And,
    Axis,
    Binary,
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
    as_int,
)
from irkit.schedule.limits import MOST_POINTS

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


def is_injective(image: Sequence[Expr], axes: Sequence[Axis]) -> bool:
    """Return True if an image provably has no duplicates over the points of the axes.

    Axes that share no part of the image are checked separately, which keeps the grids small.
    """
    mine = {axis.var for axis in axes}
    groups: list[tuple[set[Var], list[Expr]]] = [({axis.var}, []) for axis in axes]
    for item in image:
        used = mine & set(walk(item, on=Var))
        met = [group for group in groups if group[0] & used]
        if met:
            together = set[Var]().union(*(vars_ for vars_, _ in met))
            items = [each for _, parts in met for each in parts]
            groups = [*(group for group in groups if group not in met), (together, [*items, item])]
    return all(
        _is_injective_on_grid([a for a in axes if a.var in vars_], items) for vars_, items in groups
    )


def _is_injective_on_grid(axes: Sequence[Axis], image: Sequence[Expr]) -> bool:
    """Check all points of some axes."""
    sizes = [as_int(axis.extent) for axis in axes]
    known = [size for size in sizes if size is not None]
    if {axis.var for axis in axes} <= set(image):
        return True
    count = math.prod(known)
    if len(known) < len(sizes) or count > MOST_POINTS:
        return False
    points = np.indices(known).reshape(len(known), -1)
    grid = {axis.var: values for axis, values in zip(axes, points, strict=True)}
    code = np.zeros(count, dtype=np.int64)
    for item in image:
        found = values_on_grid(item, grid)
        if found is None:
            return False
        place = np.broadcast_to(found, code.shape)
        place = place - place.min(initial=0)
        code = np.unique(code, return_inverse=True)[1] * (int(place.max(initial=0)) + 1) + place
    return len(np.unique(code)) == count
