"""C source: several programs in a file that GCC builds, against the interpreter and NumPy."""

from irkit.core import IRKitError
from irkit.debug import TargetCall, target_executor
from irkit.fuzz.generators.draw_sample import draw_sample
from irkit.fuzz.generators.sample import Kind, Unusable
from irkit.fuzz.judge.loops import LoopCase
from irkit.fuzz.judge.outcome import WrongSample
from irkit.fuzz.judge.progress import TierProgress
from irkit.fuzz.picks import Picks
from irkit.ir import verify

_PROGRAMS = 4
"""Programs of a case; GCC is started once for all."""
_KINDS: tuple[Kind, ...] = ("programs", "schedules", "programs", "pipelines")
_LEVELS = ("-O1", "-O0", "-O2", "-O3")


def c_agrees(picks: Picks) -> None:
    """Programs as C compute what the interpreter and NumPy compute.

    Raises: WrongSample; Unusable if no program could be run.
    """
    level, cases = picks.pick(_LEVELS), list[LoopCase]()
    for _ in range(1 + picks.below(_PROGRAMS)):
        case = _lowered(picks)
        if case is not None:
            cases.append(case)
    calls = [
        (case, at, TargetCall(case.lowered, inputs.copied()))
        for case in cases
        for at, inputs in enumerate(case.sample.inputs)
        if at not in case.refused
    ]
    if not calls:
        raise Unusable("no program could be run")
    outcomes = target_executor("c@gcc", level=level).run([call for _, _, call in calls])
    for (case, at, call), outcome in zip(calls, outcomes, strict=True):
        if outcome.end == "refused" and not verify(call.func):
            continue
        if outcome.end != "ran":
            raise WrongSample("failed", f"{outcome.message}\n{call.func.script()}")
        arrays = iter(outcome.arrays)
        args = [next(arrays) if hasattr(arg, "shape") else arg for arg in call.args]
        why = case.reference.disagreement(at, args)
        if why:
            raise WrongSample("mismatch", f"C at {level}: {why}\n{call.func.script()}")


def _lowered(picks: Picks) -> LoopCase | None:
    """Draw a program and lower it; None if it is none that can be run, or is wrong before it is C,
    which other kinds find."""
    try:
        sample = draw_sample(picks.pick(_KINDS), picks)
        case = LoopCase(sample, TierProgress())
        case.run(native=False)
    except (Unusable, IRKitError, WrongSample):
        return None
    return case
