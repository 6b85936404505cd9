"""Counts of floating-point operations and bytes of a loop function.

Within a statement, equal expressions are computed once, as docs/semantics.md allows and LLVM does.
"""

from collections import Counter
from math import prod

import msgspec
import numpy as np

from irkit.core import analysis, children, deep_recursion
from irkit.ir.analysis import ValueNumbering
from irkit.ir.buffer import Buffer, Load
from irkit.ir.build import evaluates, is_hint
from irkit.ir.conditional import Conditional
from irkit.ir.expr import (
    Add,
    And,
    Const,
    Div,
    Expr,
    FloorDiv,
    FloorMod,
    Max,
    Min,
    Mul,
    Or,
    Sub,
    Var,
)
from irkit.ir.function import PrimFunc
from irkit.ir.intrinsics import Call
from irkit.ir.stmt import (
    Allocate,
    Assert,
    Block,
    Evaluate,
    For,
    If,
    Let,
    Seq,
    Stmt,
    Store,
    View,
)
from irkit.ir.work.points import IterationPoints, Lanes, deciding_variables, nodes_with_loads

MOST_POINTS = 1 << 24
"""The most iterations that are enumerated for one function: some seconds."""

_ARITHMETIC = (Add, Sub, Mul, Div, FloorDiv, FloorMod, Min, Max)


class Work(msgspec.Struct, frozen=True):
    """What one run of a function does.

    ``flops`` counts each float operation in each lane: a sum, difference, product, quotient,
    remainder, minimum, maximum or intrinsic function is one, ``fma`` two; negations, comparisons,
    choices and conversions are none. ``loaded`` and ``stored`` are the bytes of all accesses,
    ``moved`` is what must at least come from and go to memory: the bytes of each argument that are
    read, and those that are written, at most once each.

    If ``exact`` is False, conditions depend on data, and the counts are the most it can be.
    """

    flops: int
    loaded: int
    stored: int
    moved: int
    exact: bool = True


@analysis
def work_of(func: PrimFunc) -> Work | None:
    """Return the work of a function, at any stage of lowering.

    It is None if the number of iterations of a loop depends on data or on a symbolic size, or if
    too many iterations would have to be enumerated.
    """
    counter = _WorkCounter(func)
    try:
        counter.count()
    except _UnknownError:
        return None
    return counter.result()


class _UnknownError(Exception):
    """The end of a count that cannot be known."""


class _WorkCounter:
    def __init__(self, func: PrimFunc) -> None:
        self.func = func
        self.with_loads = nodes_with_loads(func.body)
        self.deciding = deciding_variables(func.body, self.with_loads)
        self.numbering = ValueNumbering()
        self.memory: dict[Buffer, Buffer] = {}
        self.flops = 0
        self.loaded: Counter[Buffer] = Counter()
        self.stored: Counter[Buffer] = Counter()
        self.exact = True
        self.left = MOST_POINTS
        # Of the current statement: where it runs, what is computed (also in each side of a choice
        # around), and the lanes that take the
        # sides of the choices around, by number of lanes.
        self.points = IterationPoints({}, np.ones(1, np.int64), 1)
        self.known: set[int] = set()
        self.sides: list[list[int]] = []
        self.masks: dict[int, Lanes] = {}

    @deep_recursion
    def count(self) -> None:
        self.statement(self.func.body)

    def result(self) -> Work:
        moved = 0
        for param in self.func.params:
            if isinstance(param, Buffer):
                moved += sum([_once(param, by[param]) for by in (self.loaded, self.stored)])
        loaded, stored = self.loaded.total(), self.stored.total()
        return Work(self.flops, loaded, stored, moved, self.exact)

    # Statements.

    def statement(self, stmt: Stmt) -> None:
        points = self.points
        if not points.total:
            return
        self.known.clear()
        match stmt:
            case Seq(stmts):
                for inner in stmts:
                    self.statement(inner)
            case Store():
                self.store(stmt)
            case For():
                self.loop(stmt)
            case Block():
                self.block(stmt)
            case If(cond, then, otherwise):
                self.value(cond)
                truth = points.value(cond)
                self.statement_where(truth, then)
                if otherwise is not None:
                    self.statement_where(None if truth is None else ~truth, otherwise)
            case Let(var, value, body):
                self.value(value)
                if var in self.deciding:
                    self.points = points.bind(var, points.value(value))
                self.statement(body)
            case Allocate(_, body):
                self.statement(body)
            case View(buffer, source, _, body):
                self.memory[buffer] = self.memory.get(source, source)
                self.statement(body)
            case Evaluate(value):
                if not evaluates(stmt, "barrier") and not is_hint(stmt):
                    self.value(value)
            case Assert(cond):
                self.value(cond)
            case _:
                raise AssertionError(type(stmt).__name__)
        self.points = points

    def statement_where(self, truth: Lanes | None, stmt: Stmt) -> None:
        """Count a statement at the points where a condition holds; at all if it depends on data."""
        points = self.points
        if truth is None:
            self.exact = False
        else:
            self.points = points.where(truth)
        self.statement(stmt)
        self.points = points

    def store(self, stmt: Store) -> None:
        for index in stmt.indices:
            self.value(index)
        self.value(stmt.value)
        if stmt.mask is not None:
            self.value(stmt.mask)
        lanes = max([index.dtype.lanes for index in stmt.indices], default=1)
        self.access(self.stored, stmt.buffer, lanes, stmt.mask)

    def loop(self, stmt: For) -> None:
        self.value(stmt.begin)
        self.value(stmt.end)
        points = self.points
        begin, end = points.value(stmt.begin), points.value(stmt.end)
        if begin is None or end is None:
            raise _UnknownError
        counts = np.maximum(end.astype(np.int64) - begin.astype(np.int64), 0)
        if stmt.var not in self.deciding:
            self.points = points.repeated(counts)
            self.statement(stmt.body)
            return
        for piece in points.enumerated(stmt.var, begin, counts):
            self.left -= len(piece.weights)
            if self.left < 0:
                raise _UnknownError
            self.points = piece
            self.statement(stmt.body)

    def block(self, stmt: Block) -> None:
        for axis in stmt.axes:
            self.value(axis.binding)
            if axis.var in self.deciding or stmt.init is not None:
                self.points = self.points.bind(axis.var, self.points.value(axis.binding))
        self.known.clear()
        if stmt.predicate is not None:
            self.value(stmt.predicate)
            truth = self.points.value(stmt.predicate)
            self.exact &= truth is not None
            self.points = self.points if truth is None else self.points.where(truth)
        if stmt.init is not None:
            first: Lanes | None = np.ones((1, 1), np.bool_)
            for axis in stmt.axes:
                if axis.kind == "reduce":
                    value = self.points.value(axis.var)
                    first = None if value is None or first is None else first & (value == 0)
            self.statement_where(first, stmt.init)
        self.statement(stmt.body)

    # Expressions.

    def value(self, expr: Expr) -> None:
        """Count an expression of the current statement."""
        number = self.numbering.of(expr)
        if number in self.known or isinstance(expr, (Const, Var)):
            return
        sides = self._lazy_sides(expr)
        if sides is None:
            for child in children(expr):
                self.value(child)  # pyright: ignore[reportArgumentType] -- expressions hold expressions
            self._operation(expr)
        else:
            cond, then, otherwise = sides
            self._choice(cond, then, otherwise)
        self.known.add(number)
        if self.sides:
            self.sides[-1].append(number)

    def _lazy_sides(self, expr: Expr) -> tuple[Expr, Expr | None, Expr | None] | None:
        """Return condition and sides of a choice in which a side that is not taken reads memory;
        all else is computed in advance."""
        match expr:
            case Conditional(cond, then, otherwise):
                sides = cond, then, otherwise
            case And(cond, b):
                sides = cond, b, None
            case Or(cond, b):
                sides = cond, None, b
            case _:
                return None
        lazy = [id(side) for side in sides[1:] if side is not None]
        return None if self.with_loads.isdisjoint(lazy) else sides

    def _choice(self, cond: Expr, then: Expr | None, otherwise: Expr | None) -> None:
        self.value(cond)
        truth = self.points.value(cond)
        for side, mask in ((then, truth), (otherwise, None if truth is None else ~truth)):
            if side is not None:
                self._side(side, mask, cond.dtype.lanes)

    def _side(self, side: Expr, mask: Lanes | None, lanes: int) -> None:
        points, masks = self.points, self.masks
        if mask is None:
            self.exact = False
        else:
            if lanes > 1 and lanes in masks:
                mask = mask & masks[lanes]
            self.points = points.where(mask)
            inner = {**masks, lanes: mask} if lanes > 1 else masks
            self.masks = {count: points.rows(mask, each) for count, each in inner.items()}
        self.sides.append([])
        if self.points.total:
            self.value(side)
        self.points, self.masks = points, masks
        self.known.difference_update(self.sides.pop())  # Not computed where the other side is.

    def _operation(self, node: Expr) -> None:
        if isinstance(node, Load):
            self.access(self.loaded, node.buffer, node.dtype.lanes, node.mask)
        elif node.dtype.is_float and isinstance(node, (*_ARITHMETIC, Call)):
            each = 2 if isinstance(node, Call) and node.name == "fma" else 1
            self.flops += each * self._lanes(node.dtype.lanes, None)

    def access(
        self, counts: "Counter[Buffer]", buffer: Buffer, lanes: int, mask: Expr | None
    ) -> None:
        """Count a load or store of the current statement."""
        memory = self.memory.get(buffer, buffer)
        counts[memory] += buffer.dtype.bytes * self._lanes(lanes, mask)

    def _lanes(self, lanes: int, mask: Expr | None) -> int:
        """Return how many lanes take part, of all runs of the current statement."""
        active = self.masks.get(lanes) if lanes > 1 else None
        if mask is not None:
            own = self.points.value(mask)
            self.exact &= own is not None
            active = own if own is None or active is None else own & active
        return self.points.total * lanes if active is None else self.points.active(active, lanes)


def _once(buffer: Buffer, accessed: int) -> int:
    dims = [dim.value for dim in buffer.shape if isinstance(dim, Const)]
    if len(dims) != buffer.rank:
        return accessed
    return min(accessed, prod([int(dim) for dim in dims]) * buffer.dtype.bytes)
