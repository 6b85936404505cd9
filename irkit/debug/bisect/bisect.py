"""Search for the pass that breaks a program and the rewrite inside it, or the schedule step."""

from collections.abc import Callable, Iterator, Mapping

from numpy.typing import ArrayLike

from irkit.debug.bisect.culprit import Culprit
from irkit.debug.bisect.rewrite_search import RewriteSearch
from irkit.debug.check.check import verdicts
from irkit.debug.check.options import CheckOptions
from irkit.debug.check.schedule_steps import NO_SCHEDULE, SCHEDULE, scheduled_steps, step_of
from irkit.debug.check.verdict import Verdict
from irkit.ir import PrimFunc
from irkit.schedule import ScheduleTrace
from irkit.transform import (
    IR,
    AnyPass,
    Apply,
    Fact,
    PassFailed,
    Pipeline,
    Step,
    apply_here,
    facts_after,
)


def bisect(
    pipeline: Pipeline,
    ir: IR,
    inputs: Mapping[str, ArrayLike] | None = None,
    *,
    dims: Mapping[str, int] | None = None,
    seed: int = 0,
    samples: int = 4,
    native: bool | None = None,
    apply: Apply = apply_here,
    failed: Callable[[PassFailed], object] | None = None,
    schedule: ScheduleTrace = NO_SCHEDULE,
) -> Culprit | None:
    """Return the first pass of a pipeline that breaks a program, and the rewrites in it that do.

    A ``schedule`` runs first; the culprit can be one of its steps. ``apply`` runs each pass;
    ``failed`` is called with a pass that fails before there is a verdict, and can add to its hint.
    The other options are those of :func:`check`. Returns None if every step keeps the meaning.
    """
    options = CheckOptions(inputs or {}, dims or {}, seed, samples, native)
    states: list[tuple[IR, object]] = []

    def recorded() -> Iterator[Step]:
        try:
            for step in scheduled_steps(ir, schedule, pipeline, apply=apply):
                states.append((step.before, step.after))
                yield step
        except PassFailed as error:
            states.append((error.before, error.after))
            if failed is not None and error.phase != SCHEDULE:
                failed(error)
            raise

    verdict = next((each for each in verdicts(recorded(), options) if each.is_wrong), None)
    if verdict is None:
        return None
    before, after = states[-1]
    if verdict.phase == SCHEDULE:
        step = step_of(schedule, verdict.pass_text)
        bad = after if isinstance(after, PrimFunc) else None
        return Culprit(verdict, step, before, good=before, bad=bad)
    p = _pass_at(pipeline, verdict)
    facts = _facts_after(pipeline, p, verdict.phase)
    return RewriteSearch(pipeline.level, facts, p, before, verdict, options, apply).culprit()


def guilty_rewrites(
    p: AnyPass,
    step: Step,
    verdict: Verdict,
    options: CheckOptions,
    *,
    apply: Apply = apply_here,
) -> Culprit:
    """Return the rewrites of a pass that break a program, given a failing verdict on its step."""
    return RewriteSearch(step.level, (), p, step.before, verdict, options, apply).culprit()


def _pass_at(pipeline: Pipeline, verdict: Verdict) -> AnyPass:
    """Return the pass of a verdict; passes with the same text in one phase are equal."""
    return next(
        p for phase, p in pipeline.placed if phase == verdict.phase and str(p) == verdict.pass_text
    )


def _facts_after(pipeline: Pipeline, p: AnyPass, phase: int) -> tuple[Fact, ...]:
    """Return the facts in force after a pass, including those it establishes."""
    at = pipeline.placed.index((phase, p))
    return tuple(list(facts_after(pipeline.placed, pipeline.facts))[at])
