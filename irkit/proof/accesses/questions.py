"""One access as a question to z3: can it leave its buffer?"""

from functools import reduce
from typing import Any

from irkit.ir import Buffer, Const, Expr
from irkit.proof.accesses.guarded_accesses import GuardedAccess
from irkit.proof.accesses.sized_integers import SizedIntegers
from irkit.proof.algebra import Term
from irkit.proof.concrete import ModelValues
from irkit.proof.integers import Whole
from irkit.proof.solver import z3_module
from irkit.proof.translate import Translation

UNITS = 1_000_000
"""Steps of the solver for each question; see ``UNITS_PER_SECOND``."""
FEW_UNITS = 200_000
SMALL_SIZES = (4, 32, 4096)
MOST_BYTES = (1 << 63) - 1


class Question:
    """The conditions of an access and that it lies outside, in a solver.

    Raises: TooManyNodes.
    """

    def __init__(self, access: GuardedAccess, context: Any) -> None:
        self.access, self.z3, self.context = access, z3_module(), context
        lanes = max((side.dtype.lanes for pair in access.sides for side in pair), default=1)
        self.algebra = SizedIntegers(context, self.holds)
        self.translation = Translation(self.algebra, context, access.ranges, lanes)
        self.solver: Any = self.z3.Solver(ctx=context)
        self.known = 0
        self.sizes: list[Term] = []
        for buffer in access.buffers:
            self.exists(buffer)
        for fact in access.facts:
            if fact.dtype.lanes in (1, lanes):
                self.add(self.translation.term(fact))
        self.outside: Term = self.z3.Or(*self._sides())
        self.add()

    def add(self, *terms: Term) -> None:
        """Add conditions, and those that the translation has found."""
        new = self.translation.conditions[self.known :]
        self.known += len(new)
        self.solver.add(*new, *terms)

    def holds(self, cond: Term) -> bool:
        """Return True if a condition is shown to follow from what is known so far."""
        self.add()
        return self.ask(self.z3.Not(cond), units=FEW_UNITS) == self.z3.unsat

    def ask(self, *terms: Term, units: int = UNITS) -> Any:
        """Return the answer of z3 to whether all terms can hold."""
        self.solver.set("rlimit", units)
        return self.solver.check(*terms)

    def number(self, expr: Expr) -> Whole:
        """Return an integer with its exact value."""
        made: Whole = self.translation.number(expr)
        return self.algebra.exact(made, expr.dtype.element)

    def exists(self, buffer: Buffer) -> None:
        """Assume that the array of a buffer exists: its sizes are not negative, and its bytes can
        be counted."""
        symbolic = [dim for dim in buffer.shape if not isinstance(dim, Const)]
        if not symbolic or buffer.strides is not None:
            return
        if any(dim not in self.access.ranges for dim in symbolic):
            return
        sizes = [self.number(dim).term for dim in symbolic]
        known = [int(dim.value) for dim in buffer.shape if isinstance(dim, Const)]
        bytes_each = reduce(lambda a, b: a * b, known, buffer.dtype.bytes)
        self.sizes += sizes
        if bytes_each <= 0:
            return
        whole = reduce(lambda a, b: a * b, sizes)
        fits = whole <= MOST_BYTES // bytes_each
        zero = self.z3.IntVal(0, self.context)
        self.add(self.z3.Or(*[size == zero for size in sizes], fits))

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
        room, needed = self._spanned(view.source), self._spanned(view.buffer)
        return [offset < 0, offset + needed > room]

    def _spanned(self, buffer: Buffer) -> Term:
        """Return the number of elements that a buffer spans."""
        z3, zero = self.z3, self.z3.IntVal(0, self.context)
        sizes = [self.number(dim).term for dim in buffer.shape]
        if buffer.strides is None:
            return reduce(lambda a, b: a * b, sizes, z3.IntVal(1, self.context))
        steps = [self.number(step).term for step in buffer.strides]
        reach = z3.IntVal(1, self.context)
        for size, step in zip(sizes, steps, strict=True):
            reach = reach + (size - 1) * step
        return z3.If(z3.Or(*[size == zero for size in sizes]), zero, reach)

    def answer(self) -> Any:
        """Return unsat if the access stays inside, sat if it can leave its buffer."""
        if self.z3.is_false(self.z3.simplify(self.outside)):
            return self.z3.unsat
        return self.ask(self.outside)

    def smallest(self) -> ModelValues | None:
        """Return small values for which the access leaves its buffer, if z3 finds any."""
        variables = [
            self.algebra.value(self.translation.done[id(var)], var.dtype)
            for var in self.translation.variables
            if var.dtype.is_integer
        ]
        for most in (*SMALL_SIZES, None):
            limits = [] if most is None else [each <= most for each in variables]
            limits += [] if most is None else [each >= -most for each in variables]
            if self.ask(self.outside, *limits) == self.z3.sat:
                return ModelValues(self.translation, self.solver.model())
        return None

    def values(self, model: ModelValues) -> list[Any]:
        """Return the indices that a model gives, with the offset of a view."""
        view = self.access.view
        exprs = [view.offset] if view is not None else [index for index, _ in self.access.sides]
        return [model.at_lane(model.of(expr)) for expr in exprs]
