"""Check whether steps keep the meaning of the program, by running it before and after them.

The kind of job is at the end of the module: it checks one step, those of a function, or a run.
"""

import math
import os
import re
import tempfile
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Literal, get_args

import msgspec

from irkit.debug import CheckOptions, NativeWorker, Verdict, verdicts
from irkit.inspector_web.jobs.chosen_steps import (
    QUICK_BYTES,
    RUN_JOB_LIMITS,
    ChosenSteps,
    choose_steps,
    keep_result,
    refuse_text,
)
from irkit.inspector_web.jobs.job import JobKind
from irkit.inspector_web.record.absent_constants import fill_constants
from irkit.inspector_web.record.progress import report_progress
from irkit.inspector_web.runs.run import LEVELS, Run, Source
from irkit.inspector_web.runs.workspace import Workspace
from irkit.passes import BUILTIN
from irkit.processes import Child
from irkit.proof import has_z3
from irkit.transform import Step, Trace

VerdictStatus = Literal[
    "failed", "stopped", "outside", "races", "differs", "unknown", "close", "exact", "idle"
]
ORDER: tuple[VerdictStatus, ...] = get_args(VerdictStatus)
"""From worst to best. The status of a step on several functions is the worst of theirs."""

WRONG: tuple[VerdictStatus, ...] = ("failed", "stopped", "outside", "races", "differs")
SIGNS: dict[VerdictStatus, str] = {
    "exact": "holds exactly",
    "close": "holds up to rounding",
    "differs": "gives different results",
    "races": "depends on the order of iterations or threads",
    "outside": "leaves a buffer",
    "stopped": "was stopped at its limit",
    "failed": "does not run",
    "unknown": "could not be tried",
    "idle": "changed nothing",
}
QUICK = CheckOptions(samples=2, code=True, max_steps=20_000, seconds=20.0)
CAREFUL = CheckOptions(samples=4, native=True, seconds=60.0)
AT_ONCE = 4
SECONDS = 200.0
"""Time limit for all steps together; those not reached by then are unknown."""

LONGEST = 2_000
LARGEST = 1e300
_NUMBER = re.compile(r" \d+(?=$| \()")


class StepVerdict(msgspec.Struct, frozen=True, omit_defaults=True):
    """Verdict on one step; ``text`` is its explanation.

    Units: ``ulp`` counts representable numbers. Infinity, which JSON lacks, is written as null.
    ``at`` is the first wrong element of ``buffer``; ``inputs`` names the set of inputs. ``order``
    is what is known of parallel loops, vectors and threads that the step made or changed. ``basis``
    is what the verdict rests on: a proof for all values (of ``sizes``, if it is not for all of
    them), or runs. ``guilty`` is "code generation" where that is at fault, and not the pass.
    """

    step: int
    status: VerdictStatus
    text: str
    function: str = ""
    abs: float = 0.0
    rel: float = 0.0
    ulp: float = 0.0
    wrong: int = 0
    buffer: str = ""
    at: tuple[int, ...] = ()
    expected: str = ""
    found: str = ""
    inputs: str = ""
    how: str = ""
    order: str = ""
    basis: str = ""
    sizes: str = ""
    guilty: str = ""


class StepVerdicts(msgspec.Struct, frozen=True):
    """Verdicts on some steps, in order. Units: seconds."""

    verdicts: tuple[StepVerdict, ...]
    seconds: float
    careful: bool = False


def check_steps(
    trace: Trace,
    steps: Iterable[int] | None = None,
    *,
    careful: bool = False,
    seconds: float = SECONDS,
) -> StepVerdicts:
    """Check steps of a trace, by number; all steps if ``steps`` is None."""
    began = time.monotonic()
    chosen = list(trace) if steps is None else [trace[at] for at in sorted(set(steps))]
    checks = _Checks(careful, began + seconds, chosen)
    found = [_unchanged(step) for step in chosen if not step.changed]
    found += checks.of([step for step in chosen if step.changed])
    found.sort(key=lambda each: each.step)
    return StepVerdicts(tuple(found), time.monotonic() - began, careful)


class _Checks:
    """Checker of steps, several functions at once: other processes compile and run them."""

    def __init__(self, careful: bool, until: float, steps: Sequence[Step]) -> None:
        own = frozenset(step.name for step in steps) - {p.name for p in BUILTIN}
        careful_options = msgspec.structs.replace(CAREFUL, prove=has_z3(), trust_in=own)
        self.options = careful_options if careful else QUICK
        # The interpreter keeps Python itself busy, so a second thread would only wait.
        self.at_once = 1 if careful else min(AT_ONCE, os.cpu_count() or 1)
        self.until = until
        self.done, self.total = 0, sum(step.changed for step in steps)
        self.workers: SimpleQueue[NativeWorker] = SimpleQueue()

    def of(self, steps: Sequence[Step]) -> list[StepVerdict]:
        groups: dict[str, list[Step]] = {}
        for step in steps:
            groups.setdefault(step.function, []).append(step)
        made = [NativeWorker(self.options.seconds) for _ in range(self.at_once)]
        for worker in made:
            self.workers.put(worker)
        try:
            with ThreadPoolExecutor(self.at_once) as pool:
                parts = list(pool.map(self._of_group, groups.values()))
        finally:
            for worker in made:
                worker.close()
        return [each for part in parts for each in part]

    def _of_group(self, steps: list[Step]) -> list[StepVerdict]:
        worker = self.workers.get()
        found: dict[int, list[Verdict]] = {step.index: [] for step in steps}
        late = set[int]()
        try:
            for verdict in verdicts(self._in_time(steps, late), self.options, worker):
                found[verdict.index].append(verdict)
        finally:
            self.workers.put(worker)
        return [
            _not_reached(step) if step.index in late else self._of_step(found[step.index])
            for step in steps
        ]

    def _in_time(self, steps: list[Step], late: set[int]) -> Iterable[Step]:
        for step in steps:
            if time.monotonic() > self.until:
                late.add(step.index)
                continue
            what = f"checking {step.name} on {step.function or 'the module'}"
            report_progress(what, self.done, self.total)
            yield step
            self.done += 1

    def _of_step(self, found: list[Verdict]) -> StepVerdict:
        # Native code that agrees with the interpreter tells nothing about the pass.
        about = [each for each in found if not each.in_code or each.is_wrong]
        told = [as_step_verdict(each, self.options.samples) for each in about]
        return min(told, key=lambda each: ORDER.index(each.status))


def as_step_verdict(verdict: Verdict, samples: int) -> StepVerdict:
    """Convert a verdict of irkit.debug to that of the page."""
    error = verdict.error
    status = _status(verdict)
    return StepVerdict(
        step=verdict.index,
        status=status,
        text=_text(verdict, status, samples)[:LONGEST],
        function=verdict.function,
        abs=error.abs,
        # NumPy has turned an infinite relative error into the largest number.
        rel=math.inf if error.rel > LARGEST else error.rel,
        ulp=error.ulp,
        wrong=error.wrong,
        buffer=verdict.buffer,
        at=error.at or (),
        expected=error.expected,
        found=error.found,
        inputs=_NUMBER.sub("", verdict.inputs, count=1),
        how=verdict.how,
        order=verdict.order[:LONGEST],
        basis="" if verdict.basis == "not known" else verdict.basis,
        sizes=verdict.sizes[:LONGEST],
        guilty=verdict.guilty if verdict.in_code else "",
    )


def _status(verdict: Verdict) -> VerdictStatus:
    match verdict.status:
        case "failed":
            return "stopped" if verdict.stopped else "failed"
        case "differs" | "races":
            return verdict.status
        case "out of bounds":
            return "outside"
        case "not known":
            return "unknown"
        case "same":
            return "exact"
        case "rounds differently":
            return "close"


def _text(verdict: Verdict, status: VerdictStatus, samples: int) -> str:
    error = verdict.error
    if verdict.in_code and status in WRONG:
        wrong = f" {verdict.wrong_element}." if verdict.wrong_element else ""
        return f"The pass is not the cause.{wrong} In this stage, {verdict.message}."
    if status == "exact" and verdict.basis == "proved":
        of = f" of {verdict.sizes}" if verdict.sizes else ""
        proof = f"Proved: every output is the same before and after, for all values{of}."
        return f"{proof} It was also tried on {_sets(verdict, samples)}."
    if status == "exact":
        unused = f", and {verdict.unused}" if verdict.unused else ""
        tried = f"{_sets(verdict, samples)}{unused}"
        text = f"Every output has the same bits before and after, on {tried}."
        if verdict.trust is not None:
            text += f" A check of the check: {verdict.trust}."
        return f"{text} Can iterations meet? {verdict.order}." if verdict.order else text
    if status == "close":
        return (
            "The pass declares that it changes rounding: outputs differ by at most "
            f"{error.abs:.2g}, which is within what rounding can explain. "
            f"Tried on {_sets(verdict, samples)}."
        )
    if status == "differs":
        place = f"{verdict.buffer}[{', '.join(map(str, error.at or ()))}]"
        more = f", and {error.wrong - 1:,} more are wrong" if error.wrong > 1 else ""
        return f"{place} is {error.found} after the pass and was {error.expected} before it{more}."
    if status == "races":
        return f"After the pass nothing orders two accesses of one element: {verdict.message}."
    if status == "outside":
        return f"After the pass an access leaves its buffer: {verdict.message}."
    if status == "stopped":
        return (
            f"The program ran to its end before {verdict.name}, and was stopped at its limit after "
            f"it: {verdict.message}."
        )
    if status == "failed":
        return f"The program does not run after the pass: {verdict.message}"
    if "was not kept" in verdict.message:
        return (
            "It could not be tried: large constants are not in the trace. If the model itself was "
            "opened, a careful check of this pass reads them again; that can take minutes."
        )
    return f"It could not be tried: {verdict.message}"


def _sets(verdict: Verdict, samples: int) -> str:
    count = 2 if verdict.how == "NumPy" else samples
    return f"{count} sets of inputs"


def _unchanged(step: Step) -> StepVerdict:
    text = "The pass changed nothing, so there is nothing to check."
    return StepVerdict(step.index, "idle", text, step.function)


def _not_reached(step: Step) -> StepVerdict:
    text = "There was no time left for it. Check this step on its own."
    return StepVerdict(step.index, "unknown", text, step.function)


class VerdictsRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Request to check one step, the steps of a function, or all steps of a run."""

    run: int
    function: str | None = None
    step: int | None = None
    careful: bool = False


def _find_verdicts(workspace: Workspace, asked: VerdictsRequest) -> ChosenSteps:
    return choose_steps(workspace, asked.run, asked.function, asked.step, asked.careful)


def _send_verdicts(chosen: ChosenSteps, folder: Path) -> tuple[Any, ...]:
    source = chosen.run.loaded.source
    return chosen.save(folder), chosen.numbers, chosen.careful, source


def run_verdicts(
    path: str, numbers: Sequence[int], careful: bool, source: Source | None
) -> StepVerdicts:
    """Check the steps of a trace file; the child calls this.

    Absent constants are read again from the model. Large ones are only for a careful check, since
    NumPy then takes a minute for a step.
    """
    trace = Trace.load(path, LEVELS)
    if source is not None:
        fill_constants(trace, source, math.inf if careful else QUICK_BYTES)
    checked = check_steps(trace, careful=careful)
    named = (msgspec.structs.replace(each, step=numbers[each.step]) for each in checked.verdicts)
    return msgspec.structs.replace(checked, verdicts=tuple(named))


def check_run(run: Run) -> StepVerdicts:
    """Check all steps of a run in a child. Raises: ChildDied if the child crashes or is stopped."""
    refuse_text(run, "Checking passes")
    chosen = ChosenSteps(run, tuple(run.trace))
    with (
        tempfile.TemporaryDirectory(prefix="irkit-check-") as folder,
        Child(RUN_JOB_LIMITS) as child,
    ):
        return child.call(run_verdicts, *_send_verdicts(chosen, Path(folder)))


VERDICTS = JobKind(
    VerdictsRequest, _find_verdicts, _send_verdicts, run_verdicts, keep_result, RUN_JOB_LIMITS
)
