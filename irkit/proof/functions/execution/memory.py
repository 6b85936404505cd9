"""Memory of a symbolic run: which value each element holds."""

from collections.abc import Callable, Sequence
from math import prod
from typing import NamedTuple

from irkit.ir import (
    I64,
    Buffer,
    Const,
    DType,
    Expr,
    ge,
    logical_and,
    logical_not,
    logical_or,
    lt,
)
from irkit.proof.functions.execution.terms import NotExecuted, Terms, Value

MOST_FACTS = 40
"""Indices inside their extents, of which the solver is told."""


class Memory:
    """The elements of a parameter or an allocation: those that were written, and a buffer of one
    dimension that stands for the others, whose values are not known."""

    def __init__(self, name: str, size: int, dtype: DType, start: Buffer, depth: int) -> None:
        self.name, self.size, self.dtype = name, size, dtype
        self.start = start
        self.depth = depth
        """Number of loops without an order around the allocation."""
        self.cells: dict[int, Value] = {}

    def read(self, at: int, terms: Terms) -> Value:
        """Return the value of an element."""
        found = self.cells.get(at)
        if found is None:
            return terms.element(self.start, terms.constant(at, I64))
        return found


class Place(NamedTuple):
    """A buffer as part of memory: where it begins, and its shape and strides in elements."""

    memory: Memory
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def at(self, indices: Sequence[int], name: str) -> int:
        """Return the place in memory of an element.

        Raises: NotExecuted if there is no such element.
        """
        found = self.offset
        for at, extent, stride in zip(indices, self.shape, self.strides, strict=True):
            if not 0 <= at < extent:
                raise NotExecuted(f"an index of {name} is {at}, outside 0 to {extent - 1}")
            found += at * stride
        return found


def strides_of(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the strides of a buffer that is row-major without gaps."""
    return tuple(prod(shape[at + 1 :]) for at in range(len(shape)))


def reach(shape: Sequence[int], strides: Sequence[int]) -> int:
    """Return the number of elements from the first to the last."""
    if 0 in shape:
        return 0
    return 1 + sum([(extent - 1) * step for extent, step in zip(shape, strides, strict=True)])


class UnknownMemory:
    """Buffers of one dimension that stand for memory at the start, by what it is: that of a
    parameter is the same on both sides, that of an allocation is like no other."""

    def __init__(self) -> None:
        self._params: dict[int, Buffer] = {}
        self.unwritten: set[Buffer] = set()

    def of_param(self, number: int, name: str, dtype: DType) -> Buffer:
        found = self._params.get(number)
        if found is None:
            found = self._params[number] = Buffer(name, (Const(1 << 40, I64),), dtype)
        return found

    def of_allocation(self, name: str, dtype: DType) -> Buffer:
        made = Buffer(name, (Const(1 << 40, I64),), dtype)
        self.unwritten.add(made)
        return made


class KnownBounds:
    """Indices that are terms, and the extents that the side before has kept them in, each with the
    condition under which it did."""

    def __init__(self, follows: Callable[[list[Expr], Expr, int], bool]) -> None:
        self.follows = follows
        self._known: dict[tuple[int, int], list[Value]] = {}
        self._facts: dict[tuple[int, int, int], tuple[Expr, int, Value]] = {}

    def add(self, index: Expr, extent: int, cond: Value) -> None:
        """Note that an index was inside an extent where a condition held."""
        self._known.setdefault((id(index), extent), []).append(cond)
        self._facts[id(index), extent, id(cond)] = (index, extent, cond)

    def hold(self, index: Expr, extent: int, cond: Value) -> bool:
        """Return True if an index is inside an extent where a condition holds."""
        known = self._known.get((id(index), extent), [])
        if any(each is True or each is cond for each in known):
            return True
        facts: list[Expr] = [] if cond is True else [cond]
        for each, limit, when in list(self._facts.values())[:MOST_FACTS]:
            inside = logical_and(ge(each, 0), lt(each, Const(limit, I64)))
            facts.append(inside if when is True else logical_or(logical_not(when), inside))
        return self.follows(facts, index, extent)
