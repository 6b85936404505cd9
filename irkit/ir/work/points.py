"""The points of an iteration space that conditions tell apart, and values of expressions there.

Loops whose variable no condition depends on are not enumerated: they only multiply. Values have two
dimensions, points and lanes, each of extent 1 where all are equal.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from irkit.core import children, postorder, walk
from irkit.ir.buffer import Load, Ramp
from irkit.ir.conditional import Conditional, Select
from irkit.ir.dtype import DType
from irkit.ir.expr import And, Binary, Broadcast, Cast, Const, Expr, Neg, Not, Or, Var
from irkit.ir.interp.values import (
    binary_function,
    call_function,
    cast_function,
    constant,
    ramp,
    reinterpretation,
    scaled,
)
from irkit.ir.intrinsics import Call, Ldexp, Reinterpret
from irkit.ir.numpy_types import numpy_dtype
from irkit.ir.stmt import Block, For, If, Let, Stmt, Store

Lanes = NDArray[Any]  # Shapes: [points or 1, lanes or 1].
CHUNK = 1 << 20
_NARROW = 32  # Bits of weights for which sums of products fit 64.


class IterationPoints:
    """Iterations of the enumerated loops: the values of their variables, and how often each runs.

    ``times`` is the number of iterations of all loops that are not enumerated. A variable without a
    value depends on data.
    """

    def __init__(
        self, variables: Mapping[Var, Lanes | None], weights: NDArray[Any], times: int
    ) -> None:
        self.variables = variables
        self.weights = weights
        self.times = times
        self._values: dict[int, Lanes | None] = {}

    @property
    def total(self) -> int:
        """Return how often a statement here runs."""
        return int(self.weights.sum()) * self.times

    def active(self, mask: Lanes, lanes: int) -> int:
        """Return how many lanes of all runs are set in a mask."""
        shown = np.broadcast_to(mask, (len(self.weights), lanes))
        return int((self.weights * np.count_nonzero(shown, axis=1)).sum()) * self.times

    def bind(self, var: Var, value: Lanes | None) -> "IterationPoints":
        """Return the same points with a value for a variable."""
        return IterationPoints({**self.variables, var: value}, self.weights, self.times)

    def repeated(self, counts: Lanes) -> "IterationPoints":
        """Return the points of a loop that is not enumerated, with so many iterations at each."""
        if counts.size == 1:
            return IterationPoints(self.variables, self.weights, self.times * int(counts.item()))
        many, most = counts[:, 0], int(self.weights.max(initial=0)) * int(counts.max())
        wide = object if most >> _NARROW else np.int64
        return IterationPoints(
            self.variables, self.weights.astype(wide) * many.astype(wide), self.times
        )

    def where(self, mask: Lanes) -> "IterationPoints":
        """Return the points at which any lane of a mask is set."""
        rows = np.broadcast_to(mask.any(axis=1), self.weights.shape)
        return self if rows.all() else self._at(np.flatnonzero(rows))

    def rows(self, mask: Lanes, value: Lanes) -> Lanes:
        """Return the rows of a value at the points of ``where(mask)``."""
        kept = np.broadcast_to(mask.any(axis=1), self.weights.shape)
        return value if len(value) == 1 or kept.all() else value[kept]

    def enumerated(self, var: Var, begin: Lanes, counts: Lanes) -> "Iterator[IterationPoints]":
        """Yield the points of a loop over ``var``, some at a time."""
        shape = (len(self.weights), 1)
        firsts = np.broadcast_to(begin, shape)[:, 0].astype(np.int64)
        ends = np.cumsum(np.broadcast_to(counts, shape)[:, 0])
        for start in range(0, int(ends[-1]) if len(ends) else 0, CHUNK):
            places = np.arange(start, min(start + CHUNK, int(ends[-1])))
            outer = np.searchsorted(ends, places, side="right")
            before = np.concatenate(([0], ends[:-1]))[outer]
            values = (firsts[outer] + places - before).astype(numpy_dtype(var.dtype))
            yield self._at(outer).bind(var, values[:, None])

    def _at(self, places: NDArray[Any]) -> "IterationPoints":
        variables = {
            var: value if value is None or len(value) == 1 else value[places]
            for var, value in self.variables.items()
        }
        return IterationPoints(variables, self.weights[places], self.times)

    def value(self, expr: Expr) -> Lanes | None:
        """Return the value of an expression at each point; None if it depends on data."""
        for node in postorder(expr):
            if isinstance(node, Expr) and id(node) not in self._values:
                self._values[id(node)] = self._computed(node)
        return self._values[id(expr)]

    def _computed(self, node: Expr) -> Lanes | None:
        if isinstance(node, Var):
            return self.variables.get(node)
        if isinstance(node, Const):
            return np.asarray(constant(node.value, node.dtype)).reshape(1, 1)
        given: list[Any] = [self._values[id(child)] for child in children(node)]
        if isinstance(node, Load) or any(value is None for value in given):
            return None
        with np.errstate(all="ignore"):
            return _apply(node, given)


def _apply(node: Expr, given: list[Any]) -> Lanes:
    match node:
        case Binary(a):
            return binary_function(type(node), _of_lanes(a.dtype))(*given)
        case Not():
            return ~given[0]
        case Neg():
            return -given[0]
        case Cast(value):
            return cast_function(_of_lanes(value.dtype), _of_lanes(node.dtype))(*given)
        case Reinterpret():
            return reinterpretation(node.dtype)(*given)
        case Ldexp():
            return scaled(node.dtype)(*given)
        case Select() | Conditional():
            return np.where(*given)  # pyright: ignore[reportUnknownVariableType]
        case Ramp():
            return ramp(node.dtype)(*given)
        case Broadcast():
            return given[0]
        case Call(name, args):
            return call_function(name, _of_lanes(args[0].dtype))(*given)
        case _:
            raise AssertionError(type(node).__name__)


def _of_lanes(dtype: DType) -> DType:
    """Return a type of several lanes, for which functions take arrays of any shape."""
    return dtype.with_lanes(2)


def nodes_with_loads(body: Stmt) -> frozenset[int]:
    """Return the ids of the nodes that read memory, in themselves or below."""
    found: set[int] = set()
    for node in postorder(body):
        if isinstance(node, Load) or any(id(child) in found for child in children(node)):
            found.add(id(node))
    return frozenset(found)


def deciding_variables(body: Stmt, with_loads: frozenset[int]) -> frozenset[Var]:
    """Return the variables that decide which statements run, how often, and in which lanes."""
    values: dict[Var, Expr] = {}
    roots: list[Expr] = []
    for node in walk(body):
        match node:
            case Let(var, value):
                values[var] = value
            case Block(_, axes, predicate=predicate, init=init):
                values.update((axis.var, axis.binding) for axis in axes)
                reduce = [axis.binding for axis in axes if axis.kind == "reduce"]
                roots += [] if predicate is None else [predicate]
                roots += [] if init is None else reduce
            case For(_, begin, end):
                roots += [begin, end]
            case If(cond):
                roots.append(cond)
            case Conditional(cond) | And(cond) | Or(cond) if id(node) in with_loads:
                roots.append(cond)
            case Store(mask=mask) | Load(mask=mask) if mask is not None:
                roots.append(mask)
            case _:
                pass
    found: set[Var] = set()
    while roots:
        for var in walk(roots.pop(), Var):
            if var not in found:
                found.add(var)
                roots += [values[var]] if var in values else []
    return frozenset(found)
