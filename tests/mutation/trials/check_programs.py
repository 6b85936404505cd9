"""Lower programs with the passes of this process, and check every step.

The passes are those that this process imported: the fork server changes one of them in a child
process before it calls :func:`try_programs`.
"""

import hashlib
import signal
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from time import perf_counter, process_time
from typing import Any

import msgspec
import numpy as np

from irkit.core import IRModule, Recorder
from irkit.debug import CallOutcome, InterpreterExecutor, bisect, check, identical, input_sets
from irkit.ir import PrimFunc, StepLimit
from irkit.transform import Apply, Attempt, PassFailed, PassHalted, Step, apply_here
from tests.mutation.trials.graph_steps import check_graph_steps
from tests.mutation.trials.programs import TrialProgram, read_program, steps_of

PASS_SECONDS = 2.0
MORE_SAMPLES = 12
Prints = dict[str, tuple[str, ...]]
"""Digests of what each step of each program made."""


class Bisection(msgspec.Struct, frozen=True):
    """Result of a bisection: the pass, and the guilty rewrites in it by number, of all that it
    makes, each with its rule. If there are none, ``note`` says why. Units: ``seconds`` of processor
    time."""

    named: str = ""
    numbers: tuple[int, ...] = ()
    of: int = 0
    rules: tuple[str, ...] = ()
    note: str = ""
    seconds: float = 0.0

    def __str__(self) -> str:
        if not self.numbers:
            return self.note
        counted = " and ".join(str(number + 1) for number in self.numbers[:3])
        return f"{counted} of {self.of}: {self.rules[0]}"


class TrialResult(msgspec.Struct, frozen=True):
    """Result of checking programs with a changed pass.

    ``by`` is what found the fault: verifier, fact, exception, timeout, memory, crash, class,
    signature, interpreter (fails or never ends), verdict (other numbers), changed (a pass that
    falsely reports a change); it is empty if nothing did. ``named`` is the pass, and ``case`` the
    program. ``differs`` lists programs whose lowering has changed, ``missed`` one of them that
    computes something else on many more inputs. ``bisected`` is present if requested. Units:
    ``seconds``.
    """

    by: str = ""
    named: str = ""
    case: str = ""
    message: str = ""
    differs: tuple[str, ...] = ()
    missed: str = ""
    seconds: float = 0.0
    bisected: Bisection | None = None

    @property
    def found(self) -> bool:
        return bool(self.by)


def prints_of(cases: Iterable[TrialProgram]) -> Prints:
    """Lower programs and keep a digest of every step, to compare with."""
    return {case.name: tuple(_print(step) for step in steps_of(case, apply_here)) for case in cases}


def try_programs(
    cases: Sequence[TrialProgram],
    before: Prints,
    on_pass: Callable[[str], object] = lambda name: None,
    *,
    judge: bool = True,
    bisected: bool = False,
) -> TrialResult:
    """Lower and check programs until a fault is found; ``on_pass`` is called with the name of each
    pass before it runs, and with an empty name after it.

    A program whose steps all equal ``before`` needs no check. ``judge`` compares again, on more
    inputs, what the checks accept; ``bisected`` bisects what they find.
    """
    started = perf_counter()
    differs: list[str] = []
    kept: list[tuple[TrialProgram, list[Step]]] = []
    for case in cases:
        found, steps = _check_program(case, before.get(case.name, ()), on_pass)
        if found is not None:
            return msgspec.structs.replace(
                found,
                case=case.name,
                differs=tuple(differs),
                seconds=perf_counter() - started,
                bisected=_bisected(case, on_pass) if bisected else None,
            )
        if steps:
            differs.append(case.name)
            kept.append((case, steps))
    unsure = kept if judge else []
    missed = next((case.name for case, steps in unsure if _is_wrong(case, steps)), "")
    return TrialResult(differs=tuple(differs), missed=missed, seconds=perf_counter() - started)


def _check_program(
    case: TrialProgram, before: tuple[str, ...], on_pass: Callable[[str], object]
) -> tuple[TrialResult | None, list[Step]]:
    """Return what is wrong, and otherwise the steps if they have changed."""

    apply = _apply_within_limit(on_pass)
    steps: list[Step] = []
    failure: PassFailed | None = None
    try:
        for step in steps_of(case, apply):
            steps.append(step)  # noqa: PERF402 -- those before a failure are wanted
    except PassFailed as error:
        failure = error
    if failure is None and tuple(_print(step) for step in steps) == before:
        return None, []
    idle = next((step for step in steps if _is_said_to_change(step)), None)
    if idle is not None:
        return TrialResult("changed", idle.name, message="it returned a copy of its input"), []
    # What went wrong before a pass failed names the pass.
    wrong = _checked(case, steps)
    if wrong is None and failure is not None:
        by = failure.kind if failure.kind != "problems" else _who(failure)
        wrong = TrialResult(by, failure.name, message=failure.what + failure.hint)
    return wrong, steps


def _apply_within_limit(on_pass: Callable[[str], object]) -> Apply:
    """Return a function that runs a pass within a time limit, and reports its name before."""

    def apply(attempt: Attempt, recorder: Recorder) -> object:
        on_pass(attempt.p.name)
        with _limited(PASS_SECONDS):
            result = apply_here(attempt, recorder)
        on_pass("")
        return result

    return apply


def _bisected(case: TrialProgram, on_pass: Callable[[str], object]) -> Bisection:
    """Find the guilty pass again, and the rewrites in it."""
    started = process_time()
    ir, pipeline = read_program(case)
    culprit = bisect(pipeline, ir, native=False, apply=_apply_within_limit(on_pass))
    seconds = process_time() - started
    if culprit is None:
        return Bisection(note="it finds every step to keep the meaning", seconds=seconds)
    return Bisection(
        culprit.verdict.name,
        tuple(each.number for each in culprit.rewrites),
        culprit.of,
        tuple(each.rule for each in culprit.rewrites),
        culprit.note,
        seconds,
    )


def _who(failure: PassFailed) -> str:
    text = str(failure.problems[0]) if failure.problems else ""
    attempt = failure.attempt
    facts = [fact.name for fact in attempt.facts_after] if attempt is not None else []
    return "fact" if any(name in text for name in facts) else "verifier"


def _checked(case: TrialProgram, steps: list[Step]) -> TrialResult | None:
    if case.kind == "graph":
        name, why = check_graph_steps(steps)
        return TrialResult("verdict", name, message=why) if name else None
    for verdict in check(steps, native=False):
        if verdict.status == "differs":
            return TrialResult("verdict", verdict.name, message=str(verdict))
        if verdict.is_wrong:
            return TrialResult("interpreter", verdict.name, message=str(verdict))
    return None


def _is_wrong(case: TrialProgram, steps: list[Step]) -> bool:
    """Return True if lowering changed the meaning, on many more inputs and sizes."""
    if case.kind == "graph":
        return any(check_graph_steps(steps, seed)[0] for seed in range(1, 6))
    first, last = steps[0].before, steps[-1].after
    if isinstance(first, IRModule) or not isinstance(first, PrimFunc):
        return False
    assert isinstance(last, PrimFunc)
    engine = InterpreterExecutor(4_000_000)
    for integers in ((-4, 9), (0, 3), (-40, 90)):
        for inputs in input_sets(first, seed=1234, samples=MORE_SAMPLES, integers=integers):
            if inputs.kind != "whole numbers":
                continue
            expected, found = (_outcome(engine, func, inputs.copied()) for func in (first, last))
            if not expected.error and (found.error or not _same(expected, found)):
                return True
    return False


def _outcome(engine: InterpreterExecutor, func: PrimFunc, args: list[Any]) -> CallOutcome:
    try:
        return engine.run(func, args)
    except StepLimit as limit:
        return CallOutcome(error=str(limit))


def _same(a: CallOutcome, b: CallOutcome) -> bool:
    for x, y in zip(a.arrays, b.arrays, strict=True):
        if not identical(x, y) and not np.allclose(
            x.astype(np.float64), y.astype(np.float64), 1e-3, 1e-3, equal_nan=True
        ):
            return False
    return True


def _is_said_to_change(step: Step) -> bool:
    if not step.changed:
        return False
    before, after = step.scripts()
    return before == after


def _print(step: Step) -> str:
    if not step.changed:
        return f"{step.name} -"
    text = step.scripts()[1]
    return f"{step.name} {hashlib.blake2b(text.encode(), digest_size=8).hexdigest()}"


@contextmanager
def _limited(seconds: float) -> Generator[None]:
    """Stop a pass that runs too long."""

    def stop(*_: object) -> None:
        raise PassHalted("timeout", f"did not end within {seconds:g} s")

    old = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
