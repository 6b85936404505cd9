"""The lowering of one program with the pass under test at its position, where the contracts of the
pass are checked."""

from collections import defaultdict
from functools import cache

import msgspec

from irkit.autoschedule import auto_schedule
from irkit.core import IRKitError, IRModule, Recorder
from irkit.debug import (
    MAX_SECONDS,
    CheckOptions,
    ContractTrial,
    NativeWorker,
    Verdict,
    verdicts,
)
from irkit.fuzz.check_pass.position import PassPosition
from irkit.fuzz.check_pass.programs import DrawnProgram
from irkit.graph import parse_module
from irkit.ir import PrimFunc
from irkit.passes import installed_passes
from irkit.processes import Child, ChildDied, TimeUp, can_interrupt, timeout
from irkit.transform import (
    IR,
    AnyPass,
    Attempt,
    PassFailed,
    Pipeline,
    Step,
    VerificationFailed,
    apply_here,
    parse_pipeline,
)

FAULTS = {
    "raises nothing": "raises an exception",
    "verifies": "leaves an invalid program",
    "input untouched": "changes its input in place",
    "signature": "changes the signature",
    "deterministic": "is not deterministic",
    "same numbers": "changes what the program computes",
    "no new race": "makes iterations or threads race",
    "process untouched": "changes the state of its process",
    "truthful": "reports wrongly whether it changed something",
    "idempotent": "is not idempotent",
    "provenance": "loses where statements come from",
    "switchable": "changes something outside of its rewrites",
    "lowering": "leaves a program that later passes fail on",
    "other pass": "is not to blame: without it the lowering fails too",
    "hang": "does not end",
    "crash": "takes its process with it",
    "body": "does not do what the test says",
}
"""Fault of a pass, by the contract that it breaks; the gravest come first."""
_GRAVITY = tuple(FAULTS)
_ADVICE = defaultdict(
    str,
    {
        "idempotent": "\n  If it is not meant to be, do not claim it, or pass idempotent=False.",
        "provenance": "\n  Give a statement made from another its span: span=other.span.",
    },
)


class Violation(msgspec.Struct, frozen=True):
    """A contract that a pass broke, and the evidence."""

    contract: str
    message: str

    def __str__(self) -> str:
        return f"{FAULTS[self.contract]}: {self.message}"


class ExaminationOptions(msgspec.Struct, frozen=True):
    """What to check of a pass. ``samples`` is the number of sets of inputs; with ``only_changed``,
    a program that the pass leaves alone is not examined."""

    samples: int = 4
    idempotent: bool | None = None
    only_changed: bool = False
    native: bool = False
    without: tuple[str, ...] = ()


class Examination(msgspec.Struct, frozen=True, eq=False):
    """Result of examining one program.

    ``before`` is the IR before the pass, where it changed something or broke a contract;
    ``lowered`` is the last IR; ``unknown`` says why the numbers could not be compared.
    """

    program: IR
    steps: tuple[Step, ...] = ()
    own: tuple[Step, ...] = ()
    lowered: IR | None = None
    violation: Violation | None = None
    before: IR | None = None
    invalid: str = ""
    unknown: str = ""
    left_out: bool = False

    @property
    def fired(self) -> bool:
        """Return True if the pass changed anything."""
        return any(step.changed for step in self.own)


def examine(
    position: PassPosition, drawn: DrawnProgram, options: ExaminationOptions
) -> Examination:
    """Lower a program and check the pass on the way; one that nobody has scheduled also with the
    schedule that ``irkit.build`` would give it."""
    assert drawn.ir is not None
    written = _Examiner(position, drawn, options).run()
    if written.violation is not None or written.invalid:
        return written
    scheduled = _auto_scheduled(written.program)
    if scheduled is written.program:
        return written
    rare = msgspec.structs.replace(options, only_changed=True)
    found = _Examiner(position, msgspec.structs.replace(drawn, ir=scheduled), rare).run()
    if found.violation is not None:
        message = f"{found.violation.message}{_FORM}"
        violation = Violation(found.violation.contract, message)
        return msgspec.structs.replace(found, violation=violation)
    return found if found.fired and not written.fired and not found.invalid else written


_FORM = "\n  The program has the automatic schedule, as irkit.build compiles it."


def _auto_scheduled(ir: IR) -> IR:
    if isinstance(ir, PrimFunc):
        return auto_schedule(ir)
    if not isinstance(ir, IRModule):
        return ir
    changes = {
        name: made
        for name, func in ir.functions.items()
        if isinstance(func, PrimFunc) and (made := auto_schedule(func)) is not func
    }
    return ir.with_functions(changes) if changes else ir


class _Examiner:
    def __init__(
        self, position: PassPosition, drawn: DrawnProgram, options: ExaminationOptions
    ) -> None:
        assert drawn.ir is not None
        self.position, self.options = position, options
        self.program: IR = drawn.ir
        if position.p.on_modules and not isinstance(self.program, IRModule):
            self.program = IRModule({self.program.name: self.program})
        self.pipeline = self._pipeline(drawn.pipeline)
        self.steps: list[Step] = []
        self.own: list[Step] = []
        self.violation: Violation | None = None
        self.before: IR | None = None
        self.unknown = ""
        self._is_own = False

    def _pipeline(self, pipeline: Pipeline | None) -> Pipeline:
        try:
            return (
                self.position.within(pipeline) if pipeline is not None else self.position.pipeline
            )
        except IRKitError:  # A random order may lack what the pass needs.
            return self.position.pipeline

    def run(self) -> Examination:
        """Run all passes, or until a contract is broken."""
        if self.options.only_changed and not self._changes_something():
            return Examination(self.program, left_out=True)
        invalid = ""
        ir = self.program
        try:
            for step in self.pipeline.steps(self.program, apply=self._apply):
                if self.violation is not None:
                    break
                self.steps.append(step)
                if self._is_own:
                    self.own.append(step)
                ir = step.applied_to(ir)
        except PassFailed as error:
            self._failed(error)
        except VerificationFailed as error:
            invalid = error.message if not self.steps else ""
        if self.violation is None and not invalid:
            invalid = self._numbers(ir)
        return Examination(
            self.program,
            tuple(self.steps),
            tuple(self.own),
            ir,
            self.violation,
            self.before,
            invalid,
            self.unknown,
        )

    def _changes_something(self) -> bool:
        """Return True if the pass changes the program, or fails on it: what comes after it is not
        run."""
        left = sum(p is self.position.p for _, p in self.pipeline.placed)
        whole = isinstance(self.program, IRModule)
        try:
            for step in self.pipeline.steps(self.program, verify=False, apply=self._noting):
                if self._is_own and step.changed:
                    return True
                left -= self._is_own
                if not left and not whole:
                    return False
        except PassFailed:
            return self._is_own
        return False

    def _noting(self, attempt: Attempt, recorder: Recorder) -> object:
        self._is_own = attempt.p is self.position.p
        return apply_here(attempt, recorder)

    def _apply(self, attempt: Attempt, recorder: Recorder) -> object:
        self._is_own = attempt.p is self.position.p
        if self._is_own and self.violation is None:
            self._check_contracts(attempt)
        return apply_here(attempt, recorder)

    def _check_contracts(self, attempt: Attempt) -> None:
        """Check the contracts of the pass on its input before it runs: a pass that changes its
        input in place leaves nothing to compare with."""
        text = attempt.before.script()
        p, options = self.position.p, self.options
        idempotent = p.idempotent if options.idempotent is None else options.idempotent
        trial = ContractTrial(p, 0, attempt.before, options.samples, idempotent)
        counted = [each for each in trial.breaches() if each.contract not in options.without]
        self.unknown = self.unknown or trial.unknown
        if counted:
            breach = min(counted, key=lambda each: _GRAVITY.index(each.contract))
            self.violation = Violation(breach.contract, breach.message + _ADVICE[breach.contract])
            self.before = attempt.before
        if self.violation is not None and self.violation.contract == "input untouched":
            # The IR is no longer what it was.
            self.before = _read(text, attempt.p.on_modules)
            if self.program is attempt.before:
                self.program = self.before

    def _failed(self, error: PassFailed) -> None:
        if self.violation is not None:
            return
        if self._is_own:
            contract = "raises nothing" if error.kind == "exception" else "verifies"
            self.violation, self.before = Violation(contract, _message(error)), error.before
            return
        changed = [step for step in self.own if step.changed]
        at_fault = bool(changed) and not self._fails_without()
        contract = "lowering" if at_fault else "other pass"
        self.violation = Violation(contract, f"{error.message}\n  {error.hint}".rstrip())
        self.before = changed[0].before if changed else None

    def _fails_without(self) -> bool:
        """Return True if the lowering fails even when the pass under test does nothing."""
        try:
            self.pipeline.run(self.program, apply=self._skipping)
        except PassFailed:
            return True
        return False

    def _skipping(self, attempt: Attempt, recorder: Recorder) -> object:
        own = attempt.p is self.position.p
        return attempt.before if own else apply_here(attempt, recorder)

    def _numbers(self, lowered: IR) -> str:
        """Compare the program before the pass with the lowered one; return why the program cannot
        be tried, if so. The pass alone was compared before it ran."""
        if not any(step.changed for step in self.own):
            return ""
        native = self.options.native
        comparison = CheckOptions(samples=self.options.samples, native=native or None)
        before = self.program if isinstance(self.program, IRModule) else self.own[0].before
        for verdict in verdicts([self._as_one_step(before, lowered)], comparison, _worker()):
            if verdict.status == "not known":
                if not any(step.changes_rounding for step in self.own):
                    return verdict.message
                self.unknown = self.unknown or verdict.message
                return ""
            if not verdict.ok:
                self.before = next(step.before for step in self.own if step.changed)
                innocent = self._fails_without() or self._is_wrong_without()
                contract = "other pass" if innocent else "lowering"
                self.violation = Violation(contract, _shown(verdict))
                break
        return ""

    def _is_wrong_without(self) -> bool:
        lowered = self.pipeline.run(self.program, apply=self._skipping)
        step = self._as_one_step(self.program, lowered)
        comparison = CheckOptions(samples=self.options.samples, native=self.options.native or None)
        return any(v.is_wrong for v in verdicts([step], comparison))

    def _as_one_step(self, before: IR, after: IR) -> Step:
        """Return all changes from one state to another as one step."""
        name = "what follows"
        return msgspec.structs.replace(
            self.own[0],
            before=before,
            after=after,
            name=name,
            pass_text=name,
            changes_rounding=any(p.changes_rounding for _, p in self.pipeline.placed),
        )


@cache
def _worker() -> NativeWorker:
    """Return the process in which native code runs: starting one takes longer than most cases."""
    return NativeWorker(MAX_SECONDS)


def _shown(verdict: Verdict) -> str:
    where = verdict.wrong_element or verdict.message
    return f"{where} ({verdict.how}, {verdict.inputs})" if verdict.inputs else where


def _read(text: str, whole: bool) -> IR:
    module = parse_module(text)
    return module if whole else next(iter(module.functions.values()))


def _message(error: PassFailed) -> str:
    return f"{error.what}\n  {error.hint}".rstrip()


def examine_safely(
    position: PassPosition,
    drawn: DrawnProgram,
    options: ExaminationOptions,
    seconds: float,
    child: Child | None = None,
) -> Examination:
    """Examine a program so that a pass that does not end is a finding, and with ``child``, in which
    it is tried first, one that crashes too.

    In this process it is interrupted, which works for Python code. Raises: IRKitError if the child
    cannot find the pass.
    """
    assert drawn.ir is not None
    if child is not None:
        found = _elsewhere(position, drawn, options, child)
        if found is not None and found.contract in ("hang", "crash"):
            return Examination(drawn.ir, violation=found)
    if not can_interrupt():
        return examine(position, drawn, options)
    try:
        with timeout(seconds):
            return examine(position, drawn, options)
    except TimeUp:
        return Examination(drawn.ir, violation=Violation("hang", f"not within {seconds:g} s"))


def _elsewhere(
    position: PassPosition, drawn: DrawnProgram, options: ExaminationOptions, child: Child
) -> Violation | None:
    assert drawn.ir is not None
    whole = isinstance(drawn.ir, IRModule)
    pipeline = "" if drawn.pipeline is None else drawn.pipeline.text(installed_passes())
    job = (
        position.p,
        dict(position.where),
        position.on_graphs,
        whole,
        drawn.ir.script(),
        pipeline,
        options,
    )
    try:
        return child.call(examine_text, *job)
    except ChildDied as error:
        return Violation("hang" if error.kind == "timeout" else "crash", error.message)


def examine_text(
    p: AnyPass,
    where: dict[str, object],
    on_graphs: bool,
    whole: bool,
    text: str,
    pipeline: str,
    options: ExaminationOptions,
) -> Violation | None:
    """Examine a program given as text, in the process that was started for it."""
    ir = _read(text, whole)
    position = PassPosition(p, graph=on_graphs, **where)  # pyright: ignore[reportArgumentType] -- as it was taken apart
    parsed = parse_pipeline(pipeline, installed_passes(), position.like) if pipeline else None
    return examine(position, DrawnProgram(ir, parsed), options).violation
