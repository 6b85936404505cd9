"""Which pass of a run is the first to change the meaning, and which of its rewrites.

The steps are those of the trace. To tell rewrites apart the pass has to run again, so it must be
known here: built in, installed, or of the script that was opened.
"""

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from irkit.core import IRKitError
from irkit.debug import Verdict, guilty_rewrites, verdicts
from irkit.inspector_web.jobs.chosen_steps import (
    LEVELS,
    QUICK_BYTES,
    RUN_JOB_LIMITS,
    ChosenSteps,
    choose_steps,
)
from irkit.inspector_web.jobs.job import JobKind, RunSink
from irkit.inspector_web.jobs.verdicts import (
    QUICK,
    SECONDS,
    WRONG,
    StepVerdict,
    check_steps,
    worded,
)
from irkit.inspector_web.record.absent_constants import fill_constants
from irkit.inspector_web.record.progress import OnProgress, progress_writer
from irkit.inspector_web.record.script import passes_of_script
from irkit.inspector_web.runs.pass_plan import registry
from irkit.inspector_web.runs.run import Source
from irkit.inspector_web.runs.workspace import Workspace
from irkit.transform import AnyPass, Step, Trace

MOST_REWRITES = 50


class GuiltyRewrite(msgspec.Struct, frozen=True):
    """A rewrite without which the meaning holds: its number among those of the pass, from 1, its
    rule, and where that is written (a file's name and never its path)."""

    number: int
    rule: str
    place: str


class Guilty(msgspec.Struct, frozen=True, omit_defaults=True):
    """The first step that is wrong, if any is. ``diff`` is what its guilty rewrites change, ``of``
    how many the pass made; where there are none, ``note`` says why. ``checked`` are the verdicts
    that
    were found on the way. Units: seconds."""

    text: str
    step: int | None = None
    name: str = ""
    function: str = ""
    verdict: StepVerdict | None = None
    rewrites: tuple[GuiltyRewrite, ...] = ()
    of: int = 0
    note: str = ""
    diff: tuple[str, ...] = ()
    checked: tuple[StepVerdict, ...] = ()
    seconds: float = 0.0


def find_guilty(
    trace: Trace,
    resolve: Callable[[Step], AnyPass],
    function: str | None = None,
    *,
    seconds: float = SECONDS,
    tell: OnProgress | None = None,
) -> Guilty:
    """Find the first step, of one function or of all, after which the program means something
    else.

    ``resolve`` gives the pass of a step, or raises IRKitError if it is not known.
    """
    steps = [s.index for s in trace if s.changed and function in (None, s.function)]
    checked = check_steps(trace, steps, seconds=seconds, tell=tell)
    wrong = next((v for v in checked.verdicts if v.status in WRONG), None)
    if wrong is None:
        unknown = sum(each.status == "unknown" for each in checked.verdicts)
        text = _innocent(len(steps), unknown)
        return Guilty(text, checked=checked.verdicts, seconds=checked.seconds)
    step = trace[wrong.step]
    if tell is not None:
        tell(f"telling the rewrites of {step.name} apart", 0, 0)
    told = Guilty(
        f"'{step.pass_text}' is the first pass after which the program means something else.",
        step.index,
        step.name,
        step.function or wrong.function,
        wrong,
        checked=checked.verdicts,
        seconds=checked.seconds,
    )
    return _with_rewrites(told, step, resolve)


def _innocent(count: int, unknown: int) -> str:
    if not count:
        return "No pass changed anything, so none is guilty."
    if unknown == count:
        return "None of the steps could be tried, so nothing is known."
    rest = f"; {unknown} of {count} could not be tried" if unknown else ""
    return f"Every step that could be tried keeps the meaning{rest}."


def _with_rewrites(told: Guilty, step: Step, resolve: Callable[[Step], AnyPass]) -> Guilty:
    try:
        p = resolve(step)
    except (IRKitError, ImportError):
        note = (
            "Its rewrites cannot be told apart, because the pass is not known here: "
            "open the script, or install the package, that it comes from."
        )
        return msgspec.structs.replace(told, note=note)
    verdict = _again(step)
    if verdict is None:
        note = "Its rewrites cannot be told apart: the step alone, on other inputs, is not wrong."
        return msgspec.structs.replace(told, note=note)
    found = guilty_rewrites(p, step, verdict, QUICK)
    return msgspec.structs.replace(
        told,
        rewrites=tuple(
            GuiltyRewrite(
                each.number + 1,
                each.rule.replace("<locals>.", ""),
                "" if each.span is None else f"{os.path.basename(each.span.file)}:{each.span.line}",
            )
            for each in found.rewrites[:MOST_REWRITES]
        ),
        of=found.of,
        note=found.note,
        diff=tuple(found.diff()),
        verdict=worded(verdict, QUICK.samples),
    )


def _again(step: Step) -> Verdict | None:
    wrong = ("differs", "failed")
    return next((each for each in verdicts([step], QUICK) if each.status in wrong), None)


class GuiltyRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which pass of a run, or of one function in it, is the first to change the meaning?"""

    run: int
    function: str | None = None


def _find_guilty(workspace: Workspace, asked: GuiltyRequest) -> ChosenSteps:
    return choose_steps(workspace, asked.run, asked.function, None, False)


def _send_guilty(chosen: ChosenSteps, folder: Path) -> tuple[Any, ...]:
    return chosen.save(folder), chosen.numbers, chosen.run.opened.source, str(folder)


def pass_of(source: Source | None, step: Step) -> AnyPass:
    """Find the pass of a step: of the toolkit, installed, or of the script that a run was made
    from, which then runs until it shows the pass. Raises: IRKitError if there is none."""
    known = registry()
    if step.name not in known and source is not None and source.kind == "script":
        known = known.with_passes(*passes_of_script(source.path, [step.name]).values())
    return known.resolve(step.pass_text, imports=False)


def run_guilty(path: str, numbers: Sequence[int], source: Source | None, folder: str) -> Guilty:
    """Look for the guilty pass in a file; what the child runs."""
    trace = Trace.load(path, LEVELS)
    if source is not None:
        fill_constants(trace, source, QUICK_BYTES)
    found = find_guilty(trace, partial(pass_of, source), tell=progress_writer(folder))
    named = (msgspec.structs.replace(each, step=numbers[each.step]) for each in found.checked)
    found = msgspec.structs.replace(found, checked=tuple(named))
    if found.step is None:
        return found
    step, verdict = numbers[found.step], found.verdict
    if verdict is not None:
        verdict = msgspec.structs.replace(verdict, step=step)
    return msgspec.structs.replace(found, step=step, verdict=verdict)


def _take_guilty(desk: RunSink, chosen: ChosenSteps, made: Guilty) -> Guilty:
    failure = chosen.run.opened.failure
    if made.step is not None or failure is None or chosen.function not in (None, failure.function):
        return made
    text = f"'{failure.pass_text}' failed, and is the first that is wrong. {made.text}"
    number = len(chosen.run.trace)
    return msgspec.structs.replace(
        made, text=text, step=number, name=failure.name, function=failure.function
    )


GUILTY = JobKind(
    GuiltyRequest, _find_guilty, _send_guilty, run_guilty, _take_guilty, RUN_JOB_LIMITS
)
