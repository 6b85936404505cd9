"""Proof of a step: two versions of a function compute the same."""

from msgspec.structs import replace

from irkit.ir import PrimFunc
from irkit.proof.functions.compare import compare_statements
from irkit.proof.functions.execution.equivalence import execute_step
from irkit.proof.outcome import StepProof
from irkit.proof.prover import Prover


def prove_step(before: PrimFunc, after: PrimFunc, prover: Prover | None = None) -> StepProof:
    """Prove that two versions of a function compute the same.

    They are compared statement by statement, for all sizes; if that fails, both are executed on
    unknown contents of memory, for sizes that are numbers. If the signature leaves no size open,
    that too is a proof for all values.

    Raises: IRKitError if z3 is not installed; ProofFault as ``prove_equal``.
    """
    prover = Prover() if prover is None else prover
    found = compare_statements(before, after, prover)
    if found.proved:
        return found
    executed = execute_step(before, after, prover)
    if executed.equal and not executed.sizes:
        return StepProof(True, pairs=found.pairs)
    if executed.equal:
        return replace(found, sizes=executed.sizes)
    reason = f"{found.message}; executed, {executed.reason}"
    return replace(found, message=reason)
