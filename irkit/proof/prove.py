"""Proofs that two expressions are equal for all values of their variables."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from irkit.core import IRKitError, equal, walk
from irkit.ir import (
    Binary,
    BitAnd,
    BitOr,
    BitXor,
    Call,
    Const,
    Expr,
    Not,
    Shl,
    Shr,
    Var,
)
from irkit.ir.arith import Claim, Interval, Ranges, claim_of
from irkit.proof.algebra import Algebra
from irkit.proof.bit_vectors import BitVectors
from irkit.proof.concrete import ModelValues
from irkit.proof.exhaustion import by_exhaustion, same_values
from irkit.proof.integers import Integers
from irkit.proof.outcome import Outcome, Proved, Refuted, Unknown
from irkit.proof.solver import has_z3, paused_collector, z3_module
from irkit.proof.texts import claim_text
from irkit.proof.translate import TooManyNodes, Translation

UNITS_PER_SECOND = 4_000_000
"""Units in which z3 counts its work: limits in units give the same answer on every machine."""
NOTHING: Mapping[Var, Interval] = {}
MakeAlgebra = Callable[[Any], Algebra]


class ProofFault(IRKitError):
    """A refutation that the interpreter does not confirm: the translation is wrong."""


def prove_equal(
    before: Expr,
    after: Expr,
    ranges: Ranges = NOTHING,
    facts: Iterable[Expr] = (),
    *,
    seconds: float = 0.3,
) -> Outcome:
    """Prove that two expressions are equal, or find values for which they differ.

    ``ranges`` limit variables; ``facts`` are conditions that hold. ``seconds`` is the time for each
    way to prove it, on a machine of today: it is counted in steps of the solver, so the outcome is
    the same on every machine.

    Raises: IRKitError if z3 is not installed and there are too many values to try; ProofFault if z3
    finds a difference that the interpreter does not.
    """
    return prove_claim(claim_of(before, after, ranges, facts), seconds=seconds)


@paused_collector
def prove_claim(claim: Claim, *, seconds: float = 0.3) -> Outcome:
    """Prove a claim; see :func:`prove_equal`."""
    before, after = claim.before, claim.after
    if before.dtype != after.dtype:
        return Unknown(f"{before.dtype} became {after.dtype}")
    if equal(before, after):
        return Proved("the same expression")
    if not has_z3():
        tried = by_exhaustion(claim)
        if tried is not None:
            return tried
    last: Unknown | None = None
    for algebra in _algebras(claim):
        outcome = _Attempt(claim, algebra, int(seconds * UNITS_PER_SECOND)).outcome()
        if not isinstance(outcome, Unknown):
            return outcome
        last = outcome if last is None or outcome.out_of_time else last
    assert last is not None
    return by_exhaustion(claim) or last


_BITS = (BitAnd, BitOr, BitXor, Shl, Shr)


def _algebras(claim: Claim) -> list[MakeAlgebra]:
    """Return the algebras to try, the more promising first."""
    width = 0
    bits = False
    for part in (claim.before, claim.after):
        for node in walk(part, (Var, Binary, Not, Call, Const)):
            assert isinstance(node, Expr)
            bits = bits or (isinstance(node, _BITS) and not node.dtype.is_bool)
            width = max(width, node.dtype.bits)
    plain: list[MakeAlgebra] = [Integers, BitVectors]
    return plain[::-1] if bits or width <= 16 else plain


class _Attempt:
    """One way to prove a claim."""

    def __init__(self, claim: Claim, algebra: MakeAlgebra, units: int) -> None:
        self.claim, self.units = claim, units
        self.z3 = z3_module()
        self.context = self.z3.Context()
        lanes = claim.before.dtype.lanes
        self.translation = Translation(algebra(self.context), self.context, claim.ranges, lanes)

    def outcome(self) -> Outcome:
        claim, translation, z3 = self.claim, self.translation, self.z3
        try:
            differ = z3.Not(translation.same(claim.before, claim.after))
            facts = [
                translation.term(fact)
                for fact in claim.facts
                if fact.dtype.lanes in (1, translation.lanes)
            ]
        except TooManyNodes:
            return Unknown("it is too large to translate")
        if z3.is_false(z3.simplify(differ)):
            return Proved("the same form")
        solver = z3.Solver(ctx=self.context)
        solver.set("rlimit", self.units)
        solver.add(*translation.conditions, *facts, differ)
        found = solver.check()
        if found == z3.unsat:
            return Proved("z3")
        if found == z3.sat:
            return self._confirmed(solver.model())
        return Unknown("z3 found no proof in its time", out_of_time=True)

    def _confirmed(self, model: Any) -> Outcome:
        """Run both expressions on the values of a model."""
        claim, values = self.claim, ModelValues(self.translation, model)
        before, after = values.of(claim.before), values.of(claim.after)
        hold = all(np.all(values.at_lane(values.of(fact))) for fact in claim.facts)
        if hold and not same_values(values.at_lane(before), values.at_lane(after)).all():
            known = values.bindings, tuple(values.elements)
            return Refuted(values.shown, before, after, *known)
        if self.translation.abstract:
            names = ", ".join(sorted(self.translation.abstract))
            return Unknown(f"an exact meaning is missing for {names}")
        raise ProofFault(
            f"z3 and the interpreter disagree on {claim_text(claim)}: at {values.shown} they are "
            f"{before} and {after}",
            hint="This is a fault of irkit.proof: please report it.",
        )
