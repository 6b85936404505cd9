"""Search for the pass that breaks a program and the rewrite inside it, or the schedule step."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec
from numpy.typing import ArrayLike

from irkit.core import IRModule
from irkit.debug.bisect.culprit import Culprit
from irkit.debug.bisect.rewrite_search import RewriteSearch
from irkit.debug.check.check import verdicts
from irkit.debug.check.options import CheckOptions
from irkit.debug.check.schedule_steps import (
    NO_SCHEDULE,
    SCHEDULE,
    ScheduleGiven,
    schedule_given,
    scheduled_steps,
    step_of,
)
from irkit.debug.check.subject import Subject
from irkit.debug.check.trust.with_trust import with_trust
from irkit.debug.check.verdict import Verdict
from irkit.debug.execution.native_worker import NativeWorker
from irkit.ir import PrimFunc
from irkit.schedule import ScheduleTrace, TraceStep
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

Progress = Callable[[Verdict], object]


def no_progress(verdict: Verdict) -> None:
    """Show nothing."""


class GuiltyStep(msgspec.Struct, frozen=True):
    """The first step that breaks a program: its verdict, and the IR before and after it.

    ``p`` is its pass and ``pipeline`` that of the pass; both are None for a step of a schedule. If
    the native code of a stage is wrong, ``before`` and ``after`` are the stage, and ``p`` is None.
    ``original`` is the loop function before all steps, if the step is about one; ``kernels`` are
    those of the model that it is a part of, before their steps.
    """

    verdict: Verdict
    before: IR
    after: object
    p: AnyPass | None = None
    pipeline: Pipeline | None = None
    original: PrimFunc | None = None
    kernels: tuple[PrimFunc, ...] = ()


def find_guilty_step(
    pipelines: Pipeline | Sequence[Pipeline],
    ir: IR,
    options: CheckOptions,
    *,
    apply: Apply = apply_here,
    failed: Callable[[PassFailed], object] | None = None,
    schedule: ScheduleTrace = NO_SCHEDULE,
    progress: Progress = no_progress,
) -> GuiltyStep | None:
    """Return the first step that breaks a program, or None; the arguments are those of
    :func:`bisect`."""
    known: dict[int, Step] = {}
    raised: list[PassFailed] = []
    originals: dict[str, IR] = {}
    modules: list[IRModule] = []

    def recorded() -> Iterator[Step]:
        try:
            for step in scheduled_steps(ir, schedule, pipelines, apply=apply):
                originals.setdefault(step.function, step.before)
                known[step.index] = step
                if isinstance(step.after, IRModule):
                    modules[:] = [step.after]
                yield step
        except PassFailed as error:
            raised.append(error)
            raise

    verdict = first_wrong(verdicts(recorded(), options, failed=failed), progress)
    if verdict is None:
        return None
    at = known.get(verdict.index)
    stages = (pipelines,) if isinstance(pipelines, Pipeline) else pipelines
    original = originals.get(verdict.function)
    original = original if isinstance(original, PrimFunc) else None
    if verdict.in_code and at is not None:
        stage = _function_in(at.after, verdict.function)
        return GuiltyStep(verdict, stage, stage, pipeline=stages[-1], original=original)
    before, after = _before_and_after(raised[0] if at is None else at)
    if verdict.phase == SCHEDULE:
        return GuiltyStep(verdict, before, after)
    pipeline, p = _pass_at(stages, verdict)
    functions = modules[0].functions.values() if modules else ()
    kernels = tuple(func for func in functions if isinstance(func, PrimFunc))
    return GuiltyStep(verdict, before, after, p, pipeline, original, kernels)


def bisect(
    pipelines: Pipeline | Sequence[Pipeline],
    ir: IR,
    inputs: Mapping[str, ArrayLike] | None = None,
    *,
    dims: Mapping[str, int] | None = None,
    seed: int = 0,
    samples: int = 4,
    native: bool | None = None,
    code: bool = False,
    apply: Apply = apply_here,
    failed: Callable[[PassFailed], object] | None = None,
    schedule: ScheduleGiven = NO_SCHEDULE,
    progress: Progress = no_progress,
) -> Culprit | None:
    """Return the first pass that breaks a program, and the rewrites in it that do.

    ``pipelines`` is a pipeline, or several that run one after the other, as a model needs. A
    ``schedule`` runs first, as steps or as "auto" for what :func:`irkit.build` would choose; the
    culprit can be one of its steps. ``apply`` runs each pass;
    ``failed`` is called with a pass that fails before there is a verdict, and can add to its hint;
    ``progress`` is called with each verdict. The other options are those of :func:`check`. Returns
    None if every step keeps the meaning.
    """
    options = CheckOptions(inputs or {}, dims or {}, seed, samples, native, code)
    trace = schedule_given(ir, schedule)
    found = find_guilty_step(
        pipelines, ir, options, apply=apply, failed=failed, schedule=trace, progress=progress
    )
    return None if found is None else culprit_of(found, options, schedule=trace, apply=apply)


def culprit_of(
    found: GuiltyStep,
    options: CheckOptions,
    *,
    schedule: ScheduleTrace = NO_SCHEDULE,
    apply: Apply = apply_here,
) -> Culprit:
    """Return the rewrites that break a program, or the step of the schedule."""
    verdict, before, after = found.verdict, found.before, found.after
    if verdict.in_code:
        return Culprit(verdict, None, before, note=_NO_PASS)
    if found.pipeline is None or found.p is None:
        traced = step_of(schedule, verdict.pass_text)
        bad = after if isinstance(after, PrimFunc) else None
        return Culprit(verdict, traced, before, good=before, bad=bad)
    facts = _facts_after(found.pipeline, found.p, verdict.phase)
    level = found.pipeline.level
    culprit = RewriteSearch(level, facts, found.p, before, verdict, options, apply).culprit()
    return _with_trust(culprit, options)


def _with_trust(culprit: Culprit, options: CheckOptions) -> Culprit:
    """Return the culprit with how far it can be trusted that the other rewrites are right."""
    before, good, p = culprit.before, culprit.good, culprit.run
    if p is None or isinstance(p, TraceStep) or not options.trusts(p.name):
        return culprit
    if not isinstance(before, PrimFunc) or not isinstance(good, PrimFunc) or good is before:
        return culprit
    worker = NativeWorker(options.seconds)
    try:
        began = time.process_time()
        subject = Subject(before, options, worker)
        rounds = p.changes_rounding
        blank = msgspec.structs.replace(culprit.verdict, status="same", message="", how="")
        verdict = subject.verdict(blank, before, good, changes_rounding=rounds)
        spent = time.process_time() - began
        trust = with_trust(
            verdict, subject, before, good, changes_rounding=rounds, seconds=spent
        ).trust
    finally:
        worker.close()
    return msgspec.structs.replace(culprit, trust=trust)


_NO_PASS = "every pass keeps the meaning: the fault is in what makes code of the last stage"


def _function_in(ir: IR, name: str) -> IR:
    return ir[name] if isinstance(ir, IRModule) else ir


def first_wrong(found: Iterable[Verdict], progress: Progress = no_progress) -> Verdict | None:
    """Return the first wrong verdict, or None; ``progress`` is called with each."""
    for each in found:
        progress(each)
        if each.is_wrong:
            return each
    return None


def guilty_rewrites(
    p: AnyPass,
    step: Step,
    verdict: Verdict,
    options: CheckOptions,
    *,
    apply: Apply = apply_here,
) -> Culprit:
    """Return the rewrites of a pass that break a program, given a failing verdict on its step."""
    culprit = RewriteSearch(step.level, (), p, step.before, verdict, options, apply).culprit()
    return _with_trust(culprit, options)


def _before_and_after(of: Step | PassFailed) -> tuple[IR, object]:
    return of.before, of.after


def _pass_at(pipelines: Sequence[Pipeline], verdict: Verdict) -> tuple[Pipeline, AnyPass]:
    """Return the pass of a verdict and its pipeline; passes with the same text in one phase are
    equal."""
    wanted = verdict.level, verdict.phase, verdict.pass_text
    return next(
        (pipeline, p)
        for pipeline in pipelines
        for phase, p in pipeline.placed
        if (pipeline.level.name, phase, str(p)) == wanted
    )


def _facts_after(pipeline: Pipeline, p: AnyPass, phase: int) -> tuple[Fact, ...]:
    """Return the facts in force after a pass, including those it establishes."""
    at = pipeline.placed.index((phase, p))
    return tuple(list(facts_after(pipeline.placed, pipeline.facts))[at])
