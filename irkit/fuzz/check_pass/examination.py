"""Take one program through the lowering with the pass under test in its place, and hold the pass to
its promises where it stands."""

from collections import defaultdict
from functools import cache

import msgspec

from irkit.core import IRKitError, IRModule, Recorder
from irkit.debug import CheckOptions, Child, ChildDied, NativeWorker, Verdict, contracts, verdicts
from irkit.debug.execution.executors import MAX_SECONDS
from irkit.debug.processes.timeout import TimeUp, can_interrupt, timeout
from irkit.fuzz.check_pass.position import PassPosition
from irkit.fuzz.check_pass.programs import DrawnProgram
from irkit.graph import parse_module
from irkit.passes import BUILTIN
from irkit.transform import (
    IR,
    AnyPass,
    Attempt,
    PassFailed,
    Pipeline,
    Registry,
    Step,
    VerificationFailed,
    apply_here,
    parse_pipeline,
)

SAYS = {
    "verifies": "leaves a program that does not hold",
    "input untouched": "changes its input in place",
    "signature": "changes the signature",
    "deterministic": "does not do the same each time",
    "same numbers": "changes what the program computes",
    "truthful": "does not tell the truth about whether it changed something",
    "idempotent": "is not idempotent",
    "provenance": "loses where statements come from",
    "switchable": "works outside of its rewrites",
    "lowering": "leaves what the passes after it break on",
    "other pass": "is not to blame: without it the lowering fails too",
    "hang": "does not end",
    "crash": "takes its process with it",
    "body": "does not do what the test says",
}
"""What is said of a pass, by the promise that it breaks; the gravest come first."""
_GRAVITY = tuple(SAYS)
_ADVICE = defaultdict(
    str,
    {
        "idempotent": "\n  If it is not meant to be, say check_pass(..., idempotent=False).",
        "provenance": "\n  A statement made of another takes its span: span=other.span.",
    },
)


class Refuted(msgspec.Struct, frozen=True):
    """A promise that is broken, and how that shows."""

    promise: str
    message: str

    def __str__(self) -> str:
        return f"{SAYS[self.promise]}: {self.message}"


class Demands(msgspec.Struct, frozen=True):
    """What is asked of the pass. ``samples`` are sets of inputs."""

    samples: int = 2
    idempotent: bool = True
    native: bool = False
    without: tuple[str, ...] = ()


class Examined(msgspec.Struct, frozen=True, eq=False):
    """What became of one program. ``given`` and ``made`` are what stood before and after the pass,
    where it changed something; ``lowered`` is the last IR."""

    program: IR
    steps: tuple[Step, ...] = ()
    own: tuple[Step, ...] = ()
    lowered: IR | None = None
    refuted: Refuted | None = None
    given: IR | None = None
    invalid: str = ""

    @property
    def fired(self) -> bool:
        """Say whether the pass changed anything."""
        return any(step.changed for step in self.own)


def examine(place: PassPosition, what: DrawnProgram, demands: Demands) -> Examined:
    """Lower a program and check the pass on the way."""
    assert what.ir is not None
    return _Examination(place, what, demands).run()


class _Examination:
    def __init__(self, place: PassPosition, what: DrawnProgram, demands: Demands) -> None:
        assert what.ir is not None
        self.place, self.demands = place, demands
        self.program: IR = what.ir
        if place.p.on_modules and not isinstance(self.program, IRModule):
            self.program = IRModule({self.program.name: self.program})
        self.pipeline = self._pipeline(what.pipeline)
        self.steps: list[Step] = []
        self.own: list[Step] = []
        self.refuted: Refuted | None = None
        self.given: IR | None = None
        self._is_own = False

    def _pipeline(self, drawn: Pipeline | None) -> Pipeline:
        try:
            return self.place.within(drawn) if drawn is not None else self.place.pipeline
        except IRKitError:  # A random order may lack what the pass needs.
            return self.place.pipeline

    def run(self) -> Examined:
        """Run all passes, or until a promise is broken."""
        invalid = ""
        ir = self.program
        try:
            for step in self.pipeline.steps(self.program, apply=self._apply):
                if self.refuted is not None:
                    break
                self.steps.append(step)
                if self._is_own:
                    self.own.append(step)
                ir = step.applied_to(ir)
        except PassFailed as error:
            self._failed(error)
        except VerificationFailed as error:
            invalid = error.message if not self.steps else ""
        if self.refuted is None and not invalid:
            invalid = self._numbers(ir)
        return Examined(
            self.program,
            tuple(self.steps),
            tuple(self.own),
            ir,
            self.refuted,
            self.given,
            invalid,
        )

    def _apply(self, attempt: Attempt, recorder: Recorder) -> object:
        self._is_own = attempt.p is self.place.p
        if self._is_own and self.refuted is None:
            self._hold(attempt)
        return apply_here(attempt, recorder)

    def _hold(self, attempt: Attempt) -> None:
        """Try the promises of the pass on what it is about to be given, before it has run: one that
        changes its input in place leaves nothing to compare with."""
        text = attempt.before.script()
        found = contracts(
            self.place.p,
            [attempt.before],
            hash_seeds=(),
            fires=0,
            samples=self.demands.samples,
            idempotent=self.demands.idempotent,
        )
        counted = [each for each in found if each.contract not in self.demands.without]
        if counted:
            breach = min(counted, key=lambda each: _GRAVITY.index(each.contract))
            self.refuted = Refuted(breach.contract, breach.message + _ADVICE[breach.contract])
            self.given = attempt.before
        if self.refuted is not None and self.refuted.promise == "input untouched":
            # What is there now is not what was there.
            self.given = _read(text, attempt.p.on_modules)
            if self.program is attempt.before:
                self.program = self.given

    def _failed(self, error: PassFailed) -> None:
        if self.refuted is not None:
            return
        if self._is_own:
            self.refuted, self.given = Refuted("verifies", _told(error)), error.before
            return
        changed = [step for step in self.own if step.changed]
        at_fault = bool(changed) and not self._fails_without()
        promise = "lowering" if at_fault else "other pass"
        self.refuted = Refuted(promise, f"{error.message}\n  {error.hint}".rstrip())
        self.given = changed[0].before if changed else None

    def _fails_without(self) -> bool:
        """Say whether the lowering fails even if the pass under test does nothing."""
        try:
            self.pipeline.run(self.program, apply=self._skipping)
        except PassFailed:
            return True
        return False

    def _skipping(self, attempt: Attempt, recorder: Recorder) -> object:
        own = attempt.p is self.place.p
        return attempt.before if own else apply_here(attempt, recorder)

    def _numbers(self, lowered: IR) -> str:
        """Compare what reached the pass with what was lowered; say why the program cannot be tried,
        if so. The pass alone was compared before it ran."""
        if not any(step.changed for step in self.own):
            return ""
        native = self.demands.native
        options = CheckOptions(
            samples=self.demands.samples, kernels=True, native=native or None, guarded=native
        )
        before = self.program if isinstance(self.program, IRModule) else self.own[0].before
        for verdict in verdicts([self._stretch(before, lowered)], options, _worker()):
            if verdict.status == "unchecked":
                return verdict.message
            if not verdict.ok:
                self.given = next(step.before for step in self.own if step.changed)
                innocent = self._fails_without() or self._is_wrong_without()
                promise = "other pass" if innocent else "lowering"
                self.refuted = Refuted(promise, _shown(verdict))
                break
        return ""

    def _is_wrong_without(self) -> bool:
        lowered = self.pipeline.run(self.program, apply=self._skipping)
        step = self._stretch(self.program, lowered)
        options = CheckOptions(samples=self.demands.samples, kernels=True)
        return any(v.status in ("differs", "failed") for v in verdicts([step], options))

    def _stretch(self, before: IR, after: IR) -> Step:
        """Take all that happens from one state to another as one step."""
        name = "what follows"
        first = self.own[0]
        return msgspec.structs.replace(first, before=before, after=after, name=name, pass_text=name)


@cache
def _worker() -> NativeWorker:
    """Hold the process in which native code runs: to start one takes longer than most cases."""
    return NativeWorker(MAX_SECONDS)


def _shown(verdict: Verdict) -> str:
    where = verdict.message
    if verdict.error.at is not None:
        at = ", ".join(map(str, verdict.error.at))
        where = (
            f"{verdict.buffer}[{at}] is {verdict.error.found}, expected {verdict.error.expected}"
        )
    return f"{where} ({verdict.how}, {verdict.inputs})" if verdict.inputs else where


def _read(text: str, whole: bool) -> IR:
    module = parse_module(text)
    return module if whole else next(iter(module.functions.values()))


def _told(error: PassFailed) -> str:
    return f"{error.what}\n  {error.hint}".rstrip()


def examine_safely(
    place: PassPosition,
    what: DrawnProgram,
    demands: Demands,
    seconds: float,
    child: Child | None = None,
) -> Examined:
    """Examine a program so that a pass that does not end is a finding, and with ``child``, in which
    it is tried first, one that crashes.

    In this process it is interrupted, which works for Python. Raises: IRKitError if the child
    cannot find the pass.
    """
    assert what.ir is not None
    if child is not None:
        found = _elsewhere(place, what, demands, child)
        if found is not None and found.promise in ("hang", "crash"):
            return Examined(what.ir, refuted=found)
    if not can_interrupt():
        return examine(place, what, demands)
    try:
        with timeout(seconds):
            return examine(place, what, demands)
    except TimeUp:
        return Examined(what.ir, refuted=Refuted("hang", f"not within {seconds:g} s"))


def _elsewhere(
    place: PassPosition, what: DrawnProgram, demands: Demands, child: Child
) -> Refuted | None:
    assert what.ir is not None
    whole = isinstance(what.ir, IRModule)
    pipeline = "" if what.pipeline is None else what.pipeline.text(_known())
    job = place.p, dict(place.where), place.on_graphs, whole, what.ir.script(), pipeline, demands
    try:
        return child.call(examine_text, *job)
    except ChildDied as error:
        return Refuted("hang" if error.kind == "timeout" else "crash", error.message)


def _known() -> Registry:
    return Registry.of(BUILTIN).with_entry_points()


def examine_text(
    p: AnyPass,
    where: dict[str, object],
    on_graphs: bool,
    whole: bool,
    text: str,
    pipeline: str,
    demands: Demands,
) -> Refuted | None:
    """Examine a program that is text, in the process that was made for it."""
    ir = _read(text, whole)
    place = PassPosition(p, graph=on_graphs, **where)  # pyright: ignore[reportArgumentType] -- as it was taken apart
    drawn = parse_pipeline(pipeline, _known(), place.like) if pipeline else None
    return examine(place, DrawnProgram(ir, drawn), demands).refuted
