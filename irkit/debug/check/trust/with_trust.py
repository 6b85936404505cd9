"""A number of trust: how many small changes to the result of a step its check would notice."""

import time

import msgspec

from irkit.core import IRKitError, rewrite
from irkit.debug.check.comparison import Comparison
from irkit.debug.check.subject import Subject
from irkit.debug.check.trust.mutants import Mutant, mutants
from irkit.debug.check.verdict import WRONG, Trust, Verdict
from irkit.ir import LOOP_LEVEL, Expr, PrimFunc, simplify
from irkit.proof import Prover, has_z3, prove_step

MOST_MUTANTS = 200
SHOWN = 3
"""Survivors that a verdict names."""
LEAST_SECONDS = 0.05
_SHARE_OF_PROOFS = 0.3


def with_trust(
    verdict: Verdict,
    subject: Subject,
    before: PrimFunc,
    after: PrimFunc,
    *,
    changes_rounding: bool,
    seconds: float,
) -> Verdict:
    """Return the verdict with how many mutants of the result the same inputs tell from it.

    What was left out is equal to the result: by its simplest form, or by a proof. No more than
    ``seconds`` of processor time are spent. Units: seconds.
    """
    if not verdict.ok or not subject.runs:
        return verdict
    end = time.process_time() + max(seconds, LEAST_SECONDS)
    killed, survivors = 0, list[Mutant]()
    simplest = _simplest(after)
    for mutant in mutants(before, after):
        if killed + len(survivors) >= MOST_MUTANTS or time.process_time() >= end:
            break
        if LOOP_LEVEL.verify(mutant.func):
            continue
        if _differs(subject, before, mutant.func, changes_rounding):
            killed += 1
        elif not LOOP_LEVEL.same(simplest, _simplest(mutant.func)):
            survivors.append(mutant)
    proving = time.process_time() + _SHARE_OF_PROOFS * max(seconds, LEAST_SECONDS)
    left = _unequal(after, survivors, proving)
    if not killed and not left:
        return verdict
    said = tuple(map(str, left[:SHOWN]))
    return msgspec.structs.replace(verdict, trust=Trust(killed, killed + len(left), said))


def _differs(subject: Subject, before: PrimFunc, made: PrimFunc, changes_rounding: bool) -> bool:
    for runs in subject.runs:
        with runs.briefly():
            compared = Comparison(subject, runs, before, made, changes_rounding)
            if any(compared.on(at)["status"] in WRONG for at in range(len(subject.inputs))):
                return True
    return False


def _simplest(func: PrimFunc) -> PrimFunc:
    """Return a function with its expressions in simplest form."""

    def rule(expr: Expr) -> Expr | None:
        made = simplify(expr)
        return None if made is expr else made

    return rewrite(func, rule, on=Expr)


def _unequal(after: PrimFunc, survivors: list[Mutant], end: float) -> list[Mutant]:
    """Leave out the mutants that are proved to be equal, as far as the time allows."""
    if not survivors or not has_z3():
        return survivors
    prover, left = Prover(), list[Mutant]()
    for mutant in survivors:
        if time.process_time() < end and _proved(after, mutant.func, prover):
            continue
        left.append(mutant)
    return left


def _proved(after: PrimFunc, made: PrimFunc, prover: Prover) -> bool:
    try:
        return prove_step(after, made, prover).proved
    except IRKitError:
        return False
