"""Proofs of steps, as part of a verdict."""

from collections.abc import Sequence
from contextlib import suppress

from msgspec.structs import replace

from irkit.core import IRKitError
from irkit.debug.check.subject import Subject
from irkit.debug.check.verdict import LoopOrder, Verdict
from irkit.debug.execution.inputs import InputSet, input_sets
from irkit.ir import PrimFunc, Var, shape_vars
from irkit.proof import LoopRaces, Prover, Refuted, check_races, prove_step, z3_module


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
    that is not known; and that iterations or threads never meet, or do.

    Where two expressions differ for some values, both versions are run on these too.
    """
    ordered = _with_orders(verdict, before, after)
    if ordered.is_wrong and not verdict.is_wrong:
        return ordered
    verdict = ordered
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
    return replace(
        verdict, unproved=found.message, sizes="" if verdict.is_wrong else found.sizes_text
    )


def _with_orders(verdict: Verdict, before: PrimFunc, after: PrimFunc) -> Verdict:
    """Decide by proof what is not known of the order of iterations and threads."""
    if all(each.answer != "not known" for each in verdict.orders):
        return verdict
    proved, given = check_races(after), check_races(before)
    orders = tuple(_proved_order(each, proved, given) for each in verdict.orders)
    verdict = replace(verdict, orders=orders)
    carried = [each.reason for each in orders if each.answer == "carried"]
    if carried and not verdict.is_wrong:
        return replace(verdict, status="races", basis="proved", message=carried[0])
    return verdict


def _proved_order(
    order: LoopOrder, proved: Sequence[LoopRaces], given: Sequence[LoopRaces]
) -> LoopOrder:
    """Return the answer that a proof gives, unless the loop was carried before the step too."""
    found, old = (
        [each for each in known if (each.kind, each.loop.var.name) == (order.kind, order.loop)]
        for known in (proved, given)
    )
    if order.answer != "not known" or not found:
        return order
    if all(each.status == "independent" for each in found):
        return replace(order, answer="independent", reason="proved")
    carried = [each for each in found if each.status == "carried"]
    if carried and all(each.status != "carried" for each in old):
        return replace(order, answer="carried", reason=carried[0].message)
    return order


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
