"""Integers that models compute from shapes: numbers, and expressions over dimensions."""

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from irkit.core import Attrs, equal, walk
from irkit.frontend.sizes import Dim, add, divide, larger, multiply, smaller, subtract
from irkit.graph import TensorType, Value, largest, op_spec
from irkit.ir import (
    Const,
    Expr,
    Interval,
    Max,
    Min,
    Sub,
    Var,
    as_int,
    bounds,
    maximum,
)

Sizes = NDArray[Any]
"""An array whose elements are of ``Dim``, or bools that comparisons of them gave."""

MAX_SIZES = 64
"""Elements of an array of sizes: as a rule, one for each dimension of a tensor."""

_MOVES = frozenset(
    {"take", "concat", "slice", "reshape", "expand_dims", "squeeze", "transpose", "identity"}
)


class KnownSizes(dict[Value, Sizes]):
    """The sizes in each value that is computed from the shapes of tensors, and where to find each
    dimension: a value and one of its axes."""

    def __init__(self) -> None:
        super().__init__()
        self._places: list[tuple[Expr, Value, int]] = []
        self.ranges: dict[Var, Interval] = {}
        """The sizes of each dimension."""
        self.most: dict[Var, Expr] = {}
        """The most that each dimension is which a run finds."""

    def note(self, value: Value) -> None:
        """Remember the dimensions of a value."""
        if not isinstance(value.type, TensorType):
            return
        for axis, dim in enumerate(value.type.shape):
            if not isinstance(dim, Const) and self.place(dim) is None:
                self._places.append((dim, value, axis))

    def place(self, dim: Expr) -> tuple[Value, int] | None:
        """Return a value, and one of its axes, that has an extent."""
        return next((row[1:] for row in self._places if equal(row[0], dim)), None)

    def at_least_0(self, size: Dim) -> Dim:
        """Return a size, or 0 if it may be negative and is."""
        if isinstance(size, int):
            return max(size, 0)
        low = bounds(size, self.ranges).low
        return size if low is not None and low >= 0 else maximum(size, 0)

    def limit(self, dim: Dim, is_hidden: Callable[[Var], bool]) -> Dim:
        """Return the most that a size is, without those dimensions that the run finds and that are
        hidden."""
        while isinstance(dim, Expr):
            hidden = [var for var in walk(dim, Var) if var in self.most and is_hidden(var)]
            if not hidden:
                break
            dim = largest(dim, {var: self.most[var] for var in hidden})
        number = as_int(dim)
        return dim if number is None else number

    def follow(
        self,
        made: Value,
        operator: str,
        args: Sequence[NDArray[Any]],
        attrs: Attrs,
    ) -> None:
        """Compute the result of an operator on sizes, if it only moves them or does arithmetic."""
        found = _computed(operator, args, attrs)
        if found is not None and found.size <= MAX_SIZES:
            self[made] = found


def as_sizes(dims: Sequence[Dim]) -> Sizes:
    """Return dimensions as an array."""
    found = np.empty(len(dims), dtype=object)
    for at, dim in enumerate(dims):
        number = as_int(dim)
        found[at] = dim if number is None else number
    return found


def _computed(operator: str, args: Sequence[NDArray[Any]], attrs: Attrs) -> Sizes | None:
    if operator == "cast":
        kept = str(dict(attrs).get("dtype")) in ("i64", "i32")
        return np.asarray(args[0], dtype=object) if kept else None
    if operator == "take":  # The operator computes with the numbers of the indices.
        indices = args[1]
        if indices.dtype == object:
            return None
        return np.asarray(op_spec(operator).evaluate([args[0], indices], attrs), dtype=object)
    if operator in _MOVES:
        given = [np.asarray(arg, dtype=object) for arg in args]
        return np.asarray(op_spec(operator).evaluate(given, attrs), dtype=object)
    if operator == "where" and args[0].dtype != object:
        return np.where(args[0], *[np.asarray(arg, dtype=object) for arg in args[1:]])
    if operator in _REDUCTIONS and np.ndim(args[0]) == 1:
        whole = reduce(_REDUCTIONS[operator], np.asarray(args[0], dtype=object), _EMPTY[operator])
        found = np.empty(1 if dict(attrs).get("keepdims") else (), dtype=object)
        found[...] = whole
        return found
    function = _ARITHMETIC.get(operator)
    if function is None or len(args) != 2:
        return None
    a, b = np.broadcast_arrays(*[np.asarray(arg, dtype=object) for arg in args])
    flat = [function(*pair) for pair in zip(a.reshape(-1), b.reshape(-1), strict=True)]
    if any(item is None for item in flat):
        return None
    if operator == "equal":
        return np.array(flat, dtype=bool).reshape(a.shape)
    found = np.empty(len(flat), dtype=object)
    found[:] = flat
    return found.reshape(a.shape)


def _divided(a: Dim, b: Dim) -> Dim | None:
    """Divide; the model rounds towards 0, and sizes round down: equal unless one is negative."""
    if not isinstance(b, int) or b <= 0 or (isinstance(a, int) and a < 0):
        return None
    if isinstance(a, int):
        return a // b
    if any(isinstance(node, (Sub, Max, Min)) for node in walk(a, Expr)):
        return None
    return divide(a, b)


def _equal(a: Dim, b: Dim) -> Dim | None:
    """Compare; a size is never negative, and is itself."""
    if isinstance(a, int) and isinstance(b, int):
        return int(a == b)
    if isinstance(a, int):
        return _equal(b, a)
    if isinstance(b, int):
        return 0 if b < 0 and next(walk(a, Sub), None) is None else None
    return 1 if equal(a, b) else None


_ARITHMETIC = {
    "add": add,
    "subtract": subtract,
    "multiply": multiply,
    "divide": _divided,
    "equal": _equal,
    "minimum": smaller,
    "maximum": larger,
}

_REDUCTIONS = {"prod": multiply, "sum": add}
_EMPTY = {"prod": 1, "sum": 0}
