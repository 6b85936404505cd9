"""Proofs of steps, as part of a verdict."""

from contextlib import suppress

from msgspec.structs import replace

from irkit.core import IRKitError
from irkit.debug.check.subject import Subject
from irkit.debug.check.verdict import Verdict
from irkit.debug.execution.inputs import InputSet, input_sets
from irkit.ir import PrimFunc, Var, shape_vars
from irkit.proof import Prover, Refuted, prove_step, z3_module


def require_prover() -> Prover:
    """Return a prover.

    Raises: IRKitError if z3 is not installed.
    """
    z3_module()
    return Prover()


def with_proof(
    verdict: Verdict, subject: Subject, before: PrimFunc, after: PrimFunc, prover: Prover
) -> Verdict:
    """Return the verdict on a step with what a proof adds: that it is right for all values, or why
    that is not known.

    Where two expressions differ for some values, both versions are run on these too.
    """
    found = prove_step(before, after, prover)
    if verdict.is_wrong and found.proved:
        # What was run decides: the proof, or the interpreter, has a fault.
        return replace(verdict, unproved="a proof was found, which is a fault of irkit")
    if found.proved:
        return replace(verdict, status="same", basis="proved", message="")
    if found.refuted is not None and verdict.ok:
        with suppress(IRKitError):
            inputs = _inputs_for(subject.func, found.refuted)
            verdict = subject.verdict_on(inputs, verdict, before, after)
    return replace(verdict, unproved=found.message)


def _inputs_for(func: PrimFunc, found: Refuted) -> InputSet:
    """Return arguments that have the values for which two expressions differ.

    Raises: TooLarge, ShapeError.
    """
    known = found.variables
    dims = {var.name: int(known[var]) for var in shape_vars(func) if var in known}
    (drawn,) = input_sets(func, dims=dims, samples=1)
    args = drawn.copied()
    for number, param in enumerate(func.params):
        if isinstance(param, Var):
            args[number] = known.get(param, args[number])
        else:
            for buffer, places, value in found.elements:
                if buffer.name == param.name:
                    array = args[number]
                    with suppress(IndexError):
                        (array if len(places) == array.ndim else array.reshape(-1))[places] = value
    shown = ", ".join(f"{name}={value}" for name, value in found.values.items())
    return InputSet(f"values of a refutation ({shown})", "edges", tuple(args))
