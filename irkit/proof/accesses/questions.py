"""One access as a question to z3: can it leave its buffer?"""

from typing import Any

from irkit.proof.accesses.conditions import Conditions
from irkit.proof.accesses.guarded_accesses import GuardedAccess
from irkit.proof.algebra import Term
from irkit.proof.concrete import ModelValues
from irkit.proof.integers import Whole


class Question(Conditions):
    """The conditions of an access and that it lies outside, in a solver.

    Raises: TooManyNodes.
    """

    def __init__(self, access: GuardedAccess, context: Any) -> None:
        lanes = max((side.dtype.lanes for pair in access.sides for side in pair), default=1)
        super().__init__(access.ranges, access.buffers, access.facts, lanes, context)
        self.access = access
        self.outside: Term = self.z3.Or(*self._sides())
        self.add()

    def _sides(self) -> list[Term]:
        found: list[Term] = []
        for index, extent in self.access.sides:
            at: Whole = self.translation.number(index)
            end = self.number(extent)
            if not index.dtype.is_integer:
                continue
            dtype = index.dtype.element
            if not (dtype.low <= at.low and at.high <= dtype.high) and self._stays(at, end):
                continue  # What lies between 0 and an extent has not wrapped around.
            at = self.algebra.exact(at, dtype)
            if at.low < 0:
                found.append(at.term < 0)
            if at.high >= end.low:
                found.append(at.term >= end.term)
        if self.access.view is not None:
            found += self._view()
        return found or [self.z3.BoolVal(False, self.context)]

    def _stays(self, at: Whole, end: Whole) -> bool:
        self.add()
        outside = self.z3.Or(at.term < 0, at.term >= end.term)
        return self.ask(outside) == self.z3.unsat

    def _view(self) -> list[Term]:
        view = self.access.view
        assert view is not None
        offset = self.number(view.offset).term
        room, needed = self.spanned(view.source), self.spanned(view.buffer)
        return [offset < 0, offset + needed > room]

    def answer(self) -> Any:
        """Return unsat if the access stays inside, sat if it can leave its buffer."""
        if self.z3.is_false(self.z3.simplify(self.outside)):
            return self.z3.unsat
        return self.ask(self.outside)

    def values(self, model: ModelValues) -> list[Any]:
        """Return the indices that a model gives, with the offset of a view."""
        view = self.access.view
        exprs = [view.offset] if view is not None else [index for index, _ in self.access.sides]
        return [model.at_lane(model.of(expr)) for expr in exprs]
