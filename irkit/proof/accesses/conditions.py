"""What holds at one or several accesses, in a solver."""

from collections.abc import Iterable, Mapping
from functools import reduce
from typing import Any

from irkit.ir import Buffer, Const, Expr, Interval, Var
from irkit.proof.accesses.sized_integers import SizedIntegers
from irkit.proof.algebra import Term
from irkit.proof.concrete import ModelValues
from irkit.proof.integers import Whole
from irkit.proof.solver import z3_module
from irkit.proof.translate import Translation

UNITS = 1_000_000
"""Steps of the solver for each question; see ``UNITS_PER_SECOND``."""
FEW_UNITS = 200_000
MOST_SMALL_QUESTIONS = 200
"""Conditions that are shown to hold at one place, so that the work is bounded."""
SMALL_SIZES = (4, 32, 4096)
MOST_BYTES = (1 << 63) - 1


class Conditions:
    """The ranges of variables, the arrays that exist and the facts of a place, in a solver.

    Raises: TooManyNodes.
    """

    def __init__(
        self,
        ranges: Mapping[Var, Interval],
        buffers: Iterable[Buffer],
        facts: Iterable[Expr],
        lanes: int,
        context: Any,
    ) -> None:
        self.z3, self.context, self.ranges = z3_module(), context, ranges
        self.algebra = SizedIntegers(context, self.holds)
        self.translation = Translation(self.algebra, context, ranges, lanes)
        self.solver: Any = self.z3.Solver(ctx=context)
        self.known = self.asked = 0
        self.sizes: list[Term] = []
        for buffer in buffers:
            self.exists(buffer)
        for fact in facts:
            if fact.dtype.lanes in (1, lanes):
                self.add(self.translation.term(fact))

    def add(self, *terms: Term) -> None:
        """Add conditions, and those that the translation has found."""
        new = self.translation.conditions[self.known :]
        self.known += len(new)
        self.solver.add(*new, *terms)

    def holds(self, cond: Term) -> bool:
        """Return True if a condition is shown to follow from what is known so far."""
        self.asked += 1
        if self.asked > MOST_SMALL_QUESTIONS:
            return False
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
        if any(dim not in self.ranges for dim in symbolic):
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

    def spanned(self, buffer: Buffer) -> Term:
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

    def smallest(self, goal: Term) -> ModelValues | None:
        """Return small values for which a condition holds, if z3 finds any."""
        variables = [
            self.algebra.value(self.translation.done[id(var)], var.dtype)
            for var in self.translation.variables
            if var.dtype.is_integer
        ]
        for most in (*SMALL_SIZES, None):
            limits = [] if most is None else [each <= most for each in variables]
            limits += [] if most is None else [each >= -most for each in variables]
            if self.ask(goal, *limits) == self.z3.sat:
                return ModelValues(self.translation, self.solver.model())
        return None
