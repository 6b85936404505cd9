"""Which pass of a run is the first to change the meaning, and which of its rewrites.

The steps are those of the trace. To tell rewrites apart the pass has to run again, so it must be
known here: built in, installed, or of the script that was opened.
"""

import os
from collections.abc import Callable

import msgspec

from irkit.core import IRKitError
from irkit.debug import Verdict, guilty_rewrites, verdicts
from irkit.inspector_web.verdicts import (
    QUICK,
    SECONDS,
    WRONG,
    StepVerdict,
    Tell,
    check_steps,
    worded,
)
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
    tell: Tell | None = None,
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
