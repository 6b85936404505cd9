"""State of a symbolic run: variables, the condition under which the current statement runs, and the
steps that are left."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

from irkit.ir import BOOL, EQ, I64, Add, Expr, Mul
from irkit.proof.functions.execution.conflicts import UnorderedLoop
from irkit.proof.functions.execution.memory import KnownBounds, Memory, Place, UnknownMemory
from irkit.proof.functions.execution.terms import NotExecuted, Terms, Value

MOST_SCATTERED = 256
"""Elements of memory, one of which is chosen by an index that depends on data."""


class StepBudget:
    """Steps of execution, and claims, that are left for both versions together."""

    def __init__(self, most: int, claims: int) -> None:
        self.left, self.claims = most, claims

    def take(self, count: int) -> None:
        """Take some steps.

        Raises: NotExecuted if there are not so many left.
        """
        self.left -= count
        if self.left < 0:
            raise NotExecuted("it is too large to be executed")

    def take_claim(self) -> None:
        """Take a claim for the solver.

        Raises: NotExecuted if there is none left.
        """
        self.claims -= 1
        if self.claims < 0:
            raise NotExecuted("too many values are left to the solver")


class SymbolicState:
    """What a run of one version knows at a statement.

    ``checks_order`` is True for the version whose loops without an order must have iterations that
    do not meet; ``makes_bounds`` for the one whose indices are taken to be inside their buffers.
    """

    def __init__(
        self,
        terms: Terms,
        steps: StepBudget,
        unknown: UnknownMemory,
        bounds: KnownBounds,
        *,
        is_after: bool,
    ) -> None:
        self.terms, self.steps, self.unknown, self.bounds = terms, steps, unknown, bounds
        self.is_after = is_after
        self.slots: list[Any] = []
        self.path: Value = True
        self.lanes: list[Value] | None = None
        """Of a vector that is chosen from, the condition of each lane."""
        self.loops: list[UnorderedLoop] = []
        self.events: list[tuple[object, ...]] = []

    @contextmanager
    def under(self, cond: Value) -> Generator[None]:
        """Run statements, or evaluate an expression, where a condition holds."""
        path, self.path = self.path, self.terms.both(self.path, cond)
        try:
            yield
        finally:
            self.path = path

    def load(self, place: Place, indices: Sequence[Value], name: str, cond: Value) -> Value:
        """Return an element that is read under a condition, besides that of the path.

        Raises: NotExecuted if it lies outside its buffer, or another iteration wrote it.
        """
        at = self._index(place, indices, name, cond)
        if isinstance(at, Expr):
            return self._gathered(place.memory, at)
        self.steps.take(len(self.loops))
        for loop in self.loops:
            if place.memory.depth <= loop.depth:
                loop.reads(place.memory, at)
        return place.memory.read(at, self.terms)

    def store(
        self, place: Place, indices: Sequence[Value], value: Value, name: str, cond: Value
    ) -> None:
        """Write an element under a condition, besides that of the path.

        Raises: as ``load``.
        """
        if cond is False:
            return
        at = self._index(place, indices, name, cond)
        full, memory, terms = self.terms.both(self.path, cond), place.memory, self.terms
        if not isinstance(at, Expr):
            self._write(memory, at, full, value)
            return
        if memory.size > MOST_SCATTERED:
            raise NotExecuted(f"an index of a store to {name} depends on data")
        self.steps.take(memory.size)
        for each in range(memory.size):
            here = terms.binary(EQ, at, each, BOOL, I64)
            self._write(memory, each, terms.both(full, here), value)

    def _write(self, memory: Memory, at: int, cond: Value, value: Value) -> None:
        if cond is False:
            return
        if cond is True and not self.loops:
            memory.cells[at] = value
            return
        self.steps.take(len(self.loops))
        old = memory.read(at, self.terms)
        made = self.terms.chosen(cond, value, old, memory.dtype)
        changes = made is not old and (isinstance(made, Expr) or made != old)
        for loop in self.loops:
            if memory.depth <= loop.depth:
                loop.writes(memory, at, changes=changes)
        memory.cells[at] = made

    def _index(self, place: Place, indices: Sequence[Value], name: str, cond: Value) -> Value:
        if not any(isinstance(index, Expr) for index in indices):
            return place.at(indices, name)
        terms, found = self.terms, place.offset
        for at, extent, stride in zip(indices, place.shape, place.strides, strict=True):
            if not isinstance(at, Expr):
                Place(place.memory, 0, (extent,), (1,)).at((at,), name)
            else:
                self._check_term(at, extent, cond, name)
            step = terms.binary(Mul, at, stride, I64, I64) if isinstance(at, Expr) else at * stride
            if isinstance(step, Expr) or isinstance(found, Expr):
                found = terms.binary(Add, found, step, I64, I64)
            else:
                found += step
        return found

    def _check_term(self, at: Expr, extent: int, cond: Value, name: str) -> None:
        full = self.terms.both(self.path, cond)
        if not self.is_after:
            self.bounds.add(at, extent, full)
        elif not self.bounds.hold(at, extent, full):
            raise NotExecuted(f"an index of {name} depends on data, and may be a new one")

    def _gathered(self, memory: Memory, at: Expr) -> Value:
        """Return an element whose index is not known: a choice between those that were written."""
        if len(memory.cells) > MOST_SCATTERED:
            raise NotExecuted(f"an index of {memory.name} depends on data")
        self.steps.take(1 + len(memory.cells))
        for loop in self.loops:
            if memory.depth <= loop.depth:
                loop.gathers(memory)
        written = sorted(memory.cells)
        if len(written) == memory.size > 0:
            found = memory.cells[written.pop()]  # One of them it is: the last is what is left.
        else:
            found = self.terms.element(memory.start, at)
        for each in written:
            here = self.terms.binary(EQ, at, each, BOOL, I64)
            found = self.terms.chosen(here, memory.cells[each], found, memory.dtype)
        return found
