"""Find the first pass of a run that changes the meaning of the program, and its wrong rewrites.

To try its rewrites one by one, the pass has to run again, so it must be built in, installed, or
defined by the script that was opened. The kind of job is at the end of the module.
"""

import os
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from irkit.core import IRKitError
from irkit.debug import guilty_rewrites, verdicts
from irkit.inspector_web.jobs.chosen_steps import (
    QUICK_BYTES,
    RUN_JOB_LIMITS,
    ChosenSteps,
    choose_steps,
    refuse_text,
)
from irkit.inspector_web.jobs.job import JobKind, RunSink
from irkit.inspector_web.jobs.verdicts import (
    QUICK,
    SECONDS,
    WRONG,
    StepVerdict,
    as_step_verdict,
    check_steps,
)
from irkit.inspector_web.record.absent_constants import fill_constants
from irkit.inspector_web.record.progress import report_progress
from irkit.inspector_web.record.script import passes_of_script
from irkit.inspector_web.runs.pass_plan import registry
from irkit.inspector_web.runs.run import LEVELS, Run, Source
from irkit.inspector_web.runs.workspace import Workspace
from irkit.passes import BUILTIN
from irkit.processes import Child
from irkit.transform import AnyPass, Step, Trace

MOST_REWRITES = 50


class GuiltyRewrite(msgspec.Struct, frozen=True):
    """A rewrite that changes the meaning: its number in the pass, from 1, its rule, and where the
    rule is defined (the name of a file, never its path)."""

    number: int
    rule: str
    place: str


class GuiltyPass(msgspec.Struct, frozen=True, omit_defaults=True):
    """The first wrong step, if there is one.

    ``of`` counts the rewrites of its pass, and ``diff`` is what the guilty ones change. If none is
    found, ``note`` says why. ``checked`` are the verdicts on all steps. Units: seconds.
    """

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


def find_guilty_pass(
    trace: Trace,
    resolve: Callable[[Step], AnyPass],
    function: str | None = None,
    *,
    seconds: float = SECONDS,
) -> GuiltyPass:
    """Find the first step, of one function or of all, that changes the meaning of the program.

    ``resolve`` returns the pass of a step, or raises IRKitError if the pass is not known.
    """
    steps = [s.index for s in trace if s.changed and function in (None, s.function)]
    checked = check_steps(trace, steps, seconds=seconds)
    wrong = next((v for v in checked.verdicts if v.status in WRONG), None)
    if wrong is None:
        unknown = sum(each.status == "unknown" for each in checked.verdicts)
        text = _nothing_wrong_text(len(steps), unknown)
        return GuiltyPass(text, checked=checked.verdicts, seconds=checked.seconds)
    step = trace[wrong.step]
    if wrong.guilty:
        return GuiltyPass(
            f"No pass is guilty: {wrong.guilty} is.",
            step.index,
            wrong.guilty,
            step.function or wrong.function,
            wrong,
            note=wrong.text,
            checked=checked.verdicts,
            seconds=checked.seconds,
        )
    report_progress(f"trying the rewrites of {step.name}")
    guilty = GuiltyPass(
        f"'{step.pass_text}' is the first pass that changes the meaning of the program.",
        step.index,
        step.name,
        step.function or wrong.function,
        wrong,
        checked=checked.verdicts,
        seconds=checked.seconds,
    )
    return _with_rewrites(guilty, step, resolve)


def _nothing_wrong_text(count: int, unknown: int) -> str:
    if not count:
        return "No pass changed anything, so none is guilty."
    if unknown == count:
        return "No step could be tried, so nothing is known."
    rest = f"; {unknown} of {count} could not be tried" if unknown else ""
    return f"Every step that could be tried keeps the meaning{rest}."


def _with_rewrites(
    guilty: GuiltyPass, step: Step, resolve: Callable[[Step], AnyPass]
) -> GuiltyPass:
    try:
        p = resolve(step)
    except (IRKitError, ImportError):
        note = (
            "Its rewrites cannot be tried one by one, because the pass is not known here: "
            "open the script that defines it, or install its package."
        )
        return msgspec.structs.replace(guilty, note=note)
    verdict = next((each for each in verdicts([step], QUICK) if each.is_wrong), None)
    if verdict is None:
        note = (
            "Its rewrites cannot be tried one by one: on other inputs, the step alone is not wrong."
        )
        return msgspec.structs.replace(guilty, note=note)
    own = frozenset({p.name}) - {each.name for each in BUILTIN}
    found = guilty_rewrites(p, step, verdict, msgspec.structs.replace(QUICK, trust_in=own))
    trust = f"Without the wrong rewrites, {found.trust}." if found.trust is not None else ""
    return msgspec.structs.replace(
        guilty,
        rewrites=tuple(
            GuiltyRewrite(
                each.number + 1,
                each.rule.replace("<locals>.", ""),
                "" if each.span is None else f"{os.path.basename(each.span.file)}:{each.span.line}",
            )
            for each in found.rewrites[:MOST_REWRITES]
        ),
        of=found.of,
        note=" ".join(filter(None, (found.note, trust))),
        diff=tuple(found.diff()),
        verdict=as_step_verdict(verdict, QUICK.samples),
    )


class GuiltyRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Request to find the guilty pass of a run, or of one function of it."""

    run: int
    function: str | None = None


def _find_guilty(workspace: Workspace, asked: GuiltyRequest) -> ChosenSteps:
    return choose_steps(workspace, asked.run, asked.function, None, False)


def _send_guilty(chosen: ChosenSteps, folder: Path) -> tuple[Any, ...]:
    return chosen.save(folder), chosen.numbers, chosen.run.loaded.source


def pass_of(source: Source | None, step: Step) -> AnyPass:
    """Find the pass of a step: built in, installed, or defined by the script of the run.

    A script then runs until one of its pipelines has the pass. Raises: IRKitError if there is none.
    """
    known = registry()
    if step.name not in known and source is not None and source.kind == "script":
        known = known.with_passes(*passes_of_script(source.path, [step.name]).values())
    return known.resolve(step.pass_text, imports=False)


def run_guilty(path: str, numbers: Sequence[int], source: Source | None) -> GuiltyPass:
    """Find the guilty pass of a trace file; the child calls this."""
    trace = Trace.load(path, LEVELS)
    if source is not None:
        fill_constants(trace, source, QUICK_BYTES)
    found = find_guilty_pass(trace, partial(pass_of, source))
    named = (msgspec.structs.replace(each, step=numbers[each.step]) for each in found.checked)
    found = msgspec.structs.replace(found, checked=tuple(named))
    if found.step is None:
        return found
    step, verdict = numbers[found.step], found.verdict
    if verdict is not None:
        verdict = msgspec.structs.replace(verdict, step=step)
    return msgspec.structs.replace(found, step=step, verdict=verdict)


def bisect_run(run: Run) -> GuiltyPass:
    """Find the guilty pass of a run in a child. Raises: ChildDied if it crashes or is stopped."""
    refuse_text(run, "Bisecting")
    chosen = ChosenSteps(run, tuple(run.trace))
    with (
        tempfile.TemporaryDirectory(prefix="irkit-bisect-") as folder,
        Child(RUN_JOB_LIMITS) as child,
    ):
        return child.call(run_guilty, *_send_guilty(chosen, Path(folder)))


def _take_guilty(sink: RunSink, chosen: ChosenSteps, made: GuiltyPass) -> GuiltyPass:
    failure = chosen.run.loaded.failure
    if made.step is not None or failure is None or chosen.function not in (None, failure.function):
        return made
    text = f"'{failure.pass_text}' failed, so it is the first wrong pass. {made.text}"
    number = len(chosen.run.trace)
    return msgspec.structs.replace(
        made, text=text, step=number, name=failure.name, function=failure.function
    )


GUILTY = JobKind(
    GuiltyRequest, _find_guilty, _send_guilty, run_guilty, _take_guilty, RUN_JOB_LIMITS
)
