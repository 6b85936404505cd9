"""Find the pass that breaks a program, and inside it the rewrite; or the step of its schedule.

The recorder numbers the rewrites of a pass, and can switch them off by number. With the first k on
and the rest off, some k is the first that breaks the program: found by halving. Where some in
between give programs that do not verify, they depend on each other: they are taken as one group,
which is then made smaller, as in delta debugging.
"""

from collections.abc import Callable, Iterator, Mapping
from difflib import unified_diff
from enum import Enum

import msgspec
from numpy.typing import ArrayLike

from irkit.core import Application, Function, IRModule, Level, Names, Problem
from irkit.debug.check import Options, Subject, Verdict, verdicts
from irkit.debug.graph_check import GraphSubject, graph_of
from irkit.debug.native import NativeWorker
from irkit.debug.primitives import NO_SCHEDULE, SCHEDULE, scheduled_steps, step_of
from irkit.debug.watching import Watching
from irkit.ir import PrimFunc
from irkit.schedule import ScheduleTrace, TraceStep
from irkit.transform import (
    IR,
    AnyPass,
    Apply,
    Attempt,
    Fact,
    PassFailed,
    PassHalted,
    Pipeline,
    Step,
    apply_here,
    facts_after,
)

MAX_RUNS = 200
MAX_LINES = 60
_SPARE = 1000


class Culprit(msgspec.Struct, frozen=True):
    """The pass that breaks a program, and the rewrites inside it that do; or the step of its
    schedule.

    ``run`` is the pass or step, ``before`` what it was given; ``good`` and ``bad`` are what it
    makes of that without
    and with the guilty rewrites (``bad`` is None if it made nothing). Where there are no
    ``rewrites``, ``note`` says why. ``of`` counts all that the pass made.
    """

    verdict: Verdict
    run: AnyPass | TraceStep
    before: IR
    rewrites: tuple[Application, ...] = ()
    of: int = 0
    good: IR | None = None
    bad: IR | None = None
    note: str = ""

    def __str__(self) -> str:
        lines = [str(self.verdict)]
        if not isinstance(self.run, TraceStep):
            lines.append(f"  the pass is {self.run.origin}")
        elif self.run.where:
            lines.append(f"  the step is from {self.run.where}")
        lines += [f"  {self.note}"] if self.note else []
        for each in self.rewrites:
            span = each.span
            place = f" ({span.file}:{span.line})" if span is not None else ""
            lines.append(f"rewrite {each.number + 1} of {self.of}: {each.rule}{place}")
        lines += _shortened(self.diff())
        return "\n".join(lines)

    def diff(self) -> list[str]:
        """List what the guilty rewrites change, as lines of a unified diff."""
        if self.good is None or self.bad is None:
            return []
        names = Names()  # One table, so that what did not change has its name in both.
        good, bad = _printed(self.good, names), _printed(self.bad, names)
        return list(unified_diff(good, bad, "without it", "with it", lineterm="", n=2))


def _printed(ir: IR, names: Names) -> list[str]:
    return ir.script(names=names).splitlines()


def _shortened(lines: list[str]) -> list[str]:
    more = len(lines) - MAX_LINES
    return [*lines[:MAX_LINES], f"... and {more} lines more"] if more > 0 else lines


class _Result(Enum):
    GOOD = "good"
    BAD = "bad"
    SKIP = "skip"


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
    options = Options(inputs or {}, dims or {}, seed, samples, native)
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
    return _Search(pipeline.level, facts, p, before, verdict, options, apply).culprit()


def guilty_rewrites(
    p: AnyPass,
    step: Step,
    verdict: Verdict,
    options: Options,
    *,
    apply: Apply = apply_here,
) -> Culprit:
    """Find the rewrites of a pass that break a program, where a verdict says that a kept step of it
    does."""
    return _Search(step.level, (), p, step.before, verdict, options, apply).culprit()


def _first_failure(steps: Iterator[Step], options: Options) -> Verdict | None:
    wrong = ("differs", "failed")
    return next((each for each in verdicts(steps, options) if each.status in wrong), None)


def _pass_at(pipeline: Pipeline, verdict: Verdict) -> AnyPass:
    """Find a pass by what a step says; equal texts in one phase are equal passes."""
    return next(
        p for phase, p in pipeline.placed if phase == verdict.phase and str(p) == verdict.pass_text
    )


class _Search:
    """Look for the guilty rewrites of one pass on one program."""

    def __init__(
        self,
        level: Level,
        facts: tuple[Fact, ...],
        p: AnyPass,
        before: IR,
        verdict: Verdict,
        options: Options,
        apply: Apply,
    ) -> None:
        self.apply, self.halted = apply, ""
        self.level, self.p, self.before, self.verdict = level, p, before, verdict
        self.blank = Verdict(
            verdict.index, verdict.function, verdict.phase, verdict.name, verdict.pass_text, "same"
        )
        self.runs = self.total = 0
        worker = NativeWorker(options.seconds)
        self.subjects = {
            name: Subject(func, options, worker) for name, func in _loops(before).items()
        }
        self.graph: GraphSubject | None = None
        if not self.by_verifier and graph_of(before) is not None:
            self.graph = GraphSubject(before, options.inputs, options.dims, options.seed)
        self.facts = facts if verdict.how == "" else ()
        self._known: dict[frozenset[int], _Result] = {}

    @property
    def by_verifier(self) -> bool:
        """Say whether the failure is that the result does not verify, or none was made."""
        return self.verdict.how == ""

    def culprit(self) -> Culprit:
        """Search, and tell what was found."""
        told = Culprit(self.verdict, self.p, self.before)
        self.total = self._recorded(frozenset())[0].count
        if self.halted or not self.total:
            note = "the pass reports no rewrites, so that it cannot be divided further"
            if self.halted:
                note = f"the pass {self.halted}, so that its rewrites cannot be told apart"
            return msgspec.structs.replace(told, note=note)
        told = msgspec.structs.replace(told, of=self.total)
        if self._with(set()) is not _Result.GOOD:
            note = "the pass breaks the program even with all its rewrites switched off"
            return msgspec.structs.replace(told, note=note)
        low, high = self._halved(self.total)
        first = set(range(low))
        guilty = self._smaller(first, set(range(low, high)))
        return self._told(told, first, guilty)

    def _told(self, told: Culprit, first: set[int], guilty: set[int]) -> Culprit:
        _, good = self._recorded(self._all_but(first))
        recorder, bad = self._recorded(self._all_but(first | guilty))
        rewrites = tuple(each for each in recorder.applications if each.number in guilty)
        note = "the pass is atomic: its rewrites are switched as one" if self.p.atomic else ""
        return msgspec.structs.replace(told, rewrites=rewrites, good=good, bad=bad, note=note)

    def _halved(self, total: int) -> tuple[int, int]:
        """Find k and m: the first k rewrites are good, the first m are not, and none between them
        can be told."""
        low: int = 0
        high: int = total
        skipped: set[int] = set()
        while self.runs < MAX_RUNS:
            left = [k for k in range(low + 1, high) if k not in skipped]
            if not left:
                break
            middle = left[len(left) // 2]
            match self._with(set(range(middle))):
                case _Result.GOOD:
                    low = middle
                case _Result.BAD:
                    high = middle
                case _Result.SKIP:
                    skipped.add(middle)
        return low, high

    def _smaller(self, on: set[int], group: set[int]) -> set[int]:
        """Leave out of a group what is not needed to break the program: halves, then single
        rewrites."""
        size = len(group) // 2
        while size and self.runs < MAX_RUNS:
            order = sorted(group)
            for at in range(0, len(order), size):
                rest = group - set(order[at : at + size])
                if rest and self._with(on | rest) is _Result.BAD:
                    group = rest
            size //= 2
        return group

    def _all_but(self, on: set[int]) -> frozenset[int]:
        # With some switched off, a pass may try others that it did not come to before.
        return frozenset(range(self.total + _SPARE)) - on

    def _recorded(self, disabled: frozenset[int]) -> tuple[Watching, IR | None]:
        recorder = Watching(disabled, keep=True)
        attempt = Attempt(
            level=self.level,
            passes=((self.verdict.phase, "", self.p),),
            at=0,
            index=self.verdict.index,
            function=self.verdict.function,
            before=self.before,
            facts=(),
            keep=True,
            disabled=disabled,
        )
        try:
            after = self.apply(attempt, recorder)
            return recorder, after if isinstance(after, (Function, IRModule)) else None
        except PassHalted as error:
            self.halted = self.halted or error.message
            return recorder, None
        except (Exception, SystemExit):
            return recorder, None  # What it did before it raised has been reported.

    def _with(self, on: set[int]) -> _Result:
        """Run the pass with some rewrites on and all others off, and judge the outcome."""
        key = frozenset(on)
        if key not in self._known:
            self.runs += 1
            self._known[key] = self._judged(on)
        return self._known[key]

    def _judged(self, on: set[int]) -> _Result:
        _, after = self._recorded(self._all_but(on))
        if after is None or self._problems(after):
            return _Result.BAD if self.by_verifier else _Result.SKIP
        if self.by_verifier:
            return _Result.GOOD
        if self.graph is not None:
            status = self.graph.compared(self.before, after)["status"]
            return _Result.BAD if status in ("differs", "failed") else _Result.GOOD
        for name, func in _loops(after).items():
            subject = self.subjects.get(name)
            if subject is not None and subject.func is not func:
                verdict = subject.verdict(self.blank, subject.func, func)
                if verdict.status in ("differs", "failed"):
                    return _Result.BAD
        return _Result.GOOD

    def _problems(self, after: IR) -> list[Problem]:
        functions = after.functions.values() if isinstance(after, IRModule) else (after,)
        found: list[Problem] = []
        for func in functions:
            if isinstance(func, self.level.functions):
                found += self.level.verify(func)
                found += [] if found else [p for fact in self.facts for p in fact.problems(func)]
        return found


def _loops(ir: IR) -> dict[str, PrimFunc]:
    functions = ir.functions if isinstance(ir, IRModule) else {ir.name: ir}
    return {name: func for name, func in functions.items() if isinstance(func, PrimFunc)}


def _facts_after(pipeline: Pipeline, p: AnyPass, phase: int) -> tuple[Fact, ...]:
    """List the facts in force after a pass, those that it gives itself included."""
    at = pipeline.placed.index((phase, p))
    return tuple(list(facts_after(pipeline.placed, pipeline.facts))[at])
