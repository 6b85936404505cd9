"""The work of a worker process: draw a case, judge it, and report the current tier."""

import hashlib
import os
import time
from contextlib import nullcontext
from functools import cache, partial

import msgspec

from irkit.core import IRKitError
from irkit.debug import ProcessState, scheduled_steps
from irkit.fuzz.campaign.draw import Draw
from irkit.fuzz.generators.sample import Sample, Unusable
from irkit.fuzz.guidance.branches import branches_here
from irkit.fuzz.guidance.novelty import novelty_here
from irkit.fuzz.judge.judge import describe_exception, judge, primitive_in
from irkit.fuzz.judge.outcome import Outcome
from irkit.fuzz.judge.subsystems.table import prepare_kinds
from irkit.fuzz.picks import Picks
from irkit.fuzz.shrink.choices import record_counted
from irkit.ir import PrimFunc
from irkit.processes import report


class CaseOptions(msgspec.Struct, frozen=True):
    """How to judge a case: ``invariants`` are those to check, ``watch`` which branches of irkit it
    takes, and ``optimise`` its LLVM IR at O3 even if nothing in it is new."""

    thorough: bool = False
    native: bool = True
    invariants: tuple[str, ...] = ()
    watch: bool = False
    optimise: bool = True


class CaseResult(msgspec.Struct, frozen=True):
    """Result of one case.

    ``text`` and ``digest`` of the program are present if it is a finding, or no native code was
    run; ``unplaced`` means that a pass under test had no position, ``lost`` that the process died.
    If the case was ``watched``, ``branches`` are those that this process had not taken before, and
    if there are any, ``choices`` what the case was drawn from. Units: ``processor`` is seconds of
    processor time, which does not include other work on the machine.
    """

    outcome: Outcome
    features: tuple[str, ...] = ()
    text: str = ""
    digest: str = ""
    unplaced: bool = False
    processor: float = 0.0
    lost: bool = False
    watched: bool = False
    branches: tuple[str, ...] = ()
    choices: tuple[tuple[int, int], ...] = ()


def run_case(draw: Draw, options: CaseOptions) -> CaseResult:
    """Draw a case and judge it; what its passes changed in this process is set as it was."""
    set_up_worker()
    prepare_kinds((draw.kind,))  # Seconds once, which nobody watches.
    state = ProcessState()
    started = time.process_time()
    branches = branches_here()
    picks, kept = record_counted(draw.picks)
    with branches.watching() if options.watch else nullcontext():
        ran = _run(draw, picks, options)
    if draw.passes:
        state.restore()
    new = tuple(sorted(branches.new)) if options.watch else ()
    return msgspec.structs.replace(
        ran,
        processor=time.process_time() - started,
        watched=options.watch,
        branches=new,
        choices=tuple(kept) if new else (),
    )


def _run(draw: Draw, picks: Picks, options: CaseOptions) -> CaseResult:
    started = time.perf_counter()
    report("draw")
    try:
        sample = draw.sample(picks)
    except Unusable as error:
        return CaseResult(Outcome("invalid", "draw", message=str(error)))
    except Exception as error:  # Primitives run while drawing, and a wrong one can raise anything.
        unplaced = isinstance(error, IRKitError) and bool(draw.passes) and _draws_without(draw)
        text = str(error) if isinstance(error, IRKitError) else describe_exception(error)
        status, named = ("invalid", "") if unplaced else ("failed", primitive_in(error))
        return CaseResult(Outcome(status, "draw", named, text), unplaced=unplaced)
    drawn = time.perf_counter() - started
    outcome = judge(
        sample,
        thorough=options.thorough,
        native=options.native,
        invariants=options.invariants,
        number=draw.number,
        about=draw.about,
        on_tier=_come_to,
        optimise=partial(_is_worth_optimising, options),
    )
    before = outcome.seconds.get("draw", 0.0)
    outcome = outcome.replace(
        tiers=("draw", *(tier for tier in outcome.tiers if tier != "draw")),
        seconds={**outcome.seconds, "draw": before + drawn},
    )
    if not outcome.is_finding and options.native:
        return CaseResult(outcome, sample.features)
    text = text_of(sample)
    return CaseResult(outcome, sample.features, text, _digest(text))


def _come_to(tier: str) -> None:
    report(tier)
    branches_here().enter(tier)


def _is_worth_optimising(options: CaseOptions, text: str) -> bool:
    """Return True if LLVM IR is to be optimised: if it is new, or always."""
    new = novelty_here().is_new(text)
    return options.optimise or new


def _draws_without(draw: Draw) -> bool:
    """Return True if the case can be drawn without the passes under test."""
    try:
        msgspec.structs.replace(draw, passes=()).sample()
    except IRKitError:
        return False
    return True


def digest_of(draw: Draw) -> str:
    """Return a digest of what is drawn and of what it is lowered to: the same in each process."""
    set_up_worker()
    try:
        sample = draw.sample()
        made = [text_of(sample)]
        if isinstance(sample.ir, PrimFunc):
            for step in scheduled_steps(sample.ir, sample.schedule, sample.pipeline):
                made.append(f"{step.name} {step.changed}")
                last = step.after
                made[0] = made[0] if not step.changed else made[0] + last.script()
        return _digest("\n".join(made))
    except IRKitError as error:
        return _digest(str(error))


def drawn_text(draw: Draw) -> str:
    """Return the text of what a case draws."""
    return text_of(draw.sample())


def drawn_data(draw: Draw) -> bytes:
    """Return the file that a case draws, empty if it draws no file."""
    return data_of(draw.sample())


def data_of(sample: Sample) -> bytes:
    """Return the file that a sample is, if it is one: text or a model."""
    if isinstance(sample.ir, str):
        return sample.ir.encode("utf-8", "surrogatepass")
    return sample.ir if isinstance(sample.ir, bytes) else b""


def text_of(sample: Sample) -> str:
    """Return the program, the schedule and the passes of a sample as text."""
    if isinstance(sample.ir, str):
        return sample.ir
    if isinstance(sample.ir, bytes):
        program = f"an ONNX model of {len(sample.ir)} bytes, {_digest(sample.ir)}"
    else:
        program = sample.ir.script()
    parts = [program, f"passes: {sample.pipeline}"]
    if sample.schedule.steps:
        parts.append(sample.schedule.as_python())
    return "\n".join(parts)


def _digest(text: str | bytes) -> str:
    data = text.encode() if isinstance(text, str) else text
    return hashlib.sha256(data).hexdigest()[:16]


@cache
def set_up_worker() -> None:
    """Use one thread and no object cache: workers run side by side, and each case is different.
    A mistake in the automatic schedule is raised, where a user's program would stay as written."""
    os.environ["IRKIT_CACHE"] = "0"
    os.environ["IRKIT_NUM_THREADS"] = "1"
    os.environ["IRKIT_SCHEDULE_ERRORS"] = "raise"
