"""`judge`: the function that decides whether a sample is right, for workers, tests and
shrinking."""

import traceback
from collections.abc import Callable, Sequence
from typing import Any

from irkit.core import IRKitError
from irkit.fuzz.generators.sample import Numbered, Sample, Unusable
from irkit.fuzz.judge.files.judge_file import judge_file
from irkit.fuzz.judge.invariants import FOR_MODELS, INVARIANTS
from irkit.fuzz.judge.loops import LoopCase
from irkit.fuzz.judge.models import ModelCase
from irkit.fuzz.judge.outcome import Outcome, Status, WrongSample
from irkit.fuzz.judge.progress import OnTier, Optimise, TierProgress, always
from irkit.fuzz.judge.subsystems.table import judge_subsystem
from irkit.ir import PrimFunc
from irkit.schedule import PRIMITIVES
from irkit.transform import PassFailed

_EACH = "each pass"
_BEFORE_PASSES = ("draw", "interpreter")
_TRACEBACK = 4000


def judge(
    sample: Sample,
    *,
    thorough: bool = False,
    native: bool = True,
    invariants: Sequence[str] = (),
    number: int = 0,
    about: str = "",
    on_tier: OnTier = lambda tier: None,
    optimise: Optimise = always,
) -> Outcome:
    """Run a sample through the tiers, and return the outcome.

    A loop function runs in the interpreter, as drawn and as lowered, and twice as native code; all
    must agree with NumPy. Text and damaged models are read, and must be refused with a message or
    mean what they say. Numbers go to the check of their subsystem. ``thorough`` also runs the IR
    after each pass, which is done for every failure too, to name the guilty pass. ``invariants``
    are names of ``INVARIANTS``, and ``number`` chooses what they look at, unless ``about`` names a
    pass. ``on_tier`` is called with each tier
    before it runs: wrong native code can kill this process. Without ``native`` none is run.
    ``optimise`` is called with LLVM IR, and returns whether to run it at O3 too.
    """
    progress = TierProgress(on_tier)
    if isinstance(sample.ir, Numbered):
        return _guarded(progress, lambda: judge_subsystem(sample, progress)) or _right(progress)
    if isinstance(sample.ir, str) or sample.damaged:
        return _guarded(progress, lambda: judge_file(sample, progress, native)) or _right(progress)
    found, case = _case_of(sample, progress)
    if case is None:
        assert found is not None
        return found
    found = _guarded(progress, lambda: case.run(native=native, optimise=optimise))
    if found is None:
        case.about = about
        found = _check_invariants(case, invariants, number)
    if found is not None and (_is_named(found, case) or not found.is_finding):
        return found
    if thorough or found is not None:
        found = _with_name(case, found)
    return found or _right(progress)


def _is_named(found: Outcome, case: LoopCase | ModelCase) -> bool:
    """Return True if nothing is left to be found out. Where a pass over graphs fails, an earlier
    pass may have left what it cannot read."""
    if found.tier in _BEFORE_PASSES:
        return True
    return bool(found.named) and not (found.tier == "lower" and isinstance(case, ModelCase))


def _case_of(
    sample: Sample, progress: TierProgress
) -> tuple[Outcome | None, LoopCase | ModelCase | None]:
    if isinstance(sample.ir, PrimFunc):
        return None, LoopCase(sample, progress)
    made: list[ModelCase] = []
    found = _guarded(progress, lambda: made.append(ModelCase(sample, progress)))
    return found, made[0] if made else None


def _check_invariants(
    case: LoopCase | ModelCase, invariants: Sequence[str], number: int
) -> Outcome | None:
    """Check the invariants; of models some."""
    progress = case.progress

    def ask() -> None:
        with progress.running("invariants"):
            for name in invariants:
                if isinstance(case, LoopCase):
                    INVARIANTS[name](case, number)
                elif name in FOR_MODELS:
                    FOR_MODELS[name](case, number)
                else:
                    continue
                progress.checks.append(name)

    return _guarded(progress, ask) if invariants else None


def _with_name(case: LoopCase | ModelCase, found: Outcome | None) -> Outcome | None:
    """Run the IR after each pass, to name the guilty one."""
    progress = case.progress

    def each() -> None:
        with progress.running(_EACH):
            case.after_each_pass()
            if found is not None and isinstance(case, ModelCase):
                case.kernels_after_each_pass()

    again = _guarded(progress, each)
    if found is None or again is None:
        return found or again
    # The first failure is the symptom; the failure after each pass names the culprit.
    return found.replace(named=again.named or found.named, tiers=again.tiers, seconds=again.seconds)


def _guarded(progress: TierProgress, run: Callable[[], object]) -> Outcome | None:
    """Run a part of the judging; return None if all is well."""
    try:
        run()
    except WrongSample as wrong:
        return _outcome(progress, wrong.status, wrong.message, wrong.named)
    except Unusable as error:
        return _outcome(progress, "invalid", str(error))
    except PassFailed as error:
        status: Status = error.kind if error.kind in ("memory", "crash") else "failed"
        return _outcome(progress, status, str(error), error.name)
    except MemoryError as error:
        return _outcome(progress, "memory", f"needs too much memory: {error}")
    except IRKitError as error:
        return _outcome(progress, "failed", str(error))
    except Exception as error:
        return _outcome(progress, "failed", describe_exception(error))
    return None


def describe_exception(error: Exception) -> str:
    """Describe an unexpected exception, and where it was raised."""
    text = "".join(traceback.format_exception(error))[-_TRACEBACK:]
    return f"{type(error).__name__}: {error}\n{text}"


def primitive_in(error: BaseException) -> str:
    """Return the primitive that an exception went through first, as a step of a schedule is named;
    an empty string if none."""
    found: BaseException | None = error
    while found is not None:
        for frame, _ in traceback.walk_tb(found.__traceback__):
            method: Any = PRIMITIVES.get(frame.f_code.co_name)
            if method is not None and method.__wrapped__.__code__ is frame.f_code:
                return f"sch.{frame.f_code.co_name}"
        found = found.__cause__
    return ""


def _outcome(progress: TierProgress, status: Status, message: str, named: str = "") -> Outcome:
    return Outcome(
        status,
        progress.tier,
        named,
        message,
        tuple(progress.seconds),
        tuple(progress.checks),
        tuple(progress.fired),
        fate=progress.fate,
        seconds=dict(progress.seconds),
    )


def _right(progress: TierProgress) -> Outcome:
    return _outcome(progress, "ok", "").replace(tier="")
