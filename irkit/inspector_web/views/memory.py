"""How each line of a loop function accesses memory: the stride along each loop, how many elements
and cache lines it touches, and how often it uses each element.

Conditions and masks are taken to hold, so counts are the most it can be. Only indices that are sums
of multiples of loop variables are followed; of others nothing is said.
"""

from collections.abc import Mapping, Sequence
from math import prod

import msgspec
import numpy as np

from irkit.core import Node, children, deep_recursion, walk
from irkit.inspector_web.text.texts import PrintedFunction
from irkit.ir import (
    Add,
    Block,
    Broadcast,
    Buffer,
    Cast,
    Const,
    Expr,
    For,
    Let,
    Load,
    Mul,
    Neg,
    PrimFunc,
    Ramp,
    Stmt,
    Store,
    Sub,
    Var,
    as_int,
)

CACHE_LINE = 64
"""Units: bytes."""
MOST_ADDRESSES = 1 << 21
"""Addresses of one access that are counted one by one."""
MOST_ACCESSES = 2_000


class LoopStride(msgspec.Struct, frozen=True):
    """How far an access moves from one iteration of a loop to the next. Units: bytes."""

    loop: str
    extent: int | None
    bytes: int


class LineAccess(msgspec.Struct, frozen=True):
    """A load or store on a line, from 1: ``times`` counts elements accessed, ``elements`` and
    ``lines`` the distinct ones among them and their cache lines; None if it is not known."""

    line: int
    writes: bool
    buffer: str
    dtype: str
    strides: tuple[LoopStride, ...] | None
    times: int | None
    elements: int | None
    lines: int | None


class MemoryPage(msgspec.Struct, frozen=True):
    """The accesses of a function, in order of the text; ``more`` are omitted."""

    function: str
    accesses: list[LineAccess]
    more: int = 0


Sum = tuple[int, dict[int, int]]
"""A constant, and the coefficient of each loop variable, by ``id``."""


class _Loop(msgspec.Struct, frozen=True):
    name: str
    key: int
    extent: int | None


def memory_accesses(part: PrintedFunction) -> MemoryPage:
    """List the accesses of a loop function."""
    func = part.func
    assert isinstance(func, PrimFunc), "only loop functions have accesses of memory"
    found = _Accesses(part.starts)
    with deep_recursion:
        found.visit(func.body, 0)
    more = max(0, len(found.made) - MOST_ACCESSES)
    return MemoryPage(func.name, found.made[:MOST_ACCESSES], more)


class _Accesses:
    def __init__(self, starts: Mapping[int, int]) -> None:
        self.starts = starts
        self.made: list[LineAccess] = []
        self.loops: list[_Loop] = []
        self.values: dict[int, Sum | None] = {}
        self.seen: set[tuple[int, bool, int, tuple[int, ...]]] = set()

    def visit(self, stmt: Stmt, line: int) -> None:
        line = self.starts.get(id(stmt), line)
        match stmt:
            case For(var, begin, end):
                first, last = as_int(begin), as_int(end)
                extent = None if first is None or last is None else max(0, last - first)
                self.values[id(var)] = first or 0, {id(var): 1}
                self.loops.append(_Loop(var.name, id(var), extent))
                self.visit(stmt.body, line)
                self.loops.pop()
                return
            case Let(var, value):
                self.values[id(var)] = self.sum_of(value)
            case Block():
                for axis in stmt.axes:
                    self.values[id(axis.var)] = self.sum_of(axis.binding)
            case Store(buffer, indices):
                self.loads(stmt, line)
                self.add(line, True, buffer, indices)
                return
            case _:
                pass
        for child in children(stmt):
            if isinstance(child, Stmt):
                self.visit(child, line)
            else:
                self.loads(child, line)

    def loads(self, inside: Node, line: int) -> None:
        """Add the loads in an expression, or in the expressions of a store."""
        for node in walk(inside, Load):
            self.add(line, False, node.buffer, node.indices)

    def add(self, line: int, writes: bool, buffer: Buffer, indices: Sequence[Expr]) -> None:
        key = line, writes, id(buffer), tuple(map(id, indices))
        if key in self.seen:
            return
        self.seen.add(key)
        lanes = max((index.dtype.lanes for index in indices), default=1)
        loops = [*self.loops, _Loop("lanes", 0, lanes)] if lanes > 1 else self.loops
        extents = [loop.extent for loop in loops]
        times = None if None in extents else prod(each for each in extents if each is not None)
        size = buffer.dtype.bytes
        address = self.address(buffer, indices)
        strides, distinct = None, None
        if address is not None:
            moves = [(loop, address.get(loop.key, 0)) for loop in loops]
            strides = tuple(LoopStride(loop.name, loop.extent, by * size) for loop, by in moves)
            distinct = _distinct(moves, size) if times is not None else None
        elements, cache_lines = (None, None) if distinct is None else distinct
        self.made.append(
            LineAccess(
                line,
                writes,
                buffer.name,
                str(buffer.dtype),
                strides,
                times,
                elements,
                cache_lines,
            )
        )

    def address(self, buffer: Buffer, indices: Sequence[Expr]) -> dict[int, int] | None:
        """Return by how many elements an access moves with each loop variable."""
        given = buffer.strides
        sizes = _row_major(buffer) if given is None else [as_int(each) for each in given]
        total: dict[int, int] = {}
        for index, step in zip(indices, sizes, strict=True):
            found = self.sum_of(index)
            if found is None or (step is None and found[1]):
                return None
            for key, by in found[1].items():
                total[key] = total.get(key, 0) + by * (step or 0)
        return total

    def sum_of(self, expr: Expr) -> Sum | None:
        """Return an index as a sum of multiples of loop variables, None if it is not one."""
        if isinstance(expr, Var):
            return self.values.get(id(expr))
        if id(expr) not in self.values:
            self.values[id(expr)] = self._sum_of(expr)
        return self.values[id(expr)]

    def _sum_of(self, expr: Expr) -> Sum | None:
        match expr:
            case Const(value) if isinstance(value, int):
                return int(value), {}
            case Cast(value) | Broadcast(value):
                return self.sum_of(value)
            case Neg(a):
                return _times(self.sum_of(a), -1)
            case Add(a, b):
                return _plus(self.sum_of(a), self.sum_of(b))
            case Sub(a, b):
                return _plus(self.sum_of(a), _times(self.sum_of(b), -1))
            case Mul(a, b):
                one, other = self.sum_of(a), self.sum_of(b)
                if one is None or other is None or (one[1] and other[1]):
                    return None
                return _times(one, other[0]) if one[1] else _times(other, one[0])
            case Ramp(base, stride):
                step = self.sum_of(stride)
                if step is None or step[1]:
                    return None
                return _plus(self.sum_of(base), (0, {0: step[0]}))
            case _:
                return None


def _row_major(buffer: Buffer) -> list[int | None]:
    steps: list[int | None] = [1] * len(buffer.shape)
    for at in range(len(steps) - 2, -1, -1):
        size, below = as_int(buffer.shape[at + 1]), steps[at + 1]
        steps[at] = None if size is None or below is None else below * size
    return steps


def _plus(a: Sum | None, b: Sum | None) -> Sum | None:
    if a is None or b is None:
        return None
    terms = dict(a[1])
    for key, by in b[1].items():
        terms[key] = terms.get(key, 0) + by
    return a[0] + b[0], terms


def _times(a: Sum | None, by: int) -> Sum | None:
    return None if a is None else (a[0] * by, {key: each * by for key, each in a[1].items()})


def _distinct(moves: Sequence[tuple[_Loop, int]], size: int) -> tuple[int, int] | None:
    """Count the distinct elements and cache lines of an access in all iterations, from the start of
    its buffer on; None if they are too many to count."""
    places = np.zeros(1, dtype=np.int64)
    for loop, by in moves:
        if not by or loop.extent is None:
            places = places if loop.extent != 0 else places[:0]
            continue
        if len(places) * loop.extent > MOST_ADDRESSES:
            return None
        steps = by * np.arange(loop.extent, dtype=np.int64)
        places = np.unique(np.add.outer(places, steps))
    return len(places), len(np.unique(places * size // CACHE_LINE))
