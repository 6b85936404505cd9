"""Find the pass that breaks a program, and inside it the rewrite; or the step of its schedule."""

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
    """Find the first pass of a pipeline that breaks a program, and the rewrites in it that do.

    A ``schedule`` runs first, and a step of it may be what is found.

    The options are those of :func:`check`; ``apply`` says how a pass is run, each time; ``failed``
    hears of a pass that fails before there is a verdict, and may add to its hint. None if every
    step keeps the meaning.
    """
    options = CheckOptions(inputs or {}, dims or {}, seed, samples, native)
    kept: list[tuple[IR, object]] = []

    def watched() -> Iterator[Step]:
        try:
            for step in scheduled_steps(ir, schedule, pipeline, apply=apply):
                kept.append((step.before, step.after))
                yield step
        except PassFailed as error:
            kept.append((error.before, error.after))
            if failed is not None and error.phase != SCHEDULE:
                failed(error)
            raise

    verdict = _first_failure(watched(), options)
    if verdict is None:
        return None
    before, after = kept[-1]
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
    """Find the rewrites of a pass that break a program, where a verdict says that a kept step of it
    does."""
    return RewriteSearch(step.level, (), p, step.before, verdict, options, apply).culprit()


def _first_failure(steps: Iterator[Step], options: CheckOptions) -> Verdict | None:
    wrong = ("differs", "failed")
    return next((each for each in verdicts(steps, options) if each.status in wrong), None)


def _pass_at(pipeline: Pipeline, verdict: Verdict) -> AnyPass:
    """Find a pass by what a step says; equal texts in one phase are equal passes."""
    return next(
        p for phase, p in pipeline.placed if phase == verdict.phase and str(p) == verdict.pass_text
    )


def _facts_after(pipeline: Pipeline, p: AnyPass, phase: int) -> tuple[Fact, ...]:
    """List the facts in force after a pass, those that it gives itself included."""
    at = pipeline.placed.index((phase, p))
    return tuple(list(facts_after(pipeline.placed, pipeline.facts))[at])
