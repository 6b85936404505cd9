"""How a case fails, and the search for inputs on which it does."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeGuard

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from irkit.core import IRKitError, children
from irkit.debug.bisect.bisect import GuiltyStep
from irkit.debug.check.check import verdicts
from irkit.debug.check.code_check import CODE
from irkit.debug.check.options import CheckOptions
from irkit.debug.check.schedule_steps import NO_SCHEDULE, scheduled_steps
from irkit.debug.check.subject import Subject
from irkit.debug.check.verdict import WRONG
from irkit.debug.check.well_defined import runs
from irkit.debug.execution.executors import MAX_STEPS
from irkit.debug.execution.inputs import INTEGERS, InputSet, input_sets
from irkit.debug.reduce.case import FailingCase
from irkit.ir import For, PrimFunc, StepLimit, Stmt, Store, as_int, numpy_dtype
from irkit.schedule import ScheduleTrace
from irkit.transform import (
    IR,
    Apply,
    PassFailed,
    Pipeline,
    Step,
    apply_here,
    sub_pipeline,
)

MOST_KERNELS = 12
"""Kernels of a model on which a guilty pass is tried, to find a case that costs less."""


class Failure(msgspec.Struct, frozen=True):
    """How a case fails, and the pass or primitive (``sch.split``) at fault.

    ``kind`` is the status of a wrong verdict, such as ``differs`` or ``races``, or how a pass fails
    (see ``FailureKind``); ``exception`` names the exception it raised. ``text`` is a description.
    ``native`` means that native code was run: there an access out of bounds can look like other
    numbers, and can go unnoticed until a later primitive moves it.
    """

    kind: str
    name: str
    exception: str = ""
    text: str = ""
    native: bool = False

    @property
    def needs_isolation(self) -> bool:
        """Return True if reproducing the failure takes limits or a child process."""
        return self.kind in ("timeout", "memory", "crash")

    @property
    def is_of_pass(self) -> bool:
        """Return True if the pass itself fails, whatever the inputs."""
        return self.kind not in WRONG

    @property
    def is_of_code(self) -> bool:
        """Return True if code generation is at fault, and no pass."""
        return self.name == CODE

    @property
    def is_of_schedule(self) -> bool:
        """Return True if a primitive is at fault, not a pass."""
        return self.name.startswith("sch.")

    def is_like(self, other: "Failure | None") -> bool:
        """Return True if another failure is, as far as is known, of the same kind and pass."""
        if other is None or self.exception != other.exception:
            return False
        imprecise = (self.native or other.native) and not (self.is_of_pass or other.is_of_pass)
        moved = imprecise and self.is_of_schedule and other.is_of_schedule
        return (moved or self.name == other.name) and (imprecise or self.kind == other.kind)


def failure_of(
    case: FailingCase,
    *,
    native: bool | None = None,
    code: bool = False,
    max_steps: int = MAX_STEPS,
    apply: Apply = apply_here,
) -> Failure | None:
    """Run a case and return how it fails; None if it does not fail or is not a valid program.

    ``native`` and ``code`` are those of :func:`check`; ``max_steps`` limits the interpreter;
    ``apply`` runs the passes, for example in a child process.
    """
    options = CheckOptions(case.inputs, native=native, code=code, max_steps=max_steps)
    try:
        return _first_failure(case.steps(apply), options)[0]
    except IRKitError:
        return None  # The IR or the inputs are invalid, or the schedule does not fit.


def _first_failure(
    steps: Iterator[Step], options: CheckOptions
) -> tuple[Failure | None, str, list[PrimFunc]]:
    """Return the first failure, the name of the inputs that showed it, and the functions until
    then."""
    raised: list[PassFailed] = []
    seen: list[PrimFunc] = []

    def recorded() -> Iterator[Step]:
        try:
            for step in steps:
                if step.changed:
                    seen.extend(each for each in (step.before, step.after) if _is_loops(each))
                yield step
        except PassFailed as error:
            raised.append(error)
            raise

    for verdict in verdicts(recorded(), options):
        if verdict.is_wrong:
            native = verdict.how == "native code"
            failure = Failure(verdict.status, verdict.name, text=str(verdict), native=native)
            found = _of_pass(raised[0], str(verdict)) if raised else failure
            return found, verdict.inputs, seen
    return None, "", seen


def _is_loops(ir: IR) -> TypeGuard[PrimFunc]:
    return isinstance(ir, PrimFunc)


def failed_pass(case: FailingCase, apply: Apply = apply_here) -> Failure | None:
    """Run the passes of a case without running programs; return how one of the passes fails."""
    try:
        for _ in case.steps(apply):
            pass
    except PassFailed as error:
        return _of_pass(error, str(error))
    except IRKitError:
        return None
    return None


def _of_pass(error: PassFailed, text: str) -> Failure:
    inside = "" if error.__cause__ is None else type(error.__cause__).__name__
    return Failure(error.kind, error.name, inside, text)


def find_case(
    pipeline: Pipeline,
    func: PrimFunc,
    inputs: Mapping[str, ArrayLike] | None = None,
    *,
    dims: Mapping[str, int] | None = None,
    seed: int = 0,
    samples: int = 4,
    native: bool | None = None,
    code: bool = False,
    max_steps: int = MAX_STEPS,
    apply: Apply = apply_here,
    schedule: ScheduleTrace = NO_SCHEDULE,
) -> tuple[FailingCase, Failure] | None:
    """Search for inputs on which a pipeline, or a schedule run before it, breaks a function.

    The other options are those of :func:`check`. Returns None if every step keeps the meaning.
    Raises: IRKitError if the function itself cannot run.
    """
    options = CheckOptions(
        inputs or {}, dims or {}, seed, samples, native, code, max_steps=max_steps
    )
    steps = scheduled_steps(func, schedule, pipeline, apply=apply)
    failure, seen_on, seen = _first_failure(steps, options)
    if failure is None:
        return None
    if failure.is_of_pass:
        return FailingCase(func, pipeline, _any_inputs(func, options), schedule), failure
    # Start with the inputs that failed. As the only set they can have other error bounds.
    subject = Subject(func, options)
    for before, after in zip(seen[::2], seen[1::2], strict=True):
        subject.consider(before, after)
    tried = [*subject.inputs, *subject.assertions.inputs]
    for chosen in sorted(tried, key=lambda each: each.name != seen_on):
        case = FailingCase(func, pipeline, _named(func, chosen), schedule)
        again = failure_of(
            case, native=native, code=failure.is_of_code, max_steps=max_steps, apply=apply
        )
        if again is not None:
            return case, again
    raise IRKitError(
        f"cannot reduce {func.name!r}: its failure is not reproducible on the same inputs",
        hint=failure.text,
    )


def _any_inputs(func: PrimFunc, options: CheckOptions) -> dict[str, Any]:
    """Make inputs on which a function runs, or takes too long."""
    for integers in INTEGERS:
        for made in input_sets(
            func,
            options.inputs,
            dims=options.dims,
            seed=options.seed,
            samples=options.samples,
            integers=integers,
        ):
            try:
                if runs(func, made.args, max_steps=options.max_steps):
                    return _named(func, made)
            except StepLimit:
                return _named(func, made)
    raise IRKitError(
        f"cannot reduce {func.name!r}: it fails even before any pass, on all generated inputs",
        hint="Pass inputs on which it runs.",
        span=func.span,
    )


def _named(func: PrimFunc, inputs: InputSet) -> dict[str, Any]:
    return {
        param.name: np.asarray(value, numpy_dtype(param.dtype))
        for param, value in zip(func.params, inputs.args, strict=True)
    }


def _cheaper(kernels: Sequence[PrimFunc], than: PrimFunc) -> list[PrimFunc]:
    """Return kernels that take fewer steps than a function, the cheapest first."""
    costs = {func: _steps(func.body) for func in kernels}
    most = _steps(than.body)
    return sorted((f for f in kernels if costs[f] < most), key=costs.__getitem__)[:MOST_KERNELS]


def _steps(stmt: Stmt) -> float:
    """Return about how many stores run; loops of unknown length count as one iteration."""
    if isinstance(stmt, Store):
        return 1.0
    below = sum([_steps(child) for child in children(stmt) if isinstance(child, Stmt)])
    if not isinstance(stmt, For):
        return below
    begin, end = as_int(stmt.begin), as_int(stmt.end)
    return below * (max(0, end - begin) if begin is not None and end is not None else 1)


def case_of_guilty_step(
    found: GuiltyStep, options: Mapping[str, Any], apply: Apply = apply_here
) -> tuple[FailingCase, Failure]:
    """Return a case of the guilty pass alone: on the cheapest kernel of the model that it breaks,
    on the function before all passes if it breaks that already, or else on the one that it was
    given. ``options`` are those of :func:`find_case`.

    Raises: IRKitError if the step is not about one loop function, or does not fail again.
    """
    before, p, pipeline = found.before, found.p, found.pipeline
    if found.verdict.in_code and pipeline is not None and isinstance(before, PrimFunc):
        case = find_case(pipeline, found.original or before, **options, apply=apply)
        if case is not None:
            return case
    if not isinstance(before, PrimFunc) or p is None or pipeline is None:
        raise IRKitError("only a pass over one loop function can be reduced alone")
    placed = [(found.verdict.phase, p)]
    cheaper = _cheaper(found.kernels, found.original or before)
    for func in dict.fromkeys((*cheaper, found.original or before, before)):
        with suppress(IRKitError):  # The pass can need what earlier ones made.
            alone = sub_pipeline(pipeline, placed, func)
            if func in cheaper and not any(step.changed for step in alone.steps(func, apply=apply)):
                continue
            case = find_case(alone, func, **options, apply=apply)
            if case is not None:
                return case
    raise IRKitError(
        f"cannot reduce {before.name!r}: pass {p.name!r} alone does not fail on it again",
        hint=str(found.verdict),
    )
